/* tools/profile_audit: rules that a readable profile may still break. */
#include <stdlib.h>
#include <string.h>

#include "profile_audit.h"
#include "profile_reader.h"
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
        cmocka_unit_test(notes_what_some_reader_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
