#include "heapprof/intake/sampler.h"

#include <math.h>
#include <string.h>
#include <sys/auxv.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/rng.h"
#include "heapprof/base/weight.h"

/* A distance beyond this many means has a probability of 2e-9; without a cap it could silence a thread. */
static const double LONGEST_GAP = 20.0;

static uint64_t period;

void hp_sampler_init(uint64_t new_period) {
    period = new_period;
}

/* Different for every process (the kernel's AT_RANDOM), thread and moment. */
static uint64_t seed(const struct hp_thread *t) {
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes, not aligned */
    uint64_t z = hp_rng_mix((uint64_t)(uintptr_t)t) ^ (uint64_t)hp_clock_ns();
    if (random != NULL) {
        uint64_t boot[2];
        memcpy(boot, random, sizeof boot);
        z ^= hp_rng_mix(boot[0] ^ boot[1]);
    }
    return hp_rng_mix(z) | 1;
}

static uint64_t draw(struct hp_thread *t) {
    if (period <= 1) {
        return 0;
    }
    /* log() of a number in (0, 1] raises no floating-point exception but "inexact". */
    double gap = -log(hp_rng_unit(&t->random));
    return (uint64_t)((gap < LONGEST_GAP ? gap : LONGEST_GAP) * (double)period);
}

static void redraw(struct hp_thread *t) {
    t->gap = draw(t);
    t->left = t->gap;
}

bool hp_sampler_expire(struct hp_thread *t, size_t size) {
    if (t->random == 0) {
        t->random = seed(t);
        redraw(t);
        if (hp_sampler_passes(size)) {
            return false;
        }
    }
    redraw(t);
    return true;
}

uint64_t hp_sampler_weight(size_t size) {
    if (period <= 1) {
        return HP_WEIGHT_ONE;
    }
    double probability = -expm1(-((double)size + 1.0) / (double)period);
    return (uint64_t)((double)HP_WEIGHT_ONE / probability + 0.5);
}
