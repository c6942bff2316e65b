/* tools/profile_table and tools/profile_prune: sums by function and line, and what drop_frames hides. */
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile_prune.h"
#include "tools/profile/profile_reader.h"
#include "tools/profile/profile_table.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

enum { ALLOC_SPACE = 1, INUSE_SPACE = 3 };

static struct builder builder;

static struct hp_profile *read_builder(void) {
    static uint8_t packed[BUILDER_BYTES];
    struct hp_error error = {""};
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, &error);
    assert_string_equal(error.text, "");
    return profile;
}

static void expect_row(const struct hp_profile_table *table, size_t place, const char *name, int64_t line,
                       int64_t flat, int64_t cum) {
    assert_true(place < table->count);
    const struct hp_table_row *row = &table->rows[place];
    assert_string_equal(row->name, name);
    assert_int_equal(row->line, line);
    assert_int_equal(row->flat, flat);
    assert_int_equal(row->cum, cum);
}

static void sums_by_function(void **state) {
    (void)state;
    builder_init(&builder);
    struct hp_profile *profile = read_builder();
    struct hp_profile_table table = hp_profile_table_new(profile, INUSE_SPACE, false);
    hp_profile_table_sort(&table, HP_TABLE_BY_FLAT);
    assert_int_equal(table.total, 250);
    assert_int_equal(table.count, 4); /* nothing of [truncated] is in use */
    expect_row(&table, 0, "libx.so+0x1100", 0, 150, 150);
    expect_row(&table, 1, "grab", 10, 100, 100);
    expect_row(&table, 2, "main", 30, 0, 250);
    expect_row(&table, 3, "app::add(int)", 20, 0, 100);
    hp_profile_table_sort(&table, HP_TABLE_BY_CUM);
    expect_row(&table, 0, "main", 30, 0, 250);
    hp_profile_table_free(&table);
    hp_profile_free(profile);
}

static void counts_a_recursion_once(void **state) {
    (void)state;
    builder_init(&builder);
    struct hp_profile *profile = read_builder();
    struct hp_profile_table table = hp_profile_table_new(profile, ALLOC_SPACE, false);
    hp_profile_table_sort(&table, HP_TABLE_BY_CUM);
    expect_row(&table, 0, "main", 30, 50, 450);
    expect_row(&table, 1, "libx.so+0x1100", 0, 300, 300);
    expect_row(&table, 4, "[truncated]", 0, 0, 50);
    hp_profile_table_free(&table);
    hp_profile_free(profile);
}

/* main gets a second line, and the stack of 150 goes through it. */
static void splits_lines_and_shows_the_heaviest(void **state) {
    (void)state;
    builder_init(&builder);
    builder.lines[3].function_id = 3;
    builder.lines[3].line = 31;
    builder.stacks[1][1] = 4;
    struct hp_profile *profile = read_builder();
    struct hp_profile_table by_function = hp_profile_table_new(profile, INUSE_SPACE, false);
    struct hp_profile_table by_line = hp_profile_table_new(profile, INUSE_SPACE, true);
    hp_profile_table_sort(&by_function, HP_TABLE_BY_CUM);
    hp_profile_table_sort(&by_line, HP_TABLE_BY_CUM);
    expect_row(&by_function, 0, "main", 31, 0, 250);
    expect_row(&by_line, 0, "libx.so+0x1100", 0, 150, 150);
    expect_row(&by_line, 1, "main", 31, 0, 150);
    expect_row(&by_line, 3, "app::add(int)", 20, 0, 100);
    expect_row(&by_line, 4, "main", 30, 0, 100);
    hp_profile_table_free(&by_function);
    hp_profile_table_free(&by_line);
    hp_profile_free(profile);
}

static void keeps_functions_of_one_name_apart(void **state) {
    (void)state;
    builder_init(&builder);
    builder.functions[1].name = builder.functions[0].name; /* two "grab" … */
    builder.functions[1].filename = builder_string(&builder, "/src/other.c");
    struct hp_profile *profile = read_builder();
    struct hp_profile_table table = hp_profile_table_new(profile, INUSE_SPACE, false);
    assert_int_equal(table.count, 4); /* … in two files */
    hp_profile_table_free(&table);
    hp_profile_free(profile);
}

static void holds_sums_at_the_ends(void **state) {
    (void)state;
    builder_init(&builder);
    builder.values[0][INUSE_SPACE] = INT64_MAX;
    builder.values[1][INUSE_SPACE] = INT64_MAX;
    builder.values[2][INUSE_SPACE] = INT64_MIN;
    struct hp_profile *profile = read_builder();
    struct hp_profile_table table = hp_profile_table_new(profile, INUSE_SPACE, false);
    hp_profile_table_sort(&table, HP_TABLE_BY_CUM);
    assert_int_equal(table.total, INT64_MAX);
    assert_int_equal(hp_profile_add(INT64_MIN, -1), INT64_MIN);
    hp_profile_table_free(&table);
    hp_profile_free(profile);
}

static void expect_depths(const struct hp_profile *profile, size_t first, size_t second, size_t third) {
    assert_int_equal(profile->samples[0].n_locations, first);
    assert_int_equal(profile->samples[1].n_locations, second);
    assert_int_equal(profile->samples[2].n_locations, third);
}

static struct hp_profile *prune(const char *drop, const char *keep, bool understood) {
    builder_init(&builder);
    builder.profile.drop_frames = builder_string(&builder, drop);
    builder.profile.keep_frames = builder_string(&builder, keep);
    struct hp_profile *profile = read_builder();
    assert_true(hp_profile_prune(profile) == understood);
    return profile;
}

static void hides_dropped_frames(void **state) {
    (void)state;
    /* an inlined function alone: its location keeps the one around it */
    struct hp_profile *profile = prune("malloc|grab", "", true);
    expect_depths(profile, 2, 2, 3);
    assert_int_equal(profile->samples[0].locations[0]->n_lines, 1);
    assert_string_equal(profile->samples[0].locations[0]->lines[0].function->name, "app::add(int)");
    hp_profile_free(profile);
    /* the function around it: the whole location; parameters do not count */
    profile = prune("app::add", "", true);
    expect_depths(profile, 1, 2, 3);
    assert_string_equal(profile->samples[0].locations[0]->lines[0].function->name, "main");
    hp_profile_free(profile);
    /* part of a name is no match */
    profile = prune("gra|app", "", true);
    expect_depths(profile, 2, 2, 3);
    assert_int_equal(profile->samples[0].locations[0]->n_lines, 2);
    hp_profile_free(profile);
    /* the outermost functions stay, or nothing would: main is all that is left of sample 3's callees */
    profile = prune("main", "", true);
    expect_depths(profile, 2, 2, 1);
    hp_profile_free(profile);
}

static void spares_kept_frames(void **state) {
    (void)state;
    struct hp_profile *profile = prune(".*add.*|grab", "app::.*", true);
    expect_depths(profile, 2, 2, 3);
    assert_int_equal(profile->samples[0].locations[0]->n_lines, 1);
    hp_profile_free(profile);
}

static void hides_nothing_by_a_bad_pattern(void **state) {
    (void)state;
    struct hp_profile *profile = prune("grab|(", "", false);
    expect_depths(profile, 2, 2, 3);
    assert_int_equal(profile->samples[0].locations[0]->n_lines, 2);
    hp_profile_free(profile);
    profile = prune("grab", "[", false);
    assert_int_equal(profile->samples[0].locations[0]->n_lines, 2);
    hp_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_function),
        cmocka_unit_test(counts_a_recursion_once),
        cmocka_unit_test(splits_lines_and_shows_the_heaviest),
        cmocka_unit_test(keeps_functions_of_one_name_apart),
        cmocka_unit_test(holds_sums_at_the_ends),
        cmocka_unit_test(hides_dropped_frames),
        cmocka_unit_test(spares_kept_frames),
        cmocka_unit_test(hides_nothing_by_a_bad_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
