/*
 * Where sampled objects lie, so that free() knows from an address alone that it need not ask the live set.
 *
 * Small ones are packed as densely as any: they have an arena of jemalloc's to themselves, whose memory is
 * mapped in a part of the address space where the kernel puts nothing of its own accord (placement.c): it
 * lies below 2^45, jemalloc's other memory above (0x7f…, or 0x2a… with an unlimited stack). One comparison
 * with one word; a page each, which is the cost of an alignment, was 3 % of a 128 MB limit.
 *
 * Large ones lie where they would lie anyhow, aligned to a page, which costs them nothing: so that the
 * application's big buffers keep their arenas, locks and huge pages. Small ones too are aligned to a page
 * where the dense arena can't or should not be used: in its first moments, when the address space is refused,
 * when the application asks for an arena of its choice, when it brings extent hooks of its own.
 *
 * An ordinary object may look like a sampled one: page aligned, or in the break of a program at a fixed
 * address. It costs one probe of the live set, nothing else.
 *
 * All functions: any thread; they take jemalloc's locks and none of ours, and keep nothing of errno.
 */
#ifndef HP_INTAKE_PLACEMENT_H
#define HP_INTAKE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/intake/allocator.h"

/* The dense arena's part of the address space. */
#define HP_PLACEMENT_START UINT64_C(0x140000000000)
#define HP_PLACEMENT_END UINT64_C(0x200000000000)

/* HP_PLACEMENT_END when there is a dense arena, else 0. Written once, before anyone has an object from there; not
 * atomic, because gcc would then load it with an instruction of its own. */
extern uintptr_t hp_placement_bound __attribute__((visibility("hidden")));

static inline __attribute__((always_inline)) bool hp_placement_is_page_aligned(const void *object) {
    return __builtin_expect(((uintptr_t)object & 4095) == 0, 0);
}

/* Whether `object` could have been sampled. NULL could. The hot path's question. */
static inline __attribute__((always_inline)) bool hp_placement_may_be_sampled(const void *object) {
    return hp_placement_is_page_aligned(object) || __builtin_expect((uintptr_t)object < hp_placement_bound, 0);
}

/* Whether `object` lies where only the dense arena has memory. */
static inline bool hp_placement_is_dense(const void *object) {
    return (uintptr_t)object - HP_PLACEMENT_START < HP_PLACEMENT_END - HP_PLACEMENT_START;
}

/* `flags`, as for mallocx, for whatever jemalloc shall do to an existing object: those of the dense arena
 * stay out of the thread caches, where ordinary allocations would get them. */
static inline int hp_placement_flags(const void *object, int flags) {
    return hp_placement_is_dense(object) ? (flags & ~HP_MALLOCX_TCACHE_MASK) | HP_MALLOCX_TCACHE_NONE : flags;
}

/* mallocx for an object that is to be sampled; size > 0. NULL when there is no memory. */
void *hp_placement_alloc(size_t size, int flags);

/* rallocx likewise. NULL when there is no memory: `object` is then as it was. */
void *hp_placement_realloc(void *object, size_t size, int flags);

/* je_free for an object that may be a sampled one. */
static inline void hp_placement_free(void *object) {
    if (hp_placement_is_dense(object)) {
        je_dallocx(object, HP_MALLOCX_TCACHE_NONE);
    } else {
        je_free(object);
    }
}

/* From now on this thread's objects belong to an arena that the application has chosen. */
void hp_placement_keep_arena(void);

/* The application is about to give jemalloc extent hooks: no dense arena is made any more. Hooks may
 * allocate, and may wait for who allocates, while jemalloc holds the lock that arenas are made under. */
void hp_placement_make_no_arena(void);

/* In a forked child. */
void hp_placement_fork_child(void);

#endif
