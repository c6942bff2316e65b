/* tools/profile_merge: which stacks are the same, what becomes of the values, and what can't be added up. */
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile_merge.h"
#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

static struct builder builder;

/* Adds the builder's profile as it is now. */
static bool add(struct hp_profile_merge *merge, enum hp_merge_sign sign, struct hp_error *error) {
    static uint8_t packed[BUILDER_BYTES];
    *error = (struct hp_error){""};
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, error);
    assert_string_equal(error->text, "");
    bool done = hp_profile_merge_add(merge, profile, sign, error);
    hp_profile_free(profile);
    return done;
}

static void must_add(struct hp_profile_merge *merge, enum hp_merge_sign sign) {
    struct hp_error error;
    if (!add(merge, sign, &error))
        fail_msg("%s", error.text);
}

static struct hp_profile *finish(struct hp_profile_merge *merge) {
    struct hp_error error = {""};
    struct hp_profile *profile = hp_profile_merge_finish(merge, &error);
    assert_string_equal(error.text, "");
    assert_non_null(profile);
    hp_profile_merge_free(merge);
    return profile;
}

/* The builder's profile, and the same once more after a change. */
static struct hp_profile *merge_with(void (*change)(void)) {
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    must_add(merge, HP_MERGE_ADD);
    change();
    must_add(merge, HP_MERGE_ADD);
    return finish(merge);
}

static void expect_sums(const struct hp_profile *profile, const int64_t expected[4]) {
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(hp_profile_total(profile, i), expected[i]);
}

static void move_mappings(void) {
    builder.mappings[0].memory_start += 0x12345000;
    builder.mappings[0].memory_limit += 0x12345000;
    builder.locations[0].address += 0x12345000;
    builder.locations[1].address += 0x12345000;
    builder.mappings[1].memory_start -= 0x1000;
    builder.mappings[1].memory_limit -= 0x1000;
    builder.locations[2].address -= 0x1000;
}
/* The same segment, seen as a mapping of a part of it. */
static void split_mapping(void) {
    builder.mappings[0].memory_start = 0x900000;
    builder.mappings[0].memory_limit = 0x901000;
    builder.mappings[0].file_offset = 0x1000;
    builder.locations[0].address = 0x900100;
    builder.locations[1].address = 0x900200;
}
static void forget_symbols(void) {
    builder.locations[0].n_line = builder.locations[1].n_line = 0;
}
static void rename_file(void) {
    builder.mappings[0].filename = builder_string(&builder, "/moved/app");
}

static void knows_a_frame_by_its_binary_and_offset(void **state) {
    (void)state;
    static void (*const changes[])(void) = {move_mappings, split_mapping, forget_symbols, rename_file};
    for (size_t i = 0; i < ROWS(changes); i++) {
        struct hp_profile *profile = merge_with(changes[i]);
        assert_int_equal(profile->n_samples, 3);
        assert_int_equal(profile->n_locations, 4);
        expect_sums(profile, (const int64_t[4]){8, 900, 4, 500});
        assert_int_equal(profile->samples[0].values[1], 200);
        const struct hp_location *leaf = profile->samples[0].locations[0];
        assert_string_equal(leaf->lines[0].function->name, "grab");
        assert_int_equal(leaf->address, 0x400100);
        assert_string_equal(leaf->mapping->filename, "/bin/app");
        hp_profile_free(profile);
    }
}

/* Symbols that come later than their frame are taken over. */
static void gives_symbols_to_raw_frames(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    builder.mappings[0].has_functions = 1;
    forget_symbols();
    must_add(merge, HP_MERGE_ADD);
    builder_init(&builder);
    builder.mappings[0].has_functions = 1;
    must_add(merge, HP_MERGE_ADD);
    struct hp_profile *profile = finish(merge);
    assert_int_equal(profile->n_samples, 3);
    assert_string_equal(profile->samples[0].locations[0]->lines[1].function->name, "app::add(int)");
    assert_true(profile->mappings[0].has_functions);
    hp_profile_free(profile);
}

static void forgets_marks_of_what_has_raw_frames(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    builder.mappings[0].has_functions = 1;
    builder.locations[1].n_line = 0;
    must_add(merge, HP_MERGE_ADD);
    struct hp_profile *profile = finish(merge);
    assert_false(profile->mappings[0].has_functions);
    hp_profile_free(profile);
}

static void change_build_id(void) {
    builder.mappings[0].build_id = builder_string(&builder, "ffff");
}
static void change_library(void) {
    builder.mappings[1].filename = builder_string(&builder, "/lib/liby.so");
}
static void change_offset(void) {
    builder.locations[1].address++;
}
static void change_line(void) {
    builder.lines[3].line = 7; /* of [truncated], which is in no binary */
}
static void change_depth(void) {
    for (size_t i = 0; i < 3; i++)
        builder.samples[i].n_location_id--;
}

static void keeps_different_code_apart(void **state) {
    (void)state;
    static const struct {
        void (*change)(void);
        size_t n_samples;
    } rows[] = {
        {change_build_id, 6}, {change_library, 4}, {change_offset, 6}, {change_line, 4}, {change_depth, 6}};
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_profile *profile = merge_with(rows[i].change);
        assert_int_equal(profile->n_samples, rows[i].n_samples);
        expect_sums(profile, (const int64_t[4]){8, 900, 4, 500});
        hp_profile_free(profile);
    }
}

static void nothing(void) {
}

static void adds_up_within_one_profile(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    memcpy(builder.stacks[1], builder.stacks[0], sizeof builder.stacks[0]);
    must_add(merge, HP_MERGE_ADD);
    struct hp_profile *profile = finish(merge);
    assert_int_equal(profile->n_samples, 2);
    assert_int_equal(profile->samples[0].values[1], 400);
    hp_profile_free(profile);
}

static void takes_off_a_base(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    builder.values[1][3] = 170;
    must_add(merge, HP_MERGE_ADD);
    builder_init(&builder);
    builder.profile.time_nanos = 5;
    builder_comment(&builder, "of the base");
    move_mappings();
    must_add(merge, HP_MERGE_SUBTRACT);
    struct hp_profile *profile = finish(merge);
    assert_int_equal(profile->n_samples, 1); /* the others came to nothing */
    assert_int_equal(profile->samples[0].values[3], 20);
    assert_int_equal(profile->samples[0].values[0], 0);
    assert_int_equal(profile->time_nanos, 1700000000000000000);
    assert_int_equal(profile->n_comments, 3);
    hp_profile_free(profile);
}

static void holds_values_at_the_ends(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    builder.values[0][0] = INT64_MAX;
    must_add(merge, HP_MERGE_ADD);
    builder.values[0][0] = INT64_MIN;
    must_add(merge, HP_MERGE_SUBTRACT);
    struct hp_profile *profile = finish(merge);
    assert_int_equal(profile->samples[0].values[0], INT64_MAX);
    hp_profile_free(profile);
}

static Heapprof__Pprof__Label label, *label_list[] = {&label};

static void set_label(const char *key, const char *text, int64_t number) {
    heapprof__pprof__label__init(&label);
    label.key = builder_string(&builder, key);
    label.str = builder_string(&builder, text);
    label.num = number;
    builder.samples[0].label = label_list;
    builder.samples[0].n_label = 1;
}

static void keeps_labels_apart(void **state) {
    (void)state;
    static const struct {
        const char *key, *text;
        int64_t number;
        size_t n_samples;
    } rows[] = {{"thread", "worker", 0, 3},
                {"thread", "main", 0, 4},
                {"task", "worker", 0, 4},
                {"thread", "", 3, 4},
                {"thread", "worker", 1, 4}};
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_profile_merge *merge = hp_profile_merge_new();
        builder_init(&builder);
        set_label("thread", "worker", 0);
        must_add(merge, HP_MERGE_ADD);
        set_label(rows[i].key, rows[i].text, rows[i].number);
        must_add(merge, HP_MERGE_ADD);
        struct hp_profile *profile = finish(merge);
        assert_int_equal(profile->n_samples, rows[i].n_samples);
        assert_string_equal(profile->samples[0].labels[0].text, "worker");
        hp_profile_free(profile);
    }
}

/* Ours is a mean, and computed anew; another's is what tells samples apart. */
static void renews_its_own_mean_size(void **state) {
    (void)state;
    for (int ours = 0; ours < 2; ours++) {
        struct hp_profile_merge *merge = hp_profile_merge_new();
        builder_init(&builder);
        if (ours)
            builder_comment(&builder, "heapprof: 0.1.0");
        set_label("bytes", "", 100);
        must_add(merge, HP_MERGE_ADD);
        set_label("bytes", "", 32);
        builder.values[0][0] = 3; /* 95 bytes in 3 objects; with the 100 in 1 of before: 48.75 */
        builder.values[0][1] = 95;
        must_add(merge, HP_MERGE_ADD);
        struct hp_profile *profile = finish(merge);
        assert_int_equal(profile->n_samples, ours ? 3 : 4);
        assert_int_equal(profile->samples[0].labels[0].number, ours ? 49 : 100);
        hp_profile_free(profile);
    }
}

static void drops_a_mean_that_is_none(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    builder_comment(&builder, "heapprof: 0.1.0");
    set_label("bytes", "", 100);
    must_add(merge, HP_MERGE_ADD);
    builder.values[0][3] = 1;
    must_add(merge, HP_MERGE_SUBTRACT);
    struct hp_profile *profile = finish(merge);
    assert_int_equal(profile->samples[0].values[3], 99);
    assert_int_equal(profile->samples[0].n_labels, 0);
    hp_profile_free(profile);
}

static void only_inuse(void) {
    builder.types[0] = builder.types[2];
    builder.types[1] = builder.types[3];
    builder.profile.n_sample_type = 2;
    for (size_t i = 0; i < 3; i++)
        builder.samples[i].n_value = 2;
}

static void keeps_common_sample_types(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    must_add(merge, HP_MERGE_ADD);
    assert_null(hp_profile_merge_left_out(merge));
    only_inuse();
    must_add(merge, HP_MERGE_ADD);
    char *left_out = hp_profile_merge_left_out(merge);
    assert_string_equal(left_out, "alloc_objects, alloc_space");
    free(left_out);
    struct hp_profile *profile = finish(merge);
    assert_int_equal(profile->n_sample_types, 2);
    assert_string_equal(profile->sample_types[1].type, "inuse_space");
    assert_string_equal(profile->default_sample_type, "inuse_space");
    /* 2 + 3 in the first, and the values that now stand first in the second */
    assert_int_equal(hp_profile_total(profile, 0), 2 + 4);
    assert_int_equal(hp_profile_total(profile, 1), 250 + 450);
    hp_profile_free(profile);
}

static void describes_the_whole(void **state) {
    (void)state;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    builder_init(&builder);
    builder.profile.duration_nanos = 5;
    builder_comment(&builder, "pid: 1");
    builder_comment(&builder, "samples lost: 3");
    must_add(merge, HP_MERGE_ADD);
    builder_init(&builder);
    builder.profile.time_nanos -= 1000000000;
    builder.profile.duration_nanos = 7;
    builder.profile.period = 4096;
    builder_comment(&builder, "pid: 2");
    builder_comment(&builder, "samples lost: 4");
    must_add(merge, HP_MERGE_ADD);
    struct hp_error error;
    assert_true(hp_profile_merge_comment(merge, "said", &error));
    struct hp_profile *profile = finish(merge);
    static const char *const comments[] = {
        "service: edge_service", "usage: 127926272",
        "limit: 134217728",      "said",
        "samples lost: 7",       "merged: 2 profiles, 2023-11-14 22:13:19 UTC to 2023-11-14 22:13:20 UTC"};
    assert_int_equal(profile->n_comments, ROWS(comments));
    for (size_t i = 0; i < ROWS(comments); i++)
        assert_string_equal(profile->comments[i], comments[i]);
    assert_int_equal(profile->time_nanos, 1699999999000000000);
    assert_int_equal(profile->duration_nanos, 12);
    assert_int_equal(profile->period, 4096);
    hp_profile_free(profile);
}

static void in_kilobytes(void) {
    builder.types[3].unit = builder_string(&builder, "kilobytes");
}
static void other_types(void) {
    builder.types[0].type = builder_string(&builder, "cpu");
    builder.profile.default_sample_type = 0;
    builder.profile.n_sample_type = 1;
    for (size_t i = 0; i < 3; i++)
        builder.samples[i].n_value = 1;
}
static void other_period(void) {
    builder.period_type.type = builder_string(&builder, "cpu");
}

static void refuses_what_does_not_add_up(void **state) {
    (void)state;
    static const struct {
        void (*change)(void);
        const char *expected;
    } rows[] = {
        {in_kilobytes, "has inuse_space in kilobytes, the first profile in bytes"},
        {other_types, "has none of the sample types"},
        {other_period, "was sampled by cpu/bytes, the first profile by space/bytes"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_profile_merge *merge = hp_profile_merge_new();
        struct hp_error error;
        builder_init(&builder);
        must_add(merge, HP_MERGE_ADD);
        rows[i].change();
        assert_false(add(merge, HP_MERGE_ADD, &error));
        if (strstr(error.text, rows[i].expected) == NULL)
            fail_msg("expected \"%s\", got \"%s\"", rows[i].expected, error.text);
        hp_profile_merge_free(merge);
    }
}

static void keeps_a_profile_as_it_is(void **state) {
    (void)state;
    struct hp_profile *profile = merge_with(nothing);
    assert_int_equal(profile->n_mappings, 2);
    assert_string_equal(profile->mappings[0].filename, "/bin/app");
    assert_null(profile->samples[2].locations[2]->mapping);
    assert_string_equal(profile->period_type.unit, "bytes");
    hp_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_a_frame_by_its_binary_and_offset),
        cmocka_unit_test(gives_symbols_to_raw_frames),
        cmocka_unit_test(forgets_marks_of_what_has_raw_frames),
        cmocka_unit_test(keeps_different_code_apart),
        cmocka_unit_test(adds_up_within_one_profile),
        cmocka_unit_test(takes_off_a_base),
        cmocka_unit_test(holds_values_at_the_ends),
        cmocka_unit_test(keeps_labels_apart),
        cmocka_unit_test(renews_its_own_mean_size),
        cmocka_unit_test(drops_a_mean_that_is_none),
        cmocka_unit_test(keeps_common_sample_types),
        cmocka_unit_test(describes_the_whole),
        cmocka_unit_test(refuses_what_does_not_add_up),
        cmocka_unit_test(keeps_a_profile_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
