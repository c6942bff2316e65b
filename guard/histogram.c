#include "guard/histogram.h"

enum { SUB_BUCKETS = 1 << GUARD_HISTOGRAM_SUB_BITS };

/*
 * With u the value in units: below 32 each u has its own bucket; above, with the highest 6 bits of u being 32
 * + s and d the number of bits behind them, the bucket is 32 (d + 1) + s. So bucket 32 is u = 32, and nothing
 * is left out between.
 */
static unsigned bucket_of(uint64_t value) {
    uint64_t units = value >> GUARD_HISTOGRAM_UNIT_BITS;
    if (units < SUB_BUCKETS) {
        return (unsigned)units;
    }
    unsigned bits = 63 - (unsigned)__builtin_clzll(units);
    unsigned behind = bits - GUARD_HISTOGRAM_SUB_BITS;
    unsigned bucket = SUB_BUCKETS * (behind + 1) + (unsigned)(units >> behind) - SUB_BUCKETS;
    return bucket < GUARD_HISTOGRAM_BUCKETS ? bucket : GUARD_HISTOGRAM_BUCKETS - 1;
}

static uint64_t middle_of(unsigned bucket) {
    uint64_t units = bucket;
    unsigned behind = 0;
    if (bucket >= SUB_BUCKETS) {
        behind = bucket / SUB_BUCKETS - 1;
        units = (uint64_t)(SUB_BUCKETS + bucket % SUB_BUCKETS) << behind;
    }
    uint64_t width = UINT64_C(1) << (behind + GUARD_HISTOGRAM_UNIT_BITS);
    return (units << GUARD_HISTOGRAM_UNIT_BITS) + width / 2;
}

void guard_histogram_add(struct guard_histogram *histogram, uint64_t value, uint64_t weight) {
    histogram->weight[bucket_of(value)] += weight;
    histogram->total += weight;
}

uint64_t guard_histogram_value(const struct guard_histogram *histogram, unsigned per_mille) {
    if (histogram->total == 0) {
        return 0;
    }
    /* total * per_mille / 1000, rounded up, without an overflow. */
    uint64_t wanted =
        histogram->total / 1000 * per_mille + (histogram->total % 1000 * per_mille + 999) / 1000;
    uint64_t seen = 0;
    unsigned bucket = 0;
    for (; bucket < GUARD_HISTOGRAM_BUCKETS - 1; bucket++) {
        seen += histogram->weight[bucket];
        if (seen >= wanted && seen > 0) {
            break;
        }
    }
    return middle_of(bucket);
}
