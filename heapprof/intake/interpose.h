/*
 * What interpose.c and interpose_cxx.c share: the two decisions of the hot path, and freeing.
 */
#ifndef HP_INTAKE_INTERPOSE_H
#define HP_INTAKE_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/base/no_malloc.h"
#include "heapprof/intake/sampler.h"

#define HP_EXPORT __attribute__((visibility("default")))

/* The application's return address, in a function that it called. */
#define HP_CALLER __builtin_return_address(0)

/* Whether `object` could have been sampled: those are page aligned. NULL is, too. */
static inline __attribute__((always_inline)) bool hp_is_page_aligned(const void *object) {
    return __builtin_expect(((uintptr_t)object & 4095) == 0, 0);
}

/* Frees of page-aligned objects. `flags` as for dallocx. */
void hp_free_page_aligned(void *object);
void hp_dallocx_page_aligned(void *object, int flags);
void hp_sdallocx_page_aligned(void *object, size_t size, int flags);

#endif
