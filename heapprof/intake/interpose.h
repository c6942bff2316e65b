/*
 * What interpose.c and interpose_cxx.c share: the two decisions of the hot path, and freeing.
 */
#ifndef HP_INTAKE_INTERPOSE_H
#define HP_INTAKE_INTERPOSE_H

#include <stddef.h>

#include "heapprof/base/no_malloc.h"
#include "heapprof/intake/placement.h"
#include "heapprof/intake/sampler.h"

#define HP_EXPORT __attribute__((visibility("default")))

/* The application's return address, in a function that it called. */
#define HP_CALLER __builtin_return_address(0)

/* Frees of objects that may be sampled ones (placement.h). `flags` as for dallocx. */
void hp_free_candidate(void *object);
void hp_free_page_aligned(void *object); /* in some programs that is most of them */
void hp_sdallocx_candidate(void *object, size_t size, int flags);

/* The whole of free() and of the unsized operators delete. */
static inline __attribute__((always_inline)) void hp_free(void *object) {
    if (hp_placement_is_page_aligned(object)) {
        hp_free_page_aligned(object);
    } else if (hp_placement_may_be_sampled(object)) {
        hp_free_candidate(object);
    } else {
        je_free(object);
    }
}

/* The same for sdallocx and the sized ones. */
static inline __attribute__((always_inline)) void hp_free_of_size(void *object, size_t size, int flags) {
    if (hp_placement_may_be_sampled(object)) {
        hp_sdallocx_candidate(object, size, flags);
    } else {
        je_sdallocx(object, size, flags);
    }
}

#endif
