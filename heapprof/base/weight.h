/*
 * How many objects a sample stands for, as a fixed-point number: what an allocation adds, its free subtracts
 * to the last bit, which a sum of floating-point numbers does not promise.
 */
#ifndef HP_BASE_WEIGHT_H
#define HP_BASE_WEIGHT_H

#include <stdint.h>

/* One object. */
#define HP_WEIGHT_ONE (UINT64_C(1) << 16)

/* A sum of weights in whole objects, rounded. */
static inline uint64_t hp_weight_objects(uint64_t weight) {
    return (weight + HP_WEIGHT_ONE / 2) / HP_WEIGHT_ONE;
}

/* The bytes of `weight` objects of `size` bytes, rounded. */
static inline uint64_t hp_weight_bytes(uint64_t weight, uint64_t size) {
    return (uint64_t)(((unsigned __int128)size * weight + HP_WEIGHT_ONE / 2) / HP_WEIGHT_ONE);
}

#endif
