#include "tests/unit/read_profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/unit/cmocka_first.h"

uint8_t *inflate_whole(const void *data, size_t bytes, size_t *plain_bytes) {
    size_t cap = 64 << 20;
    uint8_t *plain = malloc(cap);
    uint8_t *copy = malloc(bytes + 1);
    memcpy(copy, data, bytes);
    z_stream z = {
        .next_in = copy, .avail_in = (unsigned)bytes, .next_out = plain, .avail_out = (unsigned)cap};
    int rc = inflateInit2(&z, 15 + 16); /* a gzip file, and nothing else */
    rc = rc == Z_OK ? inflate(&z, Z_FINISH) : rc;
    bool whole = rc == Z_STREAM_END && z.avail_in == 0;
    *plain_bytes = z.total_out;
    (void)inflateEnd(&z);
    free(copy);
    if (!whole) {
        free(plain);
        return NULL;
    }
    return plain;
}

Profile *read_profile(const void *data, size_t bytes) {
    size_t plain_bytes = 0;
    uint8_t *plain = inflate_whole(data, bytes, &plain_bytes);
    Profile *profile = plain == NULL ? NULL : heapprof__pprof__profile__unpack(NULL, plain_bytes, plain);
    free(plain);
    return profile;
}

const char *string_of(const Profile *profile, int64_t index) {
    bool there = index >= 0 && (size_t)index < profile->n_string_table;
    return there ? profile->string_table[index] : "(no such string)";
}

const char *comment_of(const Profile *profile, const char *key) {
    size_t length = strlen(key);
    for (size_t i = 0; i < profile->n_comment; i++) {
        const char *text = string_of(profile, profile->comment[i]);
        if (strncmp(text, key, length) == 0 && strncmp(text + length, ": ", 2) == 0) {
            return text + length + 2;
        }
    }
    return NULL;
}

/* By shape alone, which is enough to see a broken byte: a lead of n ones, n - 1 that continue. */
static void assert_utf8(const char *text) {
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        unsigned length = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : 4;
        assert_true(*p < 0x80 || (*p >= 0xc2 && *p <= 0xf4));
        for (unsigned i = 1; i < length; i++) {
            assert_int_equal(p[i] & 0xc0, 0x80);
        }
        p += length;
    }
}

static void assert_string(const Profile *profile, int64_t index) {
    assert_true(index >= 0 && (size_t)index < profile->n_string_table);
}

static void assert_sound_sample(const Profile *profile, const Sample *sample) {
    assert_int_equal(sample->n_value, profile->n_sample_type);
    for (size_t i = 0; i < sample->n_value; i++) {
        assert_true(sample->value[i] >= 0);
    }
    for (size_t i = 0; i < sample->n_location_id; i++) {
        assert_in_range(sample->location_id[i], 1, profile->n_location);
    }
    for (size_t i = 0; i < sample->n_label; i++) {
        assert_string(profile, sample->label[i]->key);
        assert_string(profile, sample->label[i]->num_unit);
    }
}

void assert_sound(const Profile *profile) {
    assert_true(profile->n_string_table > 0);
    assert_string_equal(profile->string_table[0], "");
    for (size_t i = 0; i < profile->n_string_table; i++) {
        assert_utf8(profile->string_table[i]);
    }
    for (size_t i = 0; i < profile->n_mapping; i++) {
        assert_int_equal(profile->mapping[i]->id, i + 1);
        assert_string(profile, profile->mapping[i]->filename);
        assert_string(profile, profile->mapping[i]->build_id);
    }
    for (size_t i = 0; i < profile->n_function; i++) {
        assert_int_equal(profile->function[i]->id, i + 1);
        assert_string(profile, profile->function[i]->name);
    }
    for (size_t i = 0; i < profile->n_location; i++) {
        const Heapprof__Pprof__Location *location = profile->location[i];
        assert_int_equal(location->id, i + 1);
        if (location->mapping_id != 0) {
            assert_in_range(location->mapping_id, 1, profile->n_mapping);
            const Heapprof__Pprof__Mapping *mapping = profile->mapping[location->mapping_id - 1];
            assert_in_range(location->address, mapping->memory_start, mapping->memory_limit - 1);
        }
        for (size_t k = 0; k < location->n_line; k++) {
            assert_in_range(location->line[k]->function_id, 1, profile->n_function);
        }
    }
    for (size_t i = 0; i < profile->n_sample; i++) {
        assert_sound_sample(profile, profile->sample[i]);
    }
    for (size_t i = 0; i < profile->n_comment; i++) {
        assert_string(profile, profile->comment[i]);
    }
}
