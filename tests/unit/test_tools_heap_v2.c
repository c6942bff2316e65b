/* tools/heap_v2: what is read of jemalloc's dumps, and what is refused, with which words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/profile/heap_v2.h"
#include "tools/profile/profile_audit.h"
#include "tests/unit/cmocka_first.h"

#define MAPS                                                                                                 \
    "\nMAPPED_LIBRARIES:\n"                                                                                  \
    "00400000-00401000 r--p 00000000 08:01 11   /bin/nothing-here\n"                                         \
    "00401000-00405000 r-xp 00001000 08:01 11   /bin/nothing-here\n"                                         \
    "01000000-01100000 rw-p 00000000 00:00 0    [heap]\n"                                                    \
    "7f0000-7f8000 r-xp 00002000 08:01 12   /lib/no such (deleted) (deleted)\n"                              \
    "7fa000-7fb000 r-xp 00000000 08:01 13   /lib/libjemalloc.so.2\n"                                         \
    "7fb000-7fc000 r-xp 00000000 08:01 14   /opt/libheapprof.so.0\n"                                         \
    "7fc000-7fd000 r-xp 00000000 00:00 0    [vdso]\n"

static const char usual[] = "heap_v2/4096\n"
                            "  t*: 3: 300 [30: 3000]\n"
                            "  t0: 3: 300 [30: 3000] the main thread\n"
                            "@ 0x7fb010 0x7fa020 0x7f0101 0x401201\n"
                            "  t*: 10: 5120 [20: 20480]\n"
                            "  t0: 9: 4608 [19: 20000]\n"
                            "  t1: 1: 512 [1: 480]\n"
                            "@ 0x401201\n"
                            "  t*: 0: 0 [1: 1048576]\n"
                            "  t7: 0: 0 [1: 1048576]\n"
                            "@ 0x7fa010 0x7fa020\n"
                            "  t*: 1: 64 [1: 64]\n"
                            "@ 0x999999 0x401201\n"
                            "  t*: 1: 64 [1: 64]\n" MAPS;

static struct hp_profile *parse(const char *text, size_t size, struct hp_error *error) {
    /* A copy of the exact size: a sanitizer then sees any read beyond it. */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    *error = (struct hp_error){""};
    struct hp_profile *profile = hp_heap_v2_parse(copy, size, error);
    free(copy);
    assert_true((profile == NULL) == (error->text[0] != '\0'));
    return profile;
}

static struct hp_profile *must_parse(const char *text) {
    struct hp_error error;
    struct hp_profile *profile = parse(text, strlen(text), &error);
    assert_string_equal(error.text, "");
    return profile;
}

/* 1 / (1 - exp(-512 / 4096)) and the like, from Python. */
static void scales_by_the_mean_size(void **state) {
    (void)state;
    assert_true(fabs(hp_heap_v2_scale(10, 5120, 4096) - 8.510414) < 1e-5);
    assert_true(fabs(hp_heap_v2_scale(20, 20480, 4096) - 4.520812) < 1e-5);
    assert_true(fabs(hp_heap_v2_scale(1, 1048576, 4096) - 1) < 1e-9);
    assert_true(fabs(hp_heap_v2_scale(1, 1, 524288) / 524288.5 - 1) < 1e-6);
    assert_true(hp_heap_v2_scale(0, 5, 4096) == 1);
    assert_true(hp_heap_v2_scale(5, 0, 4096) == 1);
    assert_true(hp_heap_v2_scale(5, 5, 1) == 1);
}

static void reads_stacks_and_counters(void **state) {
    (void)state;
    struct hp_profile *profile = must_parse(usual);
    assert_int_equal(profile->n_sample_types, 4);
    assert_string_equal(profile->sample_types[0].type, "alloc_objects");
    assert_string_equal(profile->sample_types[3].unit, "bytes");
    assert_string_equal(profile->default_sample_type, "inuse_space");
    assert_int_equal(profile->period, 4096);
    assert_int_equal(profile->n_samples, 4);
    static const int64_t expected[2][4] = {{90, 92586, 85, 43573}, {1, 1048576, 0, 0}};
    for (size_t i = 0; i < 2; i++)
        for (size_t type = 0; type < 4; type++)
            assert_int_equal(profile->samples[i].values[type], expected[i][type]);
    assert_int_equal(profile->samples[2].values[2], 65); /* 64.501 */
    hp_profile_free(profile);
}

static void finds_the_code_of_addresses(void **state) {
    (void)state;
    struct hp_profile *profile = must_parse(usual);
    assert_int_equal(profile->n_mappings, 4);
    const struct hp_sample *sample = &profile->samples[0];
    assert_int_equal(sample->n_locations, 2); /* jemalloc's own two are gone */
    assert_int_equal(sample->locations[0]->address, 0x7f0100);
    assert_string_equal(sample->locations[0]->mapping->filename, "/lib/no such (deleted)");
    assert_int_equal(sample->locations[0]->mapping->offset, 0x2000);
    assert_string_equal(sample->locations[1]->mapping->filename, "/bin/nothing-here");
    assert_string_equal(sample->locations[1]->mapping->build_id, "");
    assert_ptr_equal(sample->locations[1], profile->samples[1].locations[0]);
    assert_int_equal(profile->samples[2].n_locations, 1); /* or nothing would be left */
    assert_int_equal(profile->samples[2].locations[0]->address, 0x7fa01f);
    assert_null(profile->samples[3].locations[0]->mapping);
    hp_profile_free(profile);
}

static void needs_no_totals_of_all_time(void **state) {
    (void)state;
    struct hp_profile *profile = must_parse("heap_v2/1\r\n"
                                            "  t*: 1: 2 [0: 0]\r\n"
                                            "@ 0x401201\r\n"
                                            "  t*: 1: 2 [0: 0]\r\n" MAPS);
    struct hp_audit audit;
    struct hp_error error;
    assert_int_equal(profile->n_sample_types, 2);
    assert_string_equal(profile->sample_types[0].type, "inuse_objects");
    assert_int_equal(profile->samples[0].values[1], 2);
    assert_true(hp_profile_audit(profile, &audit, &error));
    hp_profile_free(profile);
}

/* The build id of a file that is there; this test's own. */
static void reads_build_ids(void **state) {
    (void)state;
    char text[8192], path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = '\0';
    snprintf(text, sizeof text,
             "heap_v2/1\n@ 0x401201\n  t*: 1: 2 [0: 0]\nMAPPED_LIBRARIES:\n"
             "401000-402000 r-xp 00001000 08:01 1 %s\n",
             path);
    struct hp_profile *profile = must_parse(text);
    assert_string_equal(profile->mappings[0].filename, path);
    assert_true(strlen(profile->mappings[0].build_id) == 40 || profile->mappings[0].build_id[0] == '\0');
    hp_profile_free(profile);
}

static void holds_values_at_the_end(void **state) {
    (void)state;
    struct hp_profile *profile = must_parse("heap_v2/9223372036854775807\n"
                                            "@ 0x401201\n"
                                            "  t*: 9223372036854775807: 9223372036854775807 [1: 1]\n" MAPS);
    assert_int_equal(profile->samples[0].values[2], INT64_MAX);
    assert_int_equal(profile->samples[0].values[3], INT64_MAX);
    hp_profile_free(profile);
}

static void refuses_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"heap_v1/4096\n", "is no heap_v2 dump of jemalloc"},
        {"heap_v2/\n", "has no sample period in line 1"},
        {"heap_v2/0\n", "has no sample period in line 1"},
        {"heap_v2/12x\n", "has no sample period in line 1"},
        {"heap_v2/9223372036854775808\n", "has no sample period in line 1"},
        {"heap_v2/1\n  t*: 1: 2 [0: 0]\n", "is cut short: it has no MAPPED_LIBRARIES"},
        {"heap_v2/1\nMAPPED_LIBRARIES:\n401000-", "is cut short: its last line has no end"},
        {"heap_v2/1\nhello\n", "has what is no part of a heap_v2 dump in line 2"},
        {"heap_v2/1\n@ 0x1 0\n", "has a broken stack in line 2"},
        {"heap_v2/1\n@ 0x0\n", "has a broken stack in line 2"},
        {"heap_v2/1\n@ 0x10000000000000000\n", "has a broken stack in line 2"},
        {"heap_v2/1\n@0x1\n", "has a broken stack in line 2"},
        {"heap_v2/1\n  t*: 1: [0: 0]\n", "has broken counters in line 2"},
        {"heap_v2/1\n  t*: -1: 1 [0: 0]\n", "has broken counters in line 2"},
        {"heap_v2/1\n  tx: 1: 1 [0: 0]\n", "has broken counters in line 2"},
        {"heap_v2/1\n  t*: 1: 9223372036854775808 [0: 0]\n", "has broken counters in line 2"},
        {"heap_v2/1\nMAPPED_LIBRARIES:\nx\n", "has a broken mapping in line 3"},
        {"heap_v2/1\nMAPPED_LIBRARIES:\n2-1 r-xp 0 0 0 /x\n", "has a broken mapping in line 3"},
        {"heap_v2/1\nMAPPED_LIBRARIES:\n1-2 r-xp\n", "has a broken mapping in line 3"},
        {"heap_v2/1\nMAPPED_LIBRARIES:\n1-2 r-xp 0\n", "has a broken mapping in line 3"},
        {"heap_v2/1\nMAPPED_LIBRARIES:\n1-2 r-xp 0 0 0 /\xff\n",
         "has a file name that is not UTF-8 in line 3"},
        {"heap_v2/1\nMAPPED_LIBRARIES:\n4-8 r-xp 0 0 0 /x\n7-9 r-xp 0 0 0 /y\n",
         "has a mapping out of order in line 4"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_error error;
        struct hp_profile *profile = parse(rows[i].text, strlen(rows[i].text), &error);
        if (profile != NULL || strstr(error.text, rows[i].expected) == NULL)
            fail_msg("row %zu: expected \"%s\", got \"%s\"", i, rows[i].expected, error.text);
    }
}

static void refuses_a_stack_too_deep(void **state) {
    (void)state;
    char *text = calloc(1, 64 + 4097 * 4);
    struct hp_error error;
    assert_non_null(text);
    strcpy(text, "heap_v2/1\n@");
    for (size_t i = 0; i < 4097; i++)
        strcpy(text + 11 + 4 * i, " 0x1");
    strcat(text, "\n");
    assert_null(parse(text, strlen(text), &error));
    assert_string_equal(error.text, "has more than 4096 frames in line 2");
    free(text);
}

/* Cut anywhere it is an error, or, between two mappings, a dump with fewer of them. */
static void survives_every_cut_and_flip(void **state) {
    (void)state;
    char text[sizeof usual];
    struct hp_error error;
    size_t whole = 0;
    for (size_t size = 0; size < sizeof usual; size++) {
        struct hp_profile *profile = parse(usual, size, &error);
        whole += profile != NULL;
        hp_profile_free(profile);
    }
    assert_int_equal(whole, 8); /* behind the section's head and each of its lines */
    for (size_t at = 0; at < sizeof usual - 1; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(text, usual, sizeof usual);
            text[at] = (char)(text[at] ^ (1 << bit));
            hp_profile_free(parse(text, sizeof usual - 1, &error));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_by_the_mean_size),
        cmocka_unit_test(reads_stacks_and_counters),
        cmocka_unit_test(finds_the_code_of_addresses),
        cmocka_unit_test(needs_no_totals_of_all_time),
        cmocka_unit_test(reads_build_ids),
        cmocka_unit_test(holds_values_at_the_end),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(refuses_a_stack_too_deep),
        cmocka_unit_test(survives_every_cut_and_flip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
