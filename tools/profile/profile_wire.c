#include "tools/profile/profile_wire.h"

#include <string.h>

#include "tools/base/utf8.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
enum field { FIELD_STRING = 6, FIELD_FIRST_SINGULAR = 7, FIELD_COMMENT = 13, FIELD_LAST = 15 };

struct cursor {
    const uint8_t *at, *end;
};

struct walk {
    uint32_t seen; /* a bit for each singular field */
    size_t strings;
};

static bool read_varint(struct cursor *cursor, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (cursor->at == cursor->end)
            return false;
        uint8_t byte = *cursor->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Leaves the payload of the field in [*from, cursor->at). */
static bool skip_field(struct cursor *cursor, uint64_t wire_type, const uint8_t **from) {
    uint64_t length = 0;
    *from = cursor->at;
    switch (wire_type) {
    case WIRE_VARINT:
        return read_varint(cursor, &length);
    case WIRE_FIXED64:
        length = 8;
        break;
    case WIRE_FIXED32:
        length = 4;
        break;
    case WIRE_BYTES:
        if (!read_varint(cursor, &length))
            return false;
        *from = cursor->at;
        break;
    default:
        return false;
    }
    if (length > (uint64_t)(cursor->end - cursor->at))
        return false;
    cursor->at += length;
    return true;
}

static bool check_string(struct walk *walk, const uint8_t *text, size_t size, struct hp_error *error) {
    size_t number = walk->strings++;
    if (number == 0 && size != 0)
        return hp_error_set(error, "is not a pprof profile: its first string is not empty");
    if (memchr(text, 0, size) != NULL)
        return hp_error_set(error, "has a zero byte in string %zu", number);
    if (!hp_utf8_is_valid(text, size))
        return hp_error_set(error, "has invalid UTF-8 in string %zu", number);
    return true;
}

static bool check_field(struct walk *walk, uint64_t field, const uint8_t *from, size_t size,
                        struct hp_error *error) {
    if (field == FIELD_STRING)
        return check_string(walk, from, size, error);
    if (field < FIELD_FIRST_SINGULAR || field > FIELD_LAST || field == FIELD_COMMENT)
        return true;
    uint32_t bit = 1U << field;
    if ((walk->seen & bit) != 0)
        return hp_error_set(error, "is several profiles in a row (field %u is given twice): take them apart",
                            (unsigned)field);
    walk->seen |= bit;
    return true;
}

static bool starts_with(const uint8_t *data, size_t size, const char *text) {
    size_t length = strlen(text);
    return size >= length && memcmp(data, text, length) == 0;
}

/* Two text forms of heap profiles are common enough to be named. */
static bool check_text_forms(const uint8_t *data, size_t size, struct hp_error *error) {
    if (starts_with(data, size, "heap_v2/"))
        return hp_error_set(
            error, "is a raw jemalloc heap dump, not a pprof profile: heapprof convert makes one of it");
    if (starts_with(data, size, "heap profile:"))
        return hp_error_set(error, "is a heap profile in the old text form, not a pprof profile");
    return true;
}

static bool not_a_profile(size_t size, size_t offset, struct hp_error *error) {
    return hp_error_set(error, "is not a pprof profile, or a damaged one (byte %zu of %zu)", offset, size);
}

bool hp_wire_check(const uint8_t *data, size_t size, struct hp_error *error) {
    struct cursor cursor = {data, data + size};
    struct walk walk = {0};
    if (!check_text_forms(data, size, error))
        return false;
    while (cursor.at < cursor.end) {
        size_t offset = (size_t)(cursor.at - data);
        const uint8_t *from = NULL;
        uint64_t tag = 0;
        if (!read_varint(&cursor, &tag) || tag >> 3 == 0 || tag > UINT32_MAX ||
            !skip_field(&cursor, tag & 7, &from))
            return not_a_profile(size, offset, error);
        if (tag >> 3 == FIELD_STRING && (tag & 7) != WIRE_BYTES)
            return not_a_profile(size, offset, error);
        if (!check_field(&walk, tag >> 3, from, (size_t)(cursor.at - from), error))
            return false;
    }
    if (walk.strings == 0)
        return hp_error_set(error, "is not a pprof profile: it has no strings");
    return true;
}
