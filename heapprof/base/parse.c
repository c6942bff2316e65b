#include "heapprof/base/parse.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int hp_parse_u64(const char *text, uint64_t *value, const char **end) {
    uint64_t v = 0;
    const char *p = text;
    if (!is_digit(*p)) {
        return -1;
    }
    for (; is_digit(*p); p++) {
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v)) {
            return -1;
        }
    }
    *value = v;
    *end = p;
    return 0;
}

/* The power of 1024 that a unit names, or -1. */
static int unit_power(const char *unit, size_t len) {
    static const char letters[] = "KMGT";
    if (len == 0 || (len == 1 && (*unit == 'B' || *unit == 'b'))) {
        return 0;
    }
    bool tail_fits = len == 1 || (len == 2 && strncasecmp(unit + 1, "B", 1) == 0) ||
                     (len == 2 && strncasecmp(unit + 1, "i", 1) == 0) || /* Kubernetes */
                     (len == 3 && strncasecmp(unit + 1, "iB", 2) == 0);
    for (int i = 0; tail_fits && letters[i] != '\0'; i++) {
        if (*unit == letters[i] || *unit == letters[i] + ('a' - 'A')) {
            return i + 1;
        }
    }
    return -1;
}

/* Reads ".5" as a numerator and a power of ten. The digits past the ninth change nothing that is a byte of
 * a sensible size; they are read and dropped. */
static int parse_fraction(const char **at, uint64_t *numerator, uint64_t *denominator) {
    *numerator = 0;
    *denominator = 1;
    if (**at != '.') {
        return 0;
    }
    const char *p = *at + 1;
    if (!is_digit(*p)) {
        return -1;
    }
    for (; is_digit(*p); p++) {
        if (*denominator < 1000000000) {
            *numerator = *numerator * 10 + (uint64_t)(*p - '0');
            *denominator *= 10;
        }
    }
    *at = p;
    return 0;
}

int hp_parse_size(const char *text, size_t len, uint64_t *bytes) {
    char copy[64];
    while (len > 0 && is_blank(*text)) {
        text++;
        len--;
    }
    while (len > 0 && is_blank(text[len - 1])) {
        len--;
    }
    if (len == 0 || len >= sizeof copy) {
        return -1;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';

    uint64_t whole = 0;
    uint64_t numerator = 0;
    uint64_t denominator = 1;
    const char *p = copy;
    if (hp_parse_u64(p, &whole, &p) != 0 || parse_fraction(&p, &numerator, &denominator) != 0) {
        return -1;
    }
    while (is_blank(*p)) {
        p++;
    }
    int power = unit_power(p, strlen(p));
    if (power < 0) {
        return -1;
    }
    uint64_t unit = UINT64_C(1) << (10 * power);
    uint64_t part = (uint64_t)((unsigned __int128)numerator * unit / denominator);
    uint64_t total = 0;
    if (__builtin_mul_overflow(whole, unit, &total) || __builtin_add_overflow(total, part, &total)) {
        return -1;
    }
    *bytes = total;
    return 0;
}
