/* tools/profile_filter: which stacks a pattern keeps. */
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile_filter.h"
#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

static struct builder builder;

static struct hp_frame_pattern *pattern(const char *text) {
    struct hp_error error = {""};
    struct hp_frame_pattern *made = text != NULL ? hp_frame_pattern_new(text, &error) : NULL;
    assert_string_equal(error.text, "");
    return made;
}

/* The places of the builder's samples that stay, as digits from 1: the first value tells them apart. */
static void expect_stays(const char *focus_text, const char *ignore_text, const char *expected) {
    static uint8_t packed[BUILDER_BYTES];
    struct hp_error error = {""};
    char stays[BUILDER_MANY] = "";
    for (size_t i = 0; i < 3; i++)
        builder.values[i][0] = (int64_t)i + 1;
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, &error);
    assert_string_equal(error.text, "");
    struct hp_frame_pattern *focus = pattern(focus_text), *ignore = pattern(ignore_text);
    hp_profile_filter(profile, focus, ignore);
    for (size_t i = 0; i < profile->n_samples; i++)
        stays[i] = (char)('0' + profile->samples[i].values[0]);
    assert_string_equal(stays, expected);
    hp_frame_pattern_free(focus);
    hp_frame_pattern_free(ignore);
    hp_profile_free(profile);
}

static void keeps_what_matches(void **state) {
    (void)state;
    static const struct {
        const char *focus, *ignore, *expected;
    } rows[] = {
        {NULL, NULL, "123"},          {"grab", NULL, "1"}, /* an inlined function's name */
        {"^ain|main$", NULL, "123"},                       /* a part of a name, alternatives, anchors */
        {"^grab$|trunc", NULL, "13"},                      /* what is said in brackets is a function, too */
        {"src/app\\.c", NULL, "1"},                        /* a source file */
        {"libx", NULL, "2"},                               /* a binary, of a frame without symbols */
        {"/bin/app$", NULL, "123"},                        /* a binary, of frames with them */
        {"GRAB", NULL, ""},                                /* case counts */
        {NULL, "grab", "23"},         {NULL, "main", ""},   {NULL, "nothing", "123"},
        {"main", "libx|grab", "3"},   {"grab", "grab", ""}, {"a{2}", NULL, ""},
        {"[[:upper:]]", NULL, ""},
    };
    builder_init(&builder);
    for (size_t i = 0; i < ROWS(rows); i++)
        expect_stays(rows[i].focus, rows[i].ignore, rows[i].expected);
}

/* Without a frame nothing can match. */
static void drops_empty_stacks_as_pprof_does(void **state) {
    (void)state;
    builder_init(&builder);
    builder.samples[0].n_location_id = 0;
    expect_stays(NULL, "nothing", "23");
    expect_stays(NULL, NULL, "123");
}

static void looks_at_a_bounded_part_of_a_name(void **state) {
    (void)state;
    static char name[6000];
    memset(name, 'a', sizeof name - 1);
    name[4095] = 'b';
    name[5000] = 'c';
    builder_init(&builder);
    builder.functions[0].name = builder_string(&builder, name);
    static uint8_t packed[2 * BUILDER_BYTES];
    assert_true(builder_pack(&builder, packed) > sizeof name);
    expect_stays("aab$", NULL, "1");
    expect_stays("c", NULL, "123"); /* of /src, and of no name */
    expect_stays("aac", NULL, "");
}

static void refuses_a_bad_pattern(void **state) {
    (void)state;
    struct hp_error error = {""};
    assert_null(hp_frame_pattern_new("(", &error));
    assert_string_equal(error.text, "Unmatched ( or \\(");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_matches),
        cmocka_unit_test(drops_empty_stacks_as_pprof_does),
        cmocka_unit_test(looks_at_a_bounded_part_of_a_name),
        cmocka_unit_test(refuses_a_bad_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
