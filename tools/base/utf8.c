#include "tools/base/utf8.h"

static bool continues(uint8_t byte) {
    return (byte & 0xc0) == 0x80;
}

/* The second byte is where overlong forms, surrogates and too large numbers show (RFC 3629). */
static bool second_fits(uint8_t first, uint8_t second) {
    switch (first) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second < 0xa0;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t hp_utf8_length(const uint8_t *text, size_t size) {
    if (size == 0)
        return 0;
    uint8_t first = text[0];
    if (first < 0x80)
        return 1;
    size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length == 0 || length > size || !second_fits(first, text[1]))
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!continues(text[i]))
            return 0;
    return length;
}

bool hp_utf8_is_valid(const uint8_t *text, size_t size) {
    for (size_t at = 0, step; at < size; at += step) {
        step = hp_utf8_length(text + at, size - at);
        if (step == 0)
            return false;
    }
    return true;
}
