/*
 * Random numbers for the sampler: splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", OOPSLA 2014). One word of state a thread, a few cycles a draw.
 */
#ifndef HP_BASE_RNG_H
#define HP_BASE_RNG_H

#include <stdint.h>

static inline uint64_t hp_rng_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The next 64 random bits; any state will do as a seed. */
static inline uint64_t hp_rng_next(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return hp_rng_mix(*state);
}

/* Uniform in (0, 1]: never 0, so that its logarithm is finite. */
static inline double hp_rng_unit(uint64_t *state) {
    return (double)((hp_rng_next(state) >> 11) + 1) * 0x1p-53;
}

#endif
