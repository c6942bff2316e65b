#include "text.h"

#include "account.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 512 };

static bool text_reserve(struct text *text, size_t more) {
    size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
    while (capacity < text->length + more)
        capacity *= 2;
    if (text->failed || capacity == text->capacity)
        return !text->failed;
    char *at = realloc(text->at, capacity);
    if (!at) {
        text->failed = true;
        return false;
    }
    account_add(ACCOUNT_SCRATCH, capacity - text->capacity);
    text->at = at;
    text->capacity = capacity;
    return true;
}

void text_put(struct text *text, struct slice piece) {
    if (piece.length == 0 || !text_reserve(text, piece.length))
        return;
    memcpy(text->at + text->length, piece.at, piece.length);
    text->length += piece.length;
}

void text_printf(struct text *text, const char *format, ...) {
    char piece[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof piece)
        text->failed = true;
    else
        text_put(text, (struct slice){piece, (size_t)length});
}

struct slice text_slice(const struct text *text) {
    return (struct slice){text->at, text->length};
}

void text_fini(struct text *text) {
    account_remove(ACCOUNT_SCRATCH, text->capacity);
    free(text->at);
    *text = (struct text){0};
}
