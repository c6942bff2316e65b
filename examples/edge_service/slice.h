/* A piece of text that somebody else owns; not terminated by a zero. */
#ifndef EDGE_SLICE_H
#define EDGE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *at;
    size_t length;
};

/* The whole of a C string. */
static inline struct slice slice_of(const char *text) {
    return (struct slice){text, strlen(text)};
}

static inline bool slice_equal(struct slice a, struct slice b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

#endif
