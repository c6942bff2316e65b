/*
 * The allocation functions of libc and of jemalloc, as applications see them.
 *
 * Each allocation has the same two ways: what passes the sampler goes straight on to jemalloc, a tail call;
 * what does not asks the recorder, and goes the ordinary way when the recorder declines. Frees look at the
 * address: most can't be a sampled object's.
 *
 * They work before any constructor has run (the countdown is zero, the recorder not ready: ordinary), and on
 * a thread whose TLS destructors are through (ours needs none).
 */
#include "heapprof/intake/interpose.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "heapprof/bookkeeping/live_set.h"
#include "heapprof/intake/allocator.h"
#include "heapprof/recorder.h"

#define PAGE ((size_t)4096)

/* What no header of glibc 2.36 declares: C23's, and jemalloc(3)'s. */
void free_sized(void *object, size_t size);
void free_aligned_sized(void *object, size_t alignment, size_t size);
void *mallocx(size_t size, int flags);
void *rallocx(void *object, size_t size, int flags);
size_t xallocx(void *object, size_t size, size_t extra, int flags);
size_t sallocx(const void *object, int flags);
void dallocx(void *object, int flags);
void sdallocx(void *object, size_t size, int flags);
size_t nallocx(size_t size, int flags);
int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len);
int mallctlnametomib(const char *name, size_t *mib, size_t *mib_len);
int mallctlbymib(const size_t *mib, size_t mib_len, void *old, size_t *old_len, void *new, size_t new_len);
void malloc_stats_print(void (*write)(void *, const char *), void *arg, const char *options);

/* The body of an allocation function: `ordinary` is jemalloc's own call, `flags` make the same by mallocx. */
#define ALLOCATE(size, flags, ordinary)                                                                      \
    hp_no_malloc_check();                                                                                    \
    if (hp_sampler_passes(size)) {                                                                           \
        return ordinary;                                                                                     \
    }                                                                                                        \
    void *sampled = hp_recorder_alloc(size, flags, HP_CALLER);                                               \
    return sampled != NULL ? sampled : ordinary

HP_EXPORT void *malloc(size_t size) {
    ALLOCATE(size, 0, je_malloc(size));
}

/* Apart, so that the ordinary way saves no registers. */
static __attribute__((noinline)) void *calloc_slow(size_t count, size_t size, const void *caller) {
    void *sampled = hp_recorder_alloc(count * size, HP_MALLOCX_ZERO, caller);
    return sampled != NULL ? sampled : je_calloc(count, size);
}

HP_EXPORT void *calloc(size_t count, size_t size) {
    size_t bytes = 0;
    hp_no_malloc_check();
    /* A product that overflows fails as it should, in jemalloc. */
    if (__builtin_mul_overflow(count, size, &bytes) || hp_sampler_passes(bytes)) {
        return je_calloc(count, size);
    }
    return calloc_slow(count, size, HP_CALLER);
}

/* An alignment that jemalloc refuses must not reach the recorder, which would honour it. */
static inline bool is_alignment(size_t alignment) {
    return alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= (size_t)1 << 40;
}

#define ALLOCATE_ALIGNED(alignment, size, ordinary)                                                          \
    if (!is_alignment(alignment)) {                                                                          \
        return ordinary;                                                                                     \
    }                                                                                                        \
    ALLOCATE(size, hp_allocator_align_flag(alignment), ordinary)

HP_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    ALLOCATE_ALIGNED(alignment, size, je_aligned_alloc(alignment, size));
}

/* Not je_memalign and je_valloc: in jemalloc 5.3.0 they set no errno, and of 0 bytes make an unaligned object. */
HP_EXPORT void *memalign(size_t alignment, size_t size) {
    ALLOCATE_ALIGNED(alignment, size, je_aligned_alloc(alignment, size));
}

HP_EXPORT void *valloc(size_t size) {
    ALLOCATE_ALIGNED(PAGE, size, je_aligned_alloc(PAGE, size));
}

HP_EXPORT void *pvalloc(size_t size) {
    size_t rounded = 0;
    if (__builtin_add_overflow(size, PAGE - 1, &rounded)) {
        errno = ENOMEM;
        return NULL;
    }
    rounded &= ~(PAGE - 1);
    ALLOCATE_ALIGNED(PAGE, rounded, je_aligned_alloc(PAGE, rounded));
}

HP_EXPORT int posix_memalign(void **out, size_t alignment, size_t size) {
    hp_no_malloc_check();
    if (!hp_sampler_passes(size) && is_alignment(alignment) && alignment >= sizeof(void *)) {
        void *sampled = hp_recorder_alloc(size, hp_allocator_align_flag(alignment), HP_CALLER);
        if (sampled != NULL) {
            *out = sampled;
            return 0;
        }
    }
    return je_posix_memalign(out, alignment, size);
}

HP_EXPORT void *mallocx(size_t size, int flags) {
    ALLOCATE(size, flags, je_mallocx(size, flags));
}

/* jemalloc 5.3.0 forgets errno where it can't grow an object. */
static inline void *reallocate(void *object, size_t size) {
    void *moved = je_realloc(object, size);
    if (__builtin_expect(moved == NULL, 0) && size != 0) {
        errno = ENOMEM;
    }
    return moved;
}

static void *ordinary_realloc(void *object, size_t size, int flags) {
    if (size == 0 || !hp_placement_is_dense(object)) {
        return reallocate(object, size);
    }
    void *moved = je_rallocx(object, size, hp_placement_flags(object, flags));
    if (moved == NULL) {
        errno = ENOMEM;
    }
    return moved;
}

static void *ordinary_rallocx(void *object, size_t size, int flags) {
    return je_rallocx(object, size, hp_placement_flags(object, flags));
}

static __attribute__((noinline)) void *realloc_slow(void *object, size_t size, const void *caller) {
    if (object != NULL) {
        return hp_recorder_realloc(object, size, 0, ordinary_realloc, caller);
    }
    void *sampled = hp_sampler_passes(size) ? NULL : hp_recorder_alloc(size, 0, caller);
    return sampled != NULL ? sampled : je_realloc(NULL, size);
}

HP_EXPORT void *realloc(void *object, size_t size) {
    hp_no_malloc_check();
    if (!hp_placement_may_be_sampled(object) && hp_sampler_passes(size)) {
        return reallocate(object, size);
    }
    return realloc_slow(object, size, HP_CALLER);
}

HP_EXPORT void *reallocarray(void *object, size_t count, size_t size) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    hp_no_malloc_check();
    if (!hp_placement_may_be_sampled(object) && hp_sampler_passes(bytes)) {
        return reallocate(object, bytes);
    }
    return realloc_slow(object, bytes, HP_CALLER);
}

HP_EXPORT void *rallocx(void *object, size_t size, int flags) {
    hp_no_malloc_check();
    if (!hp_placement_may_be_sampled(object) && hp_sampler_passes(size)) {
        return je_rallocx(object, size, flags);
    }
    return hp_recorder_realloc(object, size, flags, ordinary_rallocx, HP_CALLER);
}

/* In place, or not at all: the object keeps its sample, if it has one, with the size that it asked for. */
HP_EXPORT size_t xallocx(void *object, size_t size, size_t extra, int flags) {
    size_t before = je_sallocx(object, flags);
    size_t usable = je_xallocx(object, size, extra, flags);
    size_t after =
        hp_placement_may_be_sampled(object) ? je_sallocx(object, flags) : before; /* 5.3.0 may not tell all */
    if (after != before) {
        hp_recorder_resize(object, after < size ? after : size);
    }
    return usable;
}

__attribute__((noinline)) void hp_free_candidate(void *object) {
    if (!hp_live_set_may_hold(object) || (object != NULL && hp_recorder_free(object) != HP_FREE_DEFERRED)) {
        hp_placement_free(object); /* NULL too, which je_free knows */
    }
}

__attribute__((noinline)) void hp_free_page_aligned(void *object) {
    if (__builtin_expect(hp_live_set_may_hold_page(object), 0)) {
        hp_free_candidate(object);
    } else {
        je_free(object);
    }
}

__attribute__((noinline)) void hp_sdallocx_candidate(void *object, size_t size, int flags) {
    switch (object == NULL ? HP_FREE_DEFERRED : hp_recorder_free(object)) {
    case HP_FREE_ORDINARY:
        je_sdallocx(object, size, hp_placement_flags(object, flags));
        break;
    case HP_FREE_SAMPLED:
        je_dallocx(object, hp_placement_flags(object, flags));
        break;
    case HP_FREE_DEFERRED:
        break;
    }
}

HP_EXPORT void free(void *object) {
    hp_no_malloc_check();
    hp_free(object);
}

static __attribute__((noinline)) void dallocx_candidate(void *object, int flags) {
    if (hp_recorder_free(object) != HP_FREE_DEFERRED) {
        je_dallocx(object, hp_placement_flags(object, flags));
    }
}

HP_EXPORT void dallocx(void *object, int flags) {
    if (hp_placement_may_be_sampled(object)) {
        dallocx_candidate(object, flags);
    } else {
        je_dallocx(object, flags);
    }
}

HP_EXPORT void sdallocx(void *object, size_t size, int flags) {
    hp_free_of_size(object, size, flags);
}

/* C23. jemalloc gives an object of 0 bytes the size class of 1. */
HP_EXPORT void free_sized(void *object, size_t size) {
    hp_free_of_size(object, size + (size == 0), 0);
}

HP_EXPORT void free_aligned_sized(void *object, size_t alignment, size_t size) {
    hp_free_of_size(object, size + (size == 0), hp_allocator_align_flag(alignment));
}

HP_EXPORT size_t malloc_usable_size(void *object) {
    return je_malloc_usable_size(object);
}

HP_EXPORT size_t sallocx(const void *object, int flags) {
    return je_sallocx(object, flags);
}

HP_EXPORT size_t nallocx(size_t size, int flags) {
    return je_nallocx(size, flags);
}

/*
 * What the application tells jemalloc that decides where samples may lie (placement.h). A thread that has an
 * arena of the application's choice keeps it for its samples, too: such an arena may be reset or destroyed
 * with all that is in it.
 */
static struct order {
    const char *name; /* with an index in the middle when it has an end */
    const char *end;
    void (*note)(void);
    _Atomic size_t first; /* of jemalloc's numbers for the name, … */
    _Atomic size_t last;
    _Atomic size_t length; /* … which are as many; 0: never asked for */
} orders[] = {
    {.name = "thread.arena", .note = hp_placement_keep_arena},
    {.name = "arenas.create", .note = hp_placement_make_no_arena},
    {.name = "arena.", .end = ".extent_hooks", .note = hp_placement_make_no_arena},
    {.name = "experimental.arenas_create_ext", .note = hp_placement_make_no_arena},
};
#define END_OF_ORDERS (orders + sizeof orders / sizeof orders[0])

static bool is_named(const struct order *order, const char *name) {
    if (order->end == NULL) {
        return strcmp(name, order->name) == 0;
    }
    const char *end = strstr(name, order->end);
    return strncmp(name, order->name, strlen(order->name)) == 0 && end != NULL &&
           strcmp(end, order->end) == 0;
}

HP_EXPORT int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len) {
    bool is_order = new != NULL;
    for (const struct order *order = orders; is_order && order < END_OF_ORDERS; order++) {
        if (is_named(order, name)) {
            order->note();
        }
    }
    return je_mallctl(name, old, old_len, new, new_len);
}

HP_EXPORT int mallctlnametomib(const char *name, size_t *mib, size_t *mib_len) {
    int error = je_mallctlnametomib(name, mib, mib_len);
    for (struct order *order = orders; error == 0 && order < END_OF_ORDERS; order++) {
        if (*mib_len > 0 && is_named(order, name)) {
            order->first = mib[0];
            order->last = mib[*mib_len - 1];
            order->length = *mib_len;
        }
    }
    return error;
}

HP_EXPORT int mallctlbymib(const size_t *mib, size_t mib_len, void *old, size_t *old_len, void *new,
                           size_t new_len) {
    bool is_order = mib_len > 0 && new != NULL;
    for (const struct order *order = orders; is_order && order < END_OF_ORDERS; order++) {
        if (mib_len == order->length && mib[0] == order->first && mib[mib_len - 1] == order->last) {
            order->note();
        }
    }
    return je_mallctlbymib(mib, mib_len, old, old_len, new, new_len);
}

HP_EXPORT void malloc_stats_print(void (*write)(void *, const char *), void *arg, const char *options) {
    je_malloc_stats_print(write, arg, options);
}

/* glibc's: gives idle memory back; 1 when it may have. `pad` is a hint about the heap's top, which jemalloc
 * has not. */
HP_EXPORT int malloc_trim(size_t pad) {
    (void)pad;
    hp_allocator_purge();
    return 1;
}
