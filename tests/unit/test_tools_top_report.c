/* tools/top_report: what `heapprof top` prints, at 80 columns, without a limit, and of a hostile file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tools/base/text.h"
#include "tools/report/top_json.h"
#include "tools/report/top_report.h"
#include "tests/unit/cmocka_first.h"

static struct builder builder;
static const char long_name[] = "shop::inventory::Shelf<std::string, 32>::restock(unsigned long, bool)";

enum form { TEXT, CHANGE, JSON };

/* The report of the builder's inuse_space; malloc'ed. */
static char *report_as(enum form form, size_t width, size_t most_rows, bool exact) {
    static uint8_t packed[BUILDER_BYTES];
    struct hp_error error = {""};
    char *text = NULL;
    size_t size = 0;
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, &error);
    assert_string_equal(error.text, "");
    size_t n_stacks = profile->n_samples;
    if (form == JSON)
        profile->n_samples = 2; /* as a filter does */
    struct hp_profile_table table = hp_profile_table_new(profile, 3, false);
    hp_profile_table_sort(&table, HP_TABLE_BY_FLAT);
    const struct hp_top_report report = {.profile = profile,
                                         .table = &table,
                                         .file = "a\"b\xff.pb.gz",
                                         .base = form == CHANGE ? "old\033.pb.gz" : NULL,
                                         .n_stacks = n_stacks,
                                         .type = 3,
                                         .most_rows = most_rows,
                                         .width = width,
                                         .exact = exact};
    FILE *stream = open_memstream(&text, &size);
    if (form == JSON) {
        hp_top_json(stream, &report);
    } else {
        hp_top_report_header(stream, &report);
        hp_top_report_rows(stream, &report);
    }
    fclose(stream);
    hp_profile_table_free(&table);
    hp_profile_free(profile);
    return text;
}

static char *report_text(size_t width, size_t most_rows, bool exact) {
    return report_as(TEXT, width, most_rows, exact);
}

static void prints_all_of_it(void **state) {
    (void)state;
    builder_init(&builder);
    builder_comment(&builder, "reason: limit95");
    builder_comment(&builder, "limit source: cgroup v1 /sys/fs/cgroup/memory/x");
    builder_comment(&builder, "samples lost: 3");
    builder_comment(&builder, "stacks truncated: 0");
    char *text = report_text(80, 0, false);
    assert_string_equal(text, "edge_service, limit95, 2023-11-14 22:13:20 UTC\n"
                              "usage 122.0 MiB of 128.0 MiB (95.3%)\n"
                              "limit from cgroup v1 /sys/fs/cgroup/memory/x\n"
                              "inuse_space: 250 B in 3 stacks, a sample every 1.0 KiB\n"
                              "3 samples were lost: the numbers are too low\n"
                              "\n"
                              "      flat  flat%         cum   cum%  function        at\n"
                              "     150 B  60.0%       150 B  60.0%  libx.so+0x1100\n"
                              "     100 B  40.0%       100 B  40.0%  grab            app.c:10\n"
                              "       0 B   0.0%       250 B 100.0%  main            main.c:30\n"
                              "       0 B   0.0%       100 B  40.0%  app::add(int)   app.c:20\n");
    free(text);
}

static void says_that_it_is_a_sum(void **state) {
    (void)state;
    builder_init(&builder);
    builder_comment(&builder, "merged: 3 profiles, THEN to NOW");
    char *text = report_text(80, 0, false);
    assert_non_null(strstr(text, "edge_service, 3 profiles, THEN to NOW\n"));
    free(text);
}

static void leaves_rows_out(void **state) {
    (void)state;
    builder_init(&builder);
    char *text = report_text(80, 1, true);
    assert_non_null(strstr(text, "inuse_space: 250 bytes in 3 stacks"));
    assert_non_null(strstr(text, "       150  60.0%         150  60.0%  libx.so+0x1100\n"
                                 "... 3 more functions (-n 0 shows all)\n"));
    free(text);
}

static size_t widest_line(const char *text) {
    size_t widest = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        widest = hp_text_width(line) > widest ? hp_text_width(line) : widest;
        free(line);
        text += length + (text[length] == '\n');
    }
    return widest;
}

static void shortens_only_for_a_terminal(void **state) {
    (void)state;
    builder_init(&builder);
    builder.functions[0].name = builder_string(&builder, long_name);
    builder.functions[0].filename =
        builder_string(&builder, "/a/very/deep/folder/of_a_file_with_a_long_name.cpp");
    char *text = report_text(80, 0, false);
    assert_true(widest_line(text) <= 80);
    assert_non_null(strstr(text, "  shop::inven...>::restock  of_a_fi...cpp:10\n"));
    free(text);
    text = report_text(0, 0, false);
    assert_non_null(strstr(text, long_name));
    assert_non_null(strstr(text, "  /a/very/deep/folder/of_a_file_with_a_long_name.cpp:10\n"));
    free(text);
}

/* A long name may take the columns that its own short place leaves. */
static void lets_a_long_name_use_what_is_left(void **state) {
    (void)state;
    builder_init(&builder);
    builder.functions[0].name = builder_string(&builder, "app::inventory::restock(int)");
    builder.functions[0].filename = builder_string(&builder, "/src/a.c");
    builder.functions[2].filename = builder_string(&builder, "/src/a_file_with_a_long_name.c");
    char *text = report_text(80, 0, false);
    assert_true(widest_line(text) <= 80);
    assert_non_null(strstr(text, "  app::inventory::restock(int)  a.c:10\n"));
    free(text);
}

static void sends_no_control_characters(void **state) {
    (void)state;
    builder_init(&builder);
    builder.functions[0].name = builder_string(&builder, "\033[2J\nfake row");
    builder.functions[2].filename = builder_string(&builder, "\xc2\x9b"
                                                             "31m");
    builder_comment(&builder, "reason: \033]0;title\007");
    for (size_t width = 0; width <= 80; width += 40) {
        char *text = report_text(width, 0, false);
        for (const char *at = text; *at != '\0'; at++)
            assert_true(*at == '\n' || (unsigned char)*at >= ' ');
        assert_null(strstr(text, "\xc2\x9b"));
        assert_null(strstr(text, "\nfake"));
        free(text);
    }
}

static void needs_no_comments(void **state) {
    (void)state;
    builder_init(&builder);
    builder.profile.n_comment = 0;
    builder.profile.time_nanos = 0;
    builder.profile.period = 0;
    builder.profile.n_sample = 0;
    char *text = report_text(80, 0, false);
    assert_string_equal(text, "inuse_space: 0 B in 0 stacks\n\n"
                              "      flat  flat%         cum   cum%  function  at\n");
    free(text);
}

static void says_what_changed(void **state) {
    (void)state;
    builder_init(&builder);
    builder.values[0][3] = -2048;
    char *text = report_as(CHANGE, 80, 1, false);
    assert_non_null(strstr(text,
                           "\ninuse_space: 150 B more, 2.0 KiB less in 3 stacks, a sample every 1.0 KiB\n"
                           "compared with old\\x1b.pb.gz; % of the 2.1 KiB that changed\n"));
    assert_non_null(strstr(text, "  -2.0 KiB -93.2%    -2.0 KiB -93.2%  grab"));
    free(text);
}

/* Read back by another parser: the integration test compares all of it with pprof's table. */
static void prints_json(void **state) {
    (void)state;
    builder_init(&builder);
    builder.functions[0].name = builder_string(&builder, "\"q\\\n<x>");
    char *text = report_as(JSON, 80, 3, false);
    static const char *const expected[] = {
        "\"version\": 1,",
        "\"profile\": \"a\\\"b\\\\xff.pb.gz\",",
        "\"base\": null,",
        "\"type\": \"inuse_space\",",
        "\"unit\": \"bytes\",",
        "\"total\": 250,",
        "\"shown\": 250,",
        "\"stacks\": 3,",
        "\"stacks_shown\": 2,",
        "\"period\": 1024,",
        "\"time_nanos\": 1700000000000000000,",
        "\"duration_nanos\": 0,",
        "\"usage: 127926272\",",
        "\"function\": \"libx.so+0x1100\",",
        "\"file\": null,",
        "\"line\": null,",
        "\"flat\": 150,",
        "\"flat_percent\": 60.0,",
        "\"function\": \"\\\"q\\\\\\n<x>\",",
        "\"file\": \"/src/app.c\",",
        "\"line\": 10,",
        "\"cum\": 100,",
        "\"cum_percent\": 40.0",
        "\"flat\": 0,",
        "\"flat_percent\": 0.0,",
        "\"cum\": 250,",
        "\"cum_percent\": 100.0",
        "\"rows_left_out\": 1\n",
    };
    const char *at = text;
    for (size_t i = 0; i < ROWS(expected); i++) {
        at = strstr(at, expected[i]);
        if (at == NULL)
            fail_msg("no %s, in this order, in %s", expected[i], text);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_all_of_it),
        cmocka_unit_test(says_that_it_is_a_sum),
        cmocka_unit_test(leaves_rows_out),
        cmocka_unit_test(shortens_only_for_a_terminal),
        cmocka_unit_test(lets_a_long_name_use_what_is_left),
        cmocka_unit_test(sends_no_control_characters),
        cmocka_unit_test(needs_no_comments),
        cmocka_unit_test(says_what_changed),
        cmocka_unit_test(prints_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
