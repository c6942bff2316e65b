/*
 * How long a usage was how high, in a fixed table: log-linear buckets of at least one page, 32 to each
 * doubling, so a bucket is at most 1/32 of its value wide, and its middle, which is what is given back, at
 * most 1/64 away. Values of 256 TiB and more share the last bucket. 8 KiB, most of which is never touched.
 * Pure; the caller guards it.
 */
#ifndef GUARD_HISTOGRAM_H
#define GUARD_HISTOGRAM_H

#include <stdint.h>

enum { GUARD_HISTOGRAM_UNIT_BITS = 12, GUARD_HISTOGRAM_SUB_BITS = 5, GUARD_HISTOGRAM_BUCKETS = 1024 };

/* All zero: empty. */
struct guard_histogram {
    uint64_t total;
    uint64_t weight[GUARD_HISTOGRAM_BUCKETS];
};

/* Counts `value` (bytes) with `weight` (ns). The sum of all weights must stay below 2^64: 584 years. */
void guard_histogram_add(struct guard_histogram *histogram, uint64_t value, uint64_t weight);

/* The smallest value that was not exceeded for `per_mille` thousandths of the weight (1..1000): the middle of
 * its bucket. 0 when the histogram is empty. */
uint64_t guard_histogram_value(const struct guard_histogram *histogram, unsigned per_mille);

#endif
