/*
 * A text that grows as it is written: the body of one response. Owned by one thread at a time. Running out
 * of memory is remembered in `failed`; what is written after that is dropped.
 */
#ifndef EDGE_TEXT_H
#define EDGE_TEXT_H

#include "slice.h"

struct text {
    char *at; /* NULL while empty */
    size_t length, capacity;
    bool failed;
};

void text_put(struct text *text, struct slice piece);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What has been written; valid until the next write. */
struct slice text_slice(const struct text *text);

/* Frees it and makes it empty. */
void text_fini(struct text *text);

#endif
