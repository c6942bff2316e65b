/* tools/profile_writer: what was read is written, read back by other hands. */
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile_reader.h"
#include "tools/profile/profile_writer.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/read_profile.h"
#include "tests/unit/scratch.h"

static struct builder builder;

static struct hp_profile *read_builder(void) {
    static uint8_t packed[BUILDER_BYTES];
    struct hp_error error = {""};
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, &error);
    assert_string_equal(error.text, "");
    return profile;
}

/* Saves the profile, frees it, and returns what is in the file. */
static Profile *save_and_read(struct hp_profile *profile) {
    static uint8_t bytes[BUILDER_BYTES];
    struct hp_error error = {""};
    bool saved = hp_profile_save(profile, scratch_path("out.pb.gz"), &error);
    assert_string_equal(error.text, "");
    assert_true(saved);
    hp_profile_free(profile);
    size_t size = scratch_read("out.pb.gz", bytes, sizeof bytes);
    assert_in_range(size, 1, sizeof bytes - 1);
    Profile *message = read_profile(bytes, size);
    assert_non_null(message);
    return message;
}

static void expect_text(const Profile *message, int64_t number, const char *expected) {
    assert_string_equal(string_of(message, number), expected);
}

static void writes_the_header(void **state) {
    (void)state;
    builder_init(&builder);
    builder.profile.drop_frames = builder_string(&builder, "malloc|free");
    builder.profile.keep_frames = builder_string(&builder, "free");
    builder.profile.doc_url = builder_string(&builder, "https://example.org/doc");
    builder.profile.duration_nanos = 5000000000;
    Profile *message = save_and_read(read_builder());
    assert_sound(message);
    assert_int_equal(message->n_sample_type, 4);
    expect_text(message, message->sample_type[0]->type, "alloc_objects");
    expect_text(message, message->sample_type[0]->unit, "count");
    expect_text(message, message->sample_type[3]->type, "inuse_space");
    expect_text(message, message->sample_type[3]->unit, "bytes");
    assert_true(message->sample_type[3]->type >= 4); /* an old speedscope takes it for a column */
    expect_text(message, message->period_type->type, "space");
    assert_int_equal(message->period, 1024);
    assert_int_equal(message->time_nanos, 1700000000000000000);
    assert_int_equal(message->duration_nanos, 5000000000);
    expect_text(message, message->drop_frames, "malloc|free");
    expect_text(message, message->keep_frames, "free");
    expect_text(message, message->doc_url, "https://example.org/doc");
    expect_text(message, message->default_sample_type, "inuse_space");
    assert_int_equal(message->n_comment, 3);
    assert_string_equal(comment_of(message, "limit"), "134217728");
    heapprof__pprof__profile__free_unpacked(message, NULL);
}

static void writes_stacks_lines_and_labels(void **state) {
    (void)state;
    builder_init(&builder);
    Heapprof__Pprof__Label label = HEAPPROF__PPROF__LABEL__INIT, *labels[1] = {&label};
    label.key = builder_string(&builder, "bytes");
    label.num = 150;
    label.num_unit = builder_string(&builder, "bytes");
    builder.samples[1].n_label = 1;
    builder.samples[1].label = labels;
    builder.functions[1].start_line = 17;
    builder.functions[1].system_name = builder_string(&builder, "_ZN3app3addEi");
    builder.lines[1].column = 9;
    builder.locations[1].is_folded = true;
    builder.mappings[0].has_functions = builder.mappings[0].has_inline_frames = true;
    Profile *message = save_and_read(read_builder());
    assert_sound(message);
    assert_int_equal(message->n_sample, 3);
    const Sample *sample = message->sample[1];
    assert_int_equal(sample->n_location_id, 2);
    assert_int_equal(sample->location_id[0], 3);
    assert_int_equal(sample->location_id[1], 2);
    assert_int_equal(sample->value[1], 300);
    assert_int_equal(sample->n_label, 1);
    expect_text(message, sample->label[0]->key, "bytes");
    expect_text(message, sample->label[0]->str, "");
    assert_int_equal(sample->label[0]->num, 150);
    expect_text(message, sample->label[0]->num_unit, "bytes");
    assert_int_equal(message->sample[2]->n_label, 0);

    const Heapprof__Pprof__Location *location = message->location[0];
    assert_int_equal(location->address, 0x400100);
    assert_int_equal(location->mapping_id, 1);
    assert_false(location->is_folded);
    assert_true(message->location[1]->is_folded);
    assert_int_equal(message->location[2]->mapping_id, 2);
    assert_int_equal(message->location[3]->mapping_id, 0);
    assert_int_equal(location->n_line, 2);
    assert_int_equal(location->line[1]->line, 20);
    assert_int_equal(location->line[1]->column, 9);
    const Heapprof__Pprof__Function *function = message->function[location->line[1]->function_id - 1];
    expect_text(message, function->name, "app::add(int)");
    expect_text(message, function->system_name, "_ZN3app3addEi");
    expect_text(message, function->filename, "/src/app.c");
    assert_int_equal(function->start_line, 17);

    const Heapprof__Pprof__Mapping *mapping = message->mapping[0];
    assert_int_equal(mapping->memory_start, 0x400000);
    assert_int_equal(mapping->memory_limit, 0x408000);
    assert_int_equal(mapping->file_offset, 0x1000);
    expect_text(message, mapping->filename, "/bin/app");
    expect_text(message, mapping->build_id, "ab12cd34");
    assert_true(mapping->has_functions && mapping->has_inline_frames);
    assert_false(mapping->has_filenames || mapping->has_line_numbers);
    heapprof__pprof__profile__free_unpacked(message, NULL);
}

static void has_each_string_once(void **state) {
    (void)state;
    builder_init(&builder);
    /* The same text twice in the file's own table. */
    builder.strings[builder.profile.n_string_table] = strdup("app::add(int)");
    builder.functions[0].name = (int64_t)builder.profile.n_string_table++;
    Profile *message = save_and_read(read_builder());
    free(builder.strings[builder.profile.n_string_table - 1]);
    for (size_t i = 0; i < message->n_string_table; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(message->string_table[i], message->string_table[j]);
    heapprof__pprof__profile__free_unpacked(message, NULL);
}

/* Without the sample in libx.so, its location and mapping go too, and the ids close up. */
static void leaves_out_what_no_sample_leads_to(void **state) {
    (void)state;
    builder_init(&builder);
    struct hp_profile *profile = read_builder();
    profile->samples[1] = profile->samples[2];
    profile->n_samples = 2;
    Profile *message = save_and_read(profile);
    assert_sound(message);
    assert_int_equal(message->n_mapping, 1);
    assert_int_equal(message->n_location, 3);
    assert_int_equal(message->location[2]->id, 3);
    assert_int_equal(message->sample[1]->location_id[2], 3);
    for (size_t i = 0; i < message->n_string_table; i++)
        assert_string_not_equal(message->string_table[i], "/lib/libx.so");
    heapprof__pprof__profile__free_unpacked(message, NULL);

    profile = read_builder();
    profile->n_samples = 0;
    message = save_and_read(profile);
    assert_int_equal(message->n_location + message->n_function, 0);
    assert_int_equal(message->n_mapping, 1); /* the main binary names the profile */
    heapprof__pprof__profile__free_unpacked(message, NULL);
}

static void keeps_negative_values(void **state) {
    (void)state;
    builder_init(&builder);
    builder.values[0][3] = -100;
    builder.values[1][3] = INT64_MIN;
    Profile *message = save_and_read(read_builder());
    assert_int_equal(message->sample[0]->value[3], -100);
    assert_int_equal(message->sample[1]->value[3], INT64_MIN);
    heapprof__pprof__profile__free_unpacked(message, NULL);
}

static void a_full_disk_is_an_error(void **state) {
    (void)state;
    builder_init(&builder);
    struct hp_profile *profile = read_builder();
    struct hp_error error = {""};
    assert_false(hp_profile_save(profile, "/dev/full", &error));
    assert_string_equal(error.text, "No space left on device");
    hp_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_header),     cmocka_unit_test(writes_stacks_lines_and_labels),
        cmocka_unit_test(has_each_string_once),  cmocka_unit_test(leaves_out_what_no_sample_leads_to),
        cmocka_unit_test(keeps_negative_values), cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
