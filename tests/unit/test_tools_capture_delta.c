/* tools/capture_delta: what a window's two profiles make. */
#include <stdlib.h>
#include <string.h>

#include "tools/live/capture_delta.h"
#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

static struct hp_profile *read_builder(const struct builder *builder) {
    static uint8_t packed[BUILDER_BYTES];
    struct hp_error error = {""};
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(builder, packed), &hp_input_limits_default, &error);
    assert_string_equal(error.text, "");
    return profile;
}

static struct builder before, after;

/* Five seconds later: 40 bytes more at the first stack, 10 of them held; at the second one 150 were freed;
 * the third stayed. */
static void set_window(void **state) {
    (void)state;
    builder_init(&before);
    builder_init(&after);
    after.profile.time_nanos = before.profile.time_nanos + 5000000000;
    memcpy(after.values[0], (const int64_t[4]){5, 140, 2, 110}, sizeof after.values[0]);
    memcpy(after.values[1], (const int64_t[4]){2, 300, 0, 0}, sizeof after.values[1]);
}

static struct hp_profile *delta_of(enum hp_capture_type type, struct hp_error *error) {
    struct hp_profile *first = read_builder(&before), *last = read_builder(&after);
    struct hp_profile *delta = hp_capture_delta(first, last, type, error);
    hp_profile_free(first);
    hp_profile_free(last);
    return delta;
}

static void expect_header(const struct hp_profile *delta, const char *objects, const char *bytes,
                          const char *type) {
    assert_int_equal(delta->n_sample_types, 2);
    assert_string_equal(delta->sample_types[0].type, objects);
    assert_string_equal(delta->sample_types[1].type, bytes);
    assert_string_equal(delta->sample_types[1].unit, "bytes");
    assert_string_equal(delta->default_sample_type, bytes);
    assert_int_equal(delta->time_nanos, after.profile.time_nanos);
    assert_int_equal(delta->duration_nanos, 5000000000);
    assert_int_equal(delta->period, 1024);
    assert_string_equal(hp_profile_comment(delta, "profile type"), type);
    assert_string_equal(hp_profile_comment(delta, "service"), "edge_service");
}

static const struct hp_sample *sample_at(const struct hp_profile *delta, const char *leaf) {
    for (size_t i = 0; i < delta->n_samples; i++) {
        const struct hp_location *location = delta->samples[i].locations[0];
        if (strcmp(location->n_lines > 0 ? location->lines[0].function->name : "", leaf) == 0)
            return &delta->samples[i];
    }
    fail_msg("no sample at \"%s\"", leaf);
    return NULL;
}

static void allocs_are_what_came(void **state) {
    set_window(state);
    struct hp_error error = {""};
    struct hp_profile *delta = delta_of(HP_CAPTURE_ALLOCS, &error);
    assert_non_null(delta);
    expect_header(delta, "alloc_objects", "alloc_space", "allocs");
    assert_int_equal(delta->n_samples, 1);
    const struct hp_sample *sample = sample_at(delta, "grab");
    assert_int_equal(sample->values[0], 4);
    assert_int_equal(sample->values[1], 40);
    assert_int_equal(sample->n_labels, 1);
    assert_int_equal(sample->labels[0].number, 10);
    hp_profile_free(delta);
}

static void growth_is_negative_where_it_shrank(void **state) {
    set_window(state);
    struct hp_error error = {""};
    struct hp_profile *delta = delta_of(HP_CAPTURE_GROWTH, &error);
    assert_non_null(delta);
    expect_header(delta, "inuse_objects", "inuse_space", "growth");
    assert_int_equal(delta->n_samples, 2);
    assert_int_equal(sample_at(delta, "grab")->values[0], 1);
    assert_int_equal(sample_at(delta, "grab")->values[1], 10);
    assert_int_equal(sample_at(delta, "")->values[0], -1);
    assert_int_equal(sample_at(delta, "")->values[1], -150);
    assert_int_equal(sample_at(delta, "")->labels[0].number, 150);
    hp_profile_free(delta);
}

static void nothing_happened(void **state) {
    set_window(state);
    struct hp_error error = {""};
    memcpy(after.values, before.values, sizeof after.values);
    struct hp_profile *delta = delta_of(HP_CAPTURE_GROWTH, &error);
    assert_non_null(delta);
    assert_int_equal(delta->n_samples, 0);
    hp_profile_free(delta);
}

static void another_program_is_no_end(void **state) {
    set_window(state);
    struct hp_error error = {""};
    builder_comment(&before, "process start: 2026-12-01 14:13:55.123");
    builder_comment(&after, "process start: 2026-12-01 14:14:00.456");
    assert_null(delta_of(HP_CAPTURE_GROWTH, &error));
    assert_non_null(strstr(error.text, "has started another program"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocs_are_what_came),
        cmocka_unit_test(growth_is_negative_where_it_shrank),
        cmocka_unit_test(nothing_happened),
        cmocka_unit_test(another_program_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
