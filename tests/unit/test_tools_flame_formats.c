/* tools/flame: flame_formats, flame_json; tools/base/json_string: what is written, to the letter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flame/flame_formats.h"
#include "tools/flame/flame_json.h"
#include "tools/base/json_string.h"
#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

static struct builder builder;

static void add(struct hp_flame_tree *tree, enum hp_flame_side side) {
    static uint8_t packed[BUILDER_BYTES];
    struct hp_error error = {""};
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, &error);
    assert_string_equal(error.text, "");
    assert_true(hp_flame_tree_add(tree, profile, side, &error));
    hp_profile_free(profile);
}

enum format { FOLDED, SPEEDSCOPE, JSON };

/* malloc'ed */
static char *text_of(const struct hp_flame_tree *tree, enum format format, size_t type) {
    static const char *const files[] = {"a.pb.gz"}, *const comments[] = {"service: </script>"};
    const struct hp_flame_facts facts = {.files = files,
                                         .n_files = 1,
                                         .base = tree->has_before ? "b.pb.gz" : NULL,
                                         .comments = comments,
                                         .n_comments = 1,
                                         .time_nanos = 1700000000123456789,
                                         .period = 1024,
                                         .period_unit = "bytes",
                                         .type = type};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (format == FOLDED)
        hp_flame_write_folded(stream, tree, type);
    else if (format == SPEEDSCOPE)
        hp_flame_write_speedscope(stream, tree, type, "a.pb.gz");
    else
        hp_flame_json_write(stream, tree, &facts, 100);
    fclose(stream);
    return text;
}

static void folds_stacks(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    char *text = text_of(tree, FOLDED, 3);
    assert_string_equal(text, "main;app::add(int);grab 100\n"
                              "main;libx.so+0x1100 150\n");
    free(text);
    text = text_of(tree, FOLDED, 0);
    assert_string_equal(text, "main;app::add(int);grab 1\n"
                              "main;libx.so+0x1100 2\n"
                              "[truncated];main;main 1\n");
    free(text);
    hp_flame_tree_free(tree);
}

static void folds_a_comparison(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    builder.values[0][3] = 0;
    builder.values[2][3] = 5;
    add(tree, HP_FLAME_BEFORE);
    char *text = text_of(tree, FOLDED, 3);
    assert_string_equal(text, "main;app::add(int);grab 0 100\n"
                              "main;libx.so+0x1100 150 150\n"
                              "[truncated];main;main 5 0\n");
    free(text);
    hp_flame_tree_free(tree);
}

/* Neither a new stack nor a new line can be faked. */
static void folded_names_keep_the_format(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    builder.functions[0].name = builder_string(&builder, "a;b c 7\nmain;x 9\x1b[2J");
    add(tree, HP_FLAME_NOW);
    char *text = text_of(tree, FOLDED, 3);
    assert_string_equal(text, "main;app::add(int);a:b c 7\\x0amain:x 9\\x1b[2J 100\n"
                              "main;libx.so+0x1100 150\n");
    free(text);
    hp_flame_tree_free(tree);
}

static void writes_speedscope(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    char *text = text_of(tree, SPEEDSCOPE, 3);
    assert_non_null(strstr(text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"));
    assert_non_null(strstr(text, "\"activeProfileIndex\":3,\n"));
    assert_non_null(strstr(text, "{\"name\":\"grab\",\"file\":\"/src/app.c\",\"line\":10}"));
    assert_non_null(strstr(text, "{\"name\":\"libx.so+0x1100\"}"));
    const char *last = strstr(text, "\"name\":\"inuse_space\"");
    assert_non_null(last);
    assert_non_null(strstr(last, "\"unit\":\"bytes\""));
    assert_non_null(strstr(last, "\"weights\":[100,150],\n\"startValue\":0,\"endValue\":250}]}\n"));
    assert_non_null(strstr(text, "\"name\":\"alloc_objects\",\"unit\":\"none\""));
    free(text);
    hp_flame_tree_free(tree);
}

static void writes_the_page_s_json(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    char *text = text_of(tree, JSON, 3);
    assert_non_null(strstr(text, "\"types\":[[\"alloc_objects\",\"count\"],[\"alloc_space\",\"bytes\"],"
                                 "[\"inuse_objects\",\"count\"],[\"inuse_space\",\"bytes\"]],\"shown\":3,"));
    assert_non_null(
        strstr(text, "\"comments\":[\"service: \\u003C/script\\u003E\"],\"time\":1700000000123,"));
    assert_non_null(strstr(text, "\"nodes\":{\"parent\":[0,0,1,2,1,0,5,6],\"function\":["));
    assert_non_null(strstr(text, "\"self\":[[0,0,0,1,2,0,0,1],[0,0,0,100,300,0,0,50],[0,0,0,1,1,0,0,0],"
                                 "[0,0,0,100,150,0,0,0]]},"));
    assert_non_null(strstr(text, "\"nodesLeftOut\":0,\"functionsLeftOut\":0}"));
    assert_null(strstr(text, "Before"));
    assert_null(strchr(text, '<'));
    free(text);
    add(tree, HP_FLAME_BEFORE);
    text = text_of(tree, JSON, 3);
    assert_non_null(strstr(text, "\"base\":\"b.pb.gz\""));
    assert_non_null(strstr(text, "\"selfBefore\":[["));
    assert_non_null(strstr(text, "\"totalBefore\":[["));
    free(text);
    hp_flame_tree_free(tree);
}

static void escapes_strings(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "\"plain\""},
        {"", "\"\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"</script>&", "\"\\u003C/script\\u003E\\u0026\""},
        {"\x01\n", "\"\\u0001\\n\""},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\""},
        {"caf\xc3\xa9 \xf0\x9f\x94\xa5", "\"caf\\u00E9 \\uD83D\\uDD25\""},
        {"\xff", "\"\""}, /* no UTF-8: readers of profiles refuse it before */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        hp_json_string(stream, cases[i][0]);
        fclose(stream);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_stacks),
        cmocka_unit_test(folds_a_comparison),
        cmocka_unit_test(folded_names_keep_the_format),
        cmocka_unit_test(writes_speedscope),
        cmocka_unit_test(writes_the_page_s_json),
        cmocka_unit_test(escapes_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
