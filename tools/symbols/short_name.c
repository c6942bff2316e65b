#include "tools/symbols/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

static bool ends_with(const char *text, size_t length, const char *end) {
    size_t size = strlen(end);
    return length >= size && memcmp(text + length - size, end, size) == 0;
}

/* Cuts "(…)" and what follows it, such as const, off the end; operator() keeps its own. */
static void drop_parameters(char *name) {
    char *close = strrchr(name, ')');
    if (close == NULL || strpbrk(close, ":>}") != NULL)
        return; /* it belongs to a scope: (anonymous namespace)::f, main::{lambda(int)#1} */
    size_t depth = 0, at = (size_t)(close - name) + 1;
    while (at > 0) {
        at--;
        depth += name[at] == ')';
        depth -= name[at] == '(';
        if (depth == 0)
            break;
    }
    if (at > 0 && depth == 0 && !ends_with(name, at, "operator"))
        name[at] = '\0';
}

static bool is_name_character(char letter) {
    return isalnum((unsigned char)letter) || letter == '_' || ((unsigned char)letter & 0x80) != 0;
}

/* Copies operator<, operator->, … whole: their brackets are no brackets. Returns how much it copied. */
static size_t copy_operator(const char *from, char *to) {
    static const char word[] = "operator";
    size_t length = sizeof word - 1;
    if (strncmp(from, word, length) != 0)
        return 0;
    length += strspn(from + length, "<>=-");
    memcpy(to, from, length);
    return length;
}

/* "Shelf<int, 3>::add<long>" becomes "Shelf<>::add<>"; a bracket without a name before it stays. */
static void empty_brackets(char *name) {
    char *short_name = hp_memory_new(strlen(name) + 1, 1), *to = short_name;
    size_t depth = 0;
    for (const char *at = name; *at != '\0'; at++) {
        bool starts_word = at == name || !is_name_character(at[-1]);
        size_t copied = depth == 0 && starts_word ? copy_operator(at, to) : 0;
        if (copied > 0) {
            to += copied;
            at += copied - 1;
        } else if (depth > 0) {
            depth += *at == '<';
            depth -= *at == '>' && at[-1] != '-';
            if (depth == 0)
                *to++ = '>';
        } else {
            depth += *at == '<' && at > name && is_name_character(at[-1]);
            *to++ = *at;
        }
    }
    if (depth == 0)
        strcpy(name, short_name);
    free(short_name);
}

char *hp_short_name(const char *name, size_t width) {
    char *clean = hp_text_clean(name);
    if (hp_text_width(clean) > width)
        drop_parameters(clean);
    if (hp_text_width(clean) > width)
        empty_brackets(clean);
    char *fitted = hp_text_fit(clean, width);
    free(clean);
    return fitted;
}
