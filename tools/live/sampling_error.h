/*
 * How far a profile's total may be off because it was sampled.
 *
 * An object of s bytes is sampled with probability p(s) = 1 - exp(-(s + 1) / R) at a period of R bytes, and
 * then counts for 1/p objects (heapprof/intake/sampler.h). The variance of a total is so the sum of s² (1 -
 * p) / p over the objects; each stack's is estimated from its own count and mean size. For objects much
 * smaller than R that is R times the total: a relative standard error of one over the root of the number of
 * samples. Large objects are nearly all sampled and add next to nothing.
 */
#ifndef HP_TOOLS_SAMPLING_ERROR_H
#define HP_TOOLS_SAMPLING_ERROR_H

#include <stddef.h>

#include "tools/profile/profile.h"

/* Above this relative standard error, that of 100 samples of small objects, a total is called uncertain: it
 * is off by a fifth and more in one of twenty captures, a function that holds a quarter of it by two fifths.
 */
#define HP_SAMPLING_TRUSTED 0.1

struct hp_sampling_error {
    double samples;  /* about how many there were */
    double relative; /* the total's standard error as a part of it; 0 without samples */
};

/*
 * Of the pair of sample types, objects and bytes. A negative value counts as what it took away: of a
 * difference, in which growth and shrinking at one stack cancel out, the result is the least that the error
 * can be.
 */
struct hp_sampling_error hp_sampling_error_of(const struct hp_profile *profile, size_t objects, size_t bytes);

#endif
