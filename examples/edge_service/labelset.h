/*
 * Label sets: the names and values that tell one time series from another ("method=GET status=200 …"), with
 * the series' numbers. Interned: the same labels always give the same object. The registry owns them all,
 * and its lock covers every function here.
 */
#ifndef EDGE_LABELSET_H
#define EDGE_LABELSET_H

#include "slice.h"
#include "table.h"

enum { SERIES_BUCKETS = 12 };

struct label {
    const char *name; /* a literal */
    struct slice value;
};

struct label_set {
    struct table_node node;
    size_t size;                      /* bytes of this block: the struct, its labels and their text */
    uint64_t buckets[SERIES_BUCKETS]; /* how often at most 1, 2, 4 … 1024 us, and more */
    uint64_t count;
    double seconds;
    size_t label_count;
    struct label labels[];
};

/* The set of these labels, made and kept if it is new. NULL: out of memory. */
struct label_set *labelset_intern(struct table *sets, const struct label *labels, size_t count);

/* Frees every set of the table, and its slots. */
void labelset_clear(struct table *sets);

#endif
