/* tools/profile_reader: what is read, and what is refused, and with which words. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

static struct builder builder;
static uint8_t packed[BUILDER_BYTES], zipped[2 * BUILDER_BYTES];

static struct hp_profile *parse(const uint8_t *data, size_t size, struct hp_error *error) {
    /* A copy of the exact size: a sanitizer then sees any read beyond it. */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    *error = (struct hp_error){""};
    struct hp_profile *profile = hp_profile_parse(copy, size, &hp_input_limits_default, error);
    free(copy);
    return profile;
}

static struct hp_profile *parse_builder(struct hp_error *error) {
    return parse(packed, builder_pack(&builder, packed), error);
}

static void expect_fault(const uint8_t *data, size_t size, const char *expected) {
    struct hp_error error;
    struct hp_profile *profile = parse(data, size, &error);
    if (profile != NULL || strstr(error.text, expected) == NULL)
        fail_msg("expected \"%s\", got \"%s\"", expected, profile != NULL ? "(a profile)" : error.text);
}

static void reads_all_of_a_sound_profile(void **state) {
    (void)state;
    struct hp_error error;
    builder_init(&builder);
    struct hp_profile *profile = parse_builder(&error);
    assert_string_equal(error.text, "");
    assert_non_null(profile);
    assert_int_equal(profile->n_sample_types, 4);
    assert_string_equal(profile->sample_types[3].type, "inuse_space");
    assert_int_equal(profile->n_samples, 3);
    assert_int_equal(profile->n_locations, 4);
    const struct hp_location *leaf = profile->samples[0].locations[0];
    assert_int_equal(leaf->n_lines, 2);
    assert_string_equal(leaf->lines[0].function->name, "grab");
    assert_string_equal(leaf->lines[1].function->name, "app::add(int)");
    assert_int_equal(leaf->lines[1].line, 20);
    assert_string_equal(leaf->mapping->filename, "/bin/app");
    assert_string_equal(leaf->mapping->build_id, "ab12cd34");
    assert_int_equal(leaf->mapping->offset, 0x1000);
    assert_int_equal(profile->samples[1].values[3], 150);
    assert_null(profile->samples[2].locations[2]->mapping);
    assert_true(hp_location_is_remark(profile->samples[2].locations[2]));
    assert_false(hp_location_is_remark(leaf));
    assert_int_equal(hp_profile_default_type(profile), 3);
    assert_int_equal(hp_profile_total(profile, 1), 450);
    assert_true(profile->ids_sequential);
    assert_int_equal(profile->period, 1024);
    assert_string_equal(profile->period_type.unit, "bytes");
    hp_profile_free(profile);
}

static void reads_comments(void **state) {
    (void)state;
    struct hp_error error;
    uint64_t number = 7;
    builder_init(&builder);
    builder_comment(&builder, "limited: 5");
    builder_comment(&builder, "lost: 12 or so");
    builder_comment(&builder, "bare");
    struct hp_profile *profile = parse_builder(&error);
    assert_string_equal(hp_profile_comment(profile, "service"), "edge_service");
    assert_null(hp_profile_comment(profile, "reason"));
    assert_null(hp_profile_comment(profile, "bare"));
    assert_true(hp_profile_comment_number(profile, "limit", &number));
    assert_int_equal(number, 134217728);
    assert_false(hp_profile_comment_number(profile, "lost", &number));
    assert_false(hp_profile_comment_number(profile, "service", &number));
    assert_int_equal(number, 134217728);
    hp_profile_free(profile);
}

static void reads_gzip_and_several_members(void **state) {
    (void)state;
    struct hp_error error;
    builder_init(&builder);
    size_t size = builder_pack(&builder, packed), half = size / 2;
    size_t first = builder_gzip(packed, half, zipped, sizeof zipped);
    size_t both = first + builder_gzip(packed + half, size - half, zipped + first, sizeof zipped - first);
    struct hp_profile *profile = parse(zipped, both, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(profile->n_samples, 3);
    hp_profile_free(profile);
}

static void reads_ids_in_any_order(void **state) {
    (void)state;
    struct hp_error error;
    builder_init(&builder);
    for (size_t i = 0; i < builder.profile.n_location; i++)
        builder.locations[i].id = UINT64_MAX - i * 1000;
    for (size_t i = 0; i < builder.profile.n_sample; i++)
        for (size_t at = 0; at < builder.samples[i].n_location_id; at++)
            builder.stacks[i][at] = UINT64_MAX - (builder.stacks[i][at] - 1) * 1000;
    struct hp_profile *profile = parse_builder(&error);
    assert_string_equal(error.text, "");
    assert_false(profile->ids_sequential);
    assert_string_equal(profile->samples[0].locations[0]->lines[0].function->name, "grab");
    assert_string_equal(profile->samples[2].locations[2]->lines[0].function->name, "[truncated]");
    hp_profile_free(profile);
}

/* Each spoils one thing in the sound profile. */
static void no_types(void) {
    builder.profile.n_sample_type = 0;
}
static void few_values(void) {
    builder.samples[1].n_value = 2;
}
static void nameless_type(void) {
    builder.types[0].type = 0;
}
static void same_type_twice(void) {
    builder.types[0].type = builder.types[1].type;
}
static void mapping_id_0(void) {
    builder.mappings[1].id = 0;
}
static void mapping_id_twice(void) {
    builder.mappings[1].id = 1;
}
static void location_id_0(void) {
    builder.locations[3].id = 0;
}
static void location_id_twice(void) {
    builder.locations[3].id = 2;
}
static void function_id_0(void) {
    builder.functions[3].id = 0;
}
static void function_id_twice(void) {
    builder.functions[3].id = 1;
}
static void dangling_location(void) {
    builder.stacks[0][1] = 9;
}
static void huge_location(void) {
    builder.stacks[0][1] = UINT64_MAX;
}
static void location_0(void) {
    builder.stacks[0][1] = 0;
}
static void dangling_function(void) {
    builder.lines[0].function_id = 77;
}
static void no_function(void) {
    builder.lines[0].function_id = 0;
}
static void dangling_mapping(void) {
    builder.locations[2].mapping_id = 3;
}
static void address_below(void) {
    builder.locations[2].address = 0x7effff;
}
static void address_at_limit(void) {
    builder.locations[2].address = 0x7f8000;
}
static void mapping_backwards(void) {
    builder.mappings[0].memory_limit = 0x3fffff;
}
static void string_beyond(void) {
    builder.functions[0].name = 64;
}
static void string_negative(void) {
    builder.mappings[0].filename = -1;
}
static void label_string(void) {
    static Heapprof__Pprof__Label label, *labels[] = {&label};
    heapprof__pprof__label__init(&label);
    label.key = 1000;
    builder.samples[0].label = labels;
    builder.samples[0].n_label = 1;
}
static void comment_string(void) {
    builder.comments[1] = INT64_MAX;
}
static void unknown_default(void) {
    builder.profile.default_sample_type = builder_string(&builder, "space");
}
static void first_string(void) {
    static char text[] = "x";
    builder.strings[0] = text;
}
static void no_strings(void) {
    builder.profile.n_string_table = 0;
}
static void bad_utf8(void) {
    builder.strings[5] = (char *)(uintptr_t) "\xc0\xaf";
}

static void refuses_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        void (*spoil)(void);
        const char *expected;
    } rows[] = {
        {no_types, "has no sample types"},
        {few_values, "has sample 2 with 2 values for 4 sample types"},
        {nameless_type, "has a sample type without a name"},
        {same_type_twice, "has the sample type alloc_space twice"},
        {mapping_id_0, "has a mapping with the reserved id 0"},
        {mapping_id_twice, "has several mappings with the id 1"},
        {location_id_0, "has a location with the reserved id 0"},
        {location_id_twice, "has several locations with the id 2"},
        {function_id_0, "has a function with the reserved id 0"},
        {function_id_twice, "has several functions with the id 1"},
        {dangling_location, "has sample 1 at location 9, which it does not have"},
        {huge_location, "has sample 1 at location 18446744073709551615, which"},
        {location_0, "has sample 1 at location 0, which it does not have"},
        {dangling_function, "has location 1 in function 77, which it does not have"},
        {no_function, "has location 1 in function 0, which it does not have"},
        {dangling_mapping, "has location 3 in mapping 3, which it does not have"},
        {address_below, "has location 3 at 0x7effff, outside its mapping 2"},
        {address_at_limit, "has location 3 at 0x7f8000, outside its mapping 2"},
        {mapping_backwards, "has mapping 1 ending before its start"},
        {string_beyond, "has a function with string 64 of"},
        {string_negative, "has a mapping with string -1 of"},
        {label_string, "has a label with string 1000 of"},
        {comment_string, "has a comment with string 9223372036854775807 of"},
        {unknown_default, "has the default sample type space, which it does not have"},
        {first_string, "is not a pprof profile: its first string is not empty"},
        {no_strings, "is not a pprof profile: it has no strings"},
        {bad_utf8, "has invalid UTF-8 in string 5"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        builder_init(&builder);
        rows[i].spoil();
        expect_fault(packed, builder_pack(&builder, packed), rows[i].expected);
    }
}

static void refuses_foreign_bytes(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *expected;
    } rows[] = {
        {"", 0, "is empty"},
        {"hello, world\n", 13, "is not a pprof profile, or a damaged one (byte 2 of 13)"},
        {"heap_v2/524288\n  t*: 1: 2 [0: 0]\n", 33, "is a raw jemalloc heap dump"},
        {"heap profile: 1: 2 [1: 2] @ heap/1\n", 35, "is a heap profile in the old text form"},
        {"\x1f\x8b", 2, "is cut short: its gzip stream has no end"},
        {"\x1f\x8b\x08\x00garbage, not deflate at all", 31, "is damaged: its gzip stream is invalid"},
        /* a string of 2^63 - 1 bytes, of 2^64 - 1, a varint that never ends, a group, field 0 */
        {"\x32\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, "is not a pprof profile, or a damaged one"},
        {"\x32\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "is not a pprof profile, or a damaged one"},
        {"\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, "is not a pprof profile, or a damaged one"},
        {"\x33\x34", 2, "is not a pprof profile, or a damaged one"},
        {"\x02\x00", 2, "is not a pprof profile, or a damaged one"},
        /* a zero byte in a string; a string table that is a number; a sample that is a number */
        {"\x32\x00\x32\x03\x61\x00\x62", 7, "has a zero byte in string 1"},
        {"\x30\x01", 2, "is not a pprof profile, or a damaged one"},
        {"\x32\x00\x10\x01", 4, "is not a pprof profile, or a damaged one"},
    };
    for (size_t i = 0; i < ROWS(rows); i++)
        expect_fault((const uint8_t *)rows[i].bytes, rows[i].size, rows[i].expected);
}

static void refuses_what_follows_a_profile(void **state) {
    (void)state;
    builder_init(&builder);
    size_t size = builder_pack(&builder, packed);
    size_t one = builder_gzip(packed, size, zipped, sizeof zipped);
    memcpy(zipped + one, "tail", 4);
    expect_fault(zipped, one + 4, "has 4 bytes after its gzip stream");
    size_t two = one + builder_gzip(packed, size, zipped + one, sizeof zipped - one);
    expect_fault(zipped, two, "is several profiles in a row");
}

static void refuses_a_wrong_checksum(void **state) {
    (void)state;
    builder_init(&builder);
    size_t size = builder_gzip(packed, builder_pack(&builder, packed), zipped, sizeof zipped);
    zipped[size - 8] ^= 1;
    expect_fault(zipped, size, "is damaged: its gzip checksum is wrong");
    zipped[size - 8] ^= 1;
    zipped[size - 1] ^= 1;
    expect_fault(zipped, size, "is damaged: its gzip checksum is wrong");
}

static void refuses_every_cut(void **state) {
    (void)state;
    builder_init(&builder);
    size_t size = builder_gzip(packed, builder_pack(&builder, packed), zipped, sizeof zipped);
    expect_fault(zipped, 0, "is empty");
    for (size_t cut = 2; cut < size; cut++)
        expect_fault(zipped, cut, "is cut short: its gzip stream has no end");
}

/* Without gzip a cut or a flipped bit may leave a sound profile; it must never do worse. */
static void survives_every_cut_and_flip(void **state) {
    (void)state;
    struct hp_error error;
    builder_init(&builder);
    size_t size = builder_pack(&builder, packed), refused = 0;
    for (size_t cut = 0; cut < size; cut++) {
        struct hp_profile *profile = parse(packed, cut, &error);
        assert_true((profile == NULL) == (error.text[0] != '\0'));
        refused += profile == NULL;
        hp_profile_free(profile);
    }
    assert_true(refused > size / 2);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        packed[bit / 8] ^= (uint8_t)(1U << bit % 8);
        struct hp_profile *profile = parse(packed, size, &error);
        assert_true((profile == NULL) == (error.text[0] != '\0'));
        hp_profile_free(profile);
        packed[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

static void refuses_a_bomb(void **state) {
    (void)state;
    const struct hp_input_limits limits = {.max_bytes = 1 << 20, .free_bytes = 4096, .max_ratio = 8};
    struct hp_error error = {""};
    size_t size = 1 << 16, large = 1000000;
    uint8_t *zeros = calloc(1, (1 << 20) + 1);
    assert_non_null(zeros);
    size_t small = builder_gzip(zeros, size, zipped, sizeof zipped);
    assert_null(hp_profile_parse(zipped, small, &limits, &error));
    assert_non_null(strstr(error.text, "unpacks to more than"));
    /* enough of it for the ratio to count: some 1000 bytes may become 8000 */
    small = builder_gzip(zeros, large, zipped, sizeof zipped);
    assert_true(small > limits.free_bytes / limits.max_ratio);
    error.text[0] = '\0';
    assert_null(hp_profile_parse(zipped, small, &limits, &error));
    assert_non_null(strstr(error.text, "unpacks to more than"));
    assert_null(hp_profile_parse(zeros, (1 << 20) + 1, &limits, &error));
    assert_non_null(strstr(error.text, "is larger than 1 MiB"));
    free(zeros);
}

/* 2-byte samples cost protobuf-c fifty times as much: the pool says no, not the kernel. */
static void refuses_too_many_elements(void **state) {
    (void)state;
    size_t count = 40u << 20;
    uint8_t *data = malloc(2 * count + 2);
    assert_non_null(data);
    for (size_t i = 0; i < count; i++)
        memcpy(data + 2 * i, "\x12", 2);
    memcpy(data + 2 * count, "\x32", 2);
    struct hp_error error = {""};
    assert_null(hp_profile_parse(data, 2 * count + 2, &hp_input_limits_default, &error));
    assert_string_equal(error.text, "is too large to be held in memory");
    free(data);
}

static void reads_an_input_that_ends_at_the_bound(void **state) {
    (void)state;
    struct hp_error error = {""};
    builder_init(&builder);
    size_t size = builder_pack(&builder, packed);
    size_t small = builder_gzip(packed, size, zipped, sizeof zipped);
    struct hp_input_limits limits = {.max_bytes = size, .free_bytes = size, .max_ratio = 1};
    struct hp_profile *profile = hp_profile_parse(zipped, small, &limits, &error);
    assert_string_equal(error.text, "");
    hp_profile_free(profile);
    limits.free_bytes--;
    limits.max_bytes--;
    assert_null(hp_profile_parse(zipped, small, &limits, &error));
    assert_non_null(strstr(error.text, "unpacks to more than"));
}

static void names_what_can_not_be_opened(void **state) {
    (void)state;
    struct hp_error error = {""};
    assert_null(hp_profile_read("/nonexistent/profile", &error));
    assert_string_equal(error.text, "No such file or directory");
    assert_null(hp_profile_read("/", &error));
    assert_string_equal(error.text, "Is a directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_of_a_sound_profile),
        cmocka_unit_test(reads_comments),
        cmocka_unit_test(reads_gzip_and_several_members),
        cmocka_unit_test(reads_ids_in_any_order),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(refuses_foreign_bytes),
        cmocka_unit_test(refuses_what_follows_a_profile),
        cmocka_unit_test(refuses_a_wrong_checksum),
        cmocka_unit_test(refuses_every_cut),
        cmocka_unit_test(survives_every_cut_and_flip),
        cmocka_unit_test(refuses_a_bomb),
        cmocka_unit_test(refuses_too_many_elements),
        cmocka_unit_test(reads_an_input_that_ends_at_the_bound),
        cmocka_unit_test(names_what_can_not_be_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
