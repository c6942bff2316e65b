/*
 * Which allocations are sampled, and what each one stands for.
 *
 * Every byte of every allocation is a trial that succeeds with a small probability; an allocation is sampled
 * when one of its bytes succeeds. Instead of a coin for each byte, the distance to the next success is drawn:
 * an exponential of mean R (the period), rounded down, which is the geometric distribution of such trials
 * with success probability 1 - exp(-1/R). The hot path only counts down.
 *
 * An object of `size` bytes takes size + 1 places on that line, so that malloc(0) is not invisible. It is
 * sampled when the distance G left satisfies G <= size, and
 *
 *     P(sampled) = P(floor(X) <= size) = P(X < size + 1) = 1 - exp(-(size + 1) / R)  =: p(size)
 *
 * Distances without memory make this true whatever came before. A sample therefore stands for 1/p(size)
 * objects of its size: summed over samples, E[sum of 1/p] is the number of objects and E[sum of size/p] their
 * bytes, exactly, for any mix of sizes at one stack. Scaling sums by an average size afterwards (pprof's own
 * formula for Go's files) is biased for mixed sizes; nothing is scaled at dump time here.
 *
 * A period of 1 samples every allocation with weight 1: exact counts.
 */
#ifndef HP_INTAKE_SAMPLER_H
#define HP_INTAKE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/intake/thread_state.h"

/* The hot path: whether an allocation of `size` bytes passes unsampled; counts it. */
static inline __attribute__((always_inline)) bool hp_sampler_passes(size_t size) {
    uint64_t left = hp_thread.left;
    if (__builtin_expect(size < left, 1)) {
        hp_thread.left = left - size - 1;
        return true;
    }
    return false;
}

/* Sets the mean distance in bytes, >= 1. Before anything is sampled; not thread-safe. */
void hp_sampler_init(uint64_t period);

/* The cold path, for an allocation that did not pass, on a thread that is not muted: draws the next distance.
 * Returns whether this allocation is sampled; false only when the thread's first distance had yet to be
 * drawn and the allocation passes it. */
bool hp_sampler_expire(struct hp_thread *t, size_t size);

/* How many objects a sample of `size` bytes stands for: 1/p(size), as a weight (base/weight.h). */
uint64_t hp_sampler_weight(size_t size);

#endif
