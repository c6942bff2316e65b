/*
 * base/parse on any text, against a regular expression and long double: what is a size, and how many bytes.
 */
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heapprof/base/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BLANK "[ \t\r\n]*"
static const char grammar[] = "^" BLANK "([0-9]+(\\.[0-9]+)?)" BLANK "([kmgt]?)(i?b?)" BLANK "$";

static const regex_t *compiled(void) {
    static regex_t regex;
    static bool done;
    if (!done && regcomp(&regex, grammar, REG_EXTENDED | REG_ICASE) != 0) {
        abort();
    }
    done = true;
    return &regex;
}

/* What the text says; < 0 when it is no size. */
static long double expected(const char *text) {
    regmatch_t part[5];
    if (regexec(compiled(), text, 5, part, 0) != 0) {
        return -1;
    }
    bool has_letter = part[3].rm_eo > part[3].rm_so;
    bool has_i = part[4].rm_eo > part[4].rm_so && (text[part[4].rm_so] | 0x20) == 'i';
    if (has_i && !has_letter) {
        return -1; /* "1iB" */
    }
    long double unit = 1;
    const char *letters = "kmgt";
    for (int i = 0; has_letter && i < 4; i++) {
        unit *= 1024;
        if ((text[part[3].rm_so] | 0x20) == letters[i]) {
            break;
        }
    }
    return strtold(text + part[1].rm_so, NULL) * unit;
}

/* Without the blanks around, how long it is: 64 and more are refused. */
static size_t trimmed(const char *text) {
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL) {
        n--;
    }
    size_t blanks = strspn(text, " \t\r\n");
    return n > blanks ? n - blanks : 0;
}

static void check(const char *text) {
    uint64_t bytes = 0;
    bool is_size = hp_parse_size(text, strlen(text), &bytes) == 0;
    long double value = expected(text);
    bool should = value >= 0 && value < 0x1p64L && trimmed(text) < 64;
    bool borderline = value > 0x1p64L - 0x1p34L && value < 0x1p64L + 0x1p34L; /* its fraction decides */
    if (is_size != should && !borderline) {
        abort();
    }
    /* Digits past the ninth of a fraction are dropped: a unit's billionth, and the byte of rounding down. */
    if (is_size && !borderline &&
        ((long double)bytes > value || value - (long double)bytes > 1 + 0x1p40L * 1e-9L)) {
        abort();
    }
    uint64_t number = 0;
    const char *end = NULL;
    if (hp_parse_u64(text, &number, &end) == 0 &&
        (end == text || end > text + strlen(text) || (*end >= '0' && *end <= '9'))) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    uint64_t bytes = 0;
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    check(text);
    (void)hp_parse_size((const char *)data, size, &bytes); /* no NUL behind it: what it reads is its length */
    free(text);
    return 0;
}
