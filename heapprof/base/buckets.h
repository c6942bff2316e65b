/*
 * How many buckets a hash table gets. Entries scatter over all of them, so that the first few hundred touch a page of
 * buckets each: a table that is much wider than what will be in it costs memory, not address space.
 */
#ifndef HP_BASE_BUCKETS_H
#define HP_BASE_BUCKETS_H

#include <stddef.h>
#include <stdint.h>

/* The power of two that is at least `wanted`, within `least` and `most`, which are such powers. */
static inline size_t hp_bucket_count(uint64_t wanted, size_t least, size_t most) {
    size_t count = least;
    while (count < wanted && count < most) {
        count *= 2;
    }
    return count;
}

#endif
