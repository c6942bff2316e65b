/* tools/profile_audit: rules that a readable profile may still break. */
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile_audit.h"
#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

static struct builder builder;

static bool audit_builder(struct hp_audit *audit, struct hp_error *error) {
    static uint8_t packed[BUILDER_BYTES];
    *error = (struct hp_error){""};
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, error);
    assert_string_equal(error->text, "");
    bool sound = hp_profile_audit(profile, audit, error);
    hp_profile_free(profile);
    return sound;
}

static void measures_a_sound_profile(void **state) {
    (void)state;
    struct hp_audit audit;
    struct hp_error error;
    builder_init(&builder);
    assert_true(audit_builder(&audit, &error));
    assert_int_equal(audit.deepest, 3);
    assert_int_equal(audit.symbolized, 3);
    assert_int_equal(audit.truncated, 1);
    assert_int_equal(audit.n_notes, 0);
}

static void finds_faults(void **state) {
    (void)state;
    static const struct {
        const char *file, *build_id, *expected;
    } rows[] = {
        {"", "ab", "has a first mapping without a file name"},
        {"/bin/app", "AB12", "has mapping 1 with the build id AB12, which is not lower-case hex"},
        {"/bin/app", "xyz1", "not lower-case hex"},
        {"/bin/app", "abc", "not lower-case hex"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_audit audit;
        struct hp_error error;
        builder_init(&builder);
        builder.mappings[0].filename = builder_string(&builder, rows[i].file);
        builder.mappings[0].build_id = builder_string(&builder, rows[i].build_id);
        assert_false(audit_builder(&audit, &error));
        if (strstr(error.text, rows[i].expected) == NULL)
            fail_msg("expected \"%s\", got \"%s\"", rows[i].expected, error.text);
    }
}

static Heapprof__Pprof__Label label, *label_list[] = {&label};

static void set_label(const char *key, const char *text, int64_t number, const char *unit) {
    heapprof__pprof__label__init(&label);
    label.key = builder_string(&builder, key);
    label.str = builder_string(&builder, text);
    label.num = number;
    label.num_unit = builder_string(&builder, unit);
    builder.samples[1].label = label_list;
    builder.samples[1].n_label = 1;
}

static void period_below_0(void) {
    builder.profile.period = -1;
}
static void time_below_0(void) {
    builder.profile.time_nanos = INT64_MIN;
}
static void duration_below_0(void) {
    builder.profile.duration_nanos = -5;
}
static void no_unit(void) {
    builder.types[2].unit = 0;
}
static void line_below_0(void) {
    builder.lines[2].line = -1;
}
static void column_below_0(void) {
    builder.lines[0].column = -1;
}
static void start_line_below_0(void) {
    builder.functions[2].start_line = -1;
}
static void nameless_function(void) {
    builder.functions[2].name = builder.functions[2].system_name = 0;
}
static void keyless_label(void) {
    set_label("", "x", 0, "");
}
static void reserved_label(void) {
    set_label("pprof::x", "y", 0, "");
}
static void text_and_number(void) {
    set_label("thread", "y", 3, "");
}

static void finds_more_faults(void **state) {
    (void)state;
    static const struct {
        void (*change)(void);
        const char *expected;
    } rows[] = {
        {period_below_0, "has a period of -1"},
        {time_below_0, "has a time of -9223372036854775808"},
        {duration_below_0, "has a duration of -5"},
        {no_unit, "has the sample type inuse_objects without a unit"},
        {line_below_0, "has location 2 in a negative line"},
        {column_below_0, "has location 1 in a negative line or column"},
        {start_line_below_0, "has location 2 in a negative line"},
        {nameless_function, "has location 2 in a function without a name"},
        {keyless_label, "has sample 2 with a label without a key"},
        {reserved_label, "has sample 2 with the label pprof::x: pprof:: is reserved"},
        {text_and_number, "has sample 2 with the label thread, which is a text and a number"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_audit audit;
        struct hp_error error;
        builder_init(&builder);
        rows[i].change();
        assert_false(audit_builder(&audit, &error));
        if (strstr(error.text, rows[i].expected) == NULL)
            fail_msg("expected \"%s\", got \"%s\"", rows[i].expected, error.text);
    }
}

static void counts_what_no_sample_uses(void **state) {
    (void)state;
    struct hp_audit audit;
    struct hp_error error;
    builder_init(&builder);
    assert_true(audit_builder(&audit, &error));
    assert_int_equal(audit.unused_locations, 0);
    assert_int_equal(audit.unused_mappings, 0);
    builder.samples[1].n_location_id = 0;
    builder.samples[1].n_value = 4;
    assert_true(audit_builder(&audit, &error));
    assert_int_equal(audit.unused_locations, 1);
    assert_int_equal(audit.unused_mappings, 1);
    builder.profile.n_sample = 0;
    assert_true(audit_builder(&audit, &error));
    assert_int_equal(audit.unused_locations, 4);
    assert_int_equal(audit.unused_mappings, 1); /* the main binary may stand alone */
}

static void ids_from_2(void) {
    for (size_t i = 0; i < builder.profile.n_function; i++)
        builder.functions[i].id++;
    for (size_t i = 0; i < 4; i++)
        builder.lines[i].function_id++;
}
static void no_samples(void) {
    builder.profile.n_sample = 0;
}
static void empty_stack(void) {
    builder.samples[0].n_location_id = 0;
}
static void negative_value(void) {
    builder.values[0][0] = -1;
}
static void dash_in_type(void) {
    builder.types[0].type = builder_string(&builder, "alloc-objects");
}
static void nameless_location(void) {
    builder.locations[2].mapping_id = 0;
}

static void base_label(void) {
    set_label("pprof::base", "true", 0, "");
    builder.values[0][0] = -1;
}
static void unseen_label(void) {
    set_label("size", "", 0, "");
}
static void untyped_period(void) {
    builder.period_type.type = builder.period_type.unit = 0;
}
static void odd_pattern(void) {
    builder.profile.drop_frames = builder_string(&builder, "a|(");
}
static void demangled_twice(void) {
    builder.functions[1].system_name = builder.functions[1].name;
}
static void deleted_file(void) {
    builder.mappings[1].filename = builder_string(&builder, "/lib/libx.so (deleted)");
}
static void odd_offset(void) {
    builder.mappings[1].file_offset = 0x1010;
}
static void empty_mapping(void) {
    builder.mappings[1].memory_limit = builder.mappings[1].memory_start = 0x7f1000;
    builder.locations[2].mapping_id = 1;
    builder.locations[2].address = 0x400300;
}
static void marked_mapping(void) {
    builder.mappings[1].has_line_numbers = 1;
}

static void notes_what_some_reader_refuses(void **state) {
    (void)state;
    static const struct {
        void (*change)(void);
        const char *expected;
    } rows[] = {
        {ids_from_2, "has ids that do not count up from 1"},
        {no_samples, "has no samples"},
        {empty_stack, "has samples without a stack"},
        {negative_value, "has negative values"},
        {dash_in_type, "has a \"-\" in the sample type alloc-objects"},
        {nameless_location, "has 1 locations with neither a mapping nor a function"},
        {base_label, "has negative values"},
        {unseen_label, "has the label size as a number 0 without a unit"},
        {untyped_period, "has a period without a type"},
        {odd_pattern, "has a drop_frames pattern that is not understood"},
        {demangled_twice, "has 1 lines in functions whose system name is demangled"},
        {deleted_file, "has mapping 2 named with \"(deleted)\""},
        {odd_offset, "has mapping 2 with a file offset that is not where its start is"},
        {empty_mapping, "has mapping 2 without a size"},
        {marked_mapping, "has locations without symbols in mapping 2, which is marked"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_audit audit;
        struct hp_error error;
        builder_init(&builder);
        rows[i].change();
        assert_true(audit_builder(&audit, &error));
        assert_int_equal(audit.n_notes, 1);
        if (strstr(audit.notes[0].text, rows[i].expected) == NULL)
            fail_msg("expected \"%s\", got \"%s\"", rows[i].expected, audit.notes[0].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_a_sound_profile),
        cmocka_unit_test(finds_faults),
        cmocka_unit_test(finds_more_faults),
        cmocka_unit_test(counts_what_no_sample_uses),
        cmocka_unit_test(notes_what_some_reader_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
