#include "heapprof/intake/placement.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/rng.h"
#include "heapprof/intake/thread_state.h"

/*
 * The dense arena. Nothing is reserved: the arena's extents are mapped one behind the other from a random
 * place on, by hints that the kernel follows where the addresses are free. So an address space with a limit
 * loses no more than what is used, and what else wants those addresses can have them first.
 *
 * It costs 96 KiB, and jemalloc's first mallctl 144 KiB more; so a process has it from its 32nd small sample
 * on.
 */
enum { SMALL_MAX = 14336, FIRST_SAMPLES = 32, LG_PAGE = 12, PAGE = 1 << LG_PAGE, TRIES = 4 };

/* How far on the next try is when a place is taken. */
#define LEAP (UINT64_C(1) << 34)
#define STEP (UINT64_C(1) << 21)

enum { ARENA_NONE, ARENA_IN_MAKING, ARENA_READY, ARENA_REFUSED };
static _Atomic int state;
static _Atomic uint32_t samples;
static int arena_flag; /* set before ARENA_READY */
uintptr_t hp_placement_bound;

static _Atomic uint64_t next_address; /* where the next extent is tried */

/* In the lower half, so that as much again lies behind it. */
static uint64_t draw_address(void) {
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes, not aligned */
    uint64_t seed = (uint64_t)hp_clock_ns();
    if (random != NULL) {
        uint64_t boot[2];
        memcpy(boot, random, sizeof boot);
        seed ^= hp_rng_mix(boot[0] ^ boot[1]);
    }
    return HP_PLACEMENT_START +
           hp_rng_mix(seed) % ((HP_PLACEMENT_END - HP_PLACEMENT_START) / 2 / STEP) * STEP;
}

/* Claims `bytes` of addresses, aligned, that nobody else of us will try. Behind the end it begins again at
 * the start: that is 6 TiB of extents later, or more. */
static uint64_t claim(size_t bytes, size_t alignment) {
    uint64_t from = atomic_load_explicit(&next_address, memory_order_relaxed);
    uint64_t at = 0;
    do {
        at = (from + alignment - 1) & ~(uint64_t)(alignment - 1);
        if (at + bytes > HP_PLACEMENT_END) {
            at = (HP_PLACEMENT_START + alignment - 1) & ~(uint64_t)(alignment - 1);
        }
    } while (!atomic_compare_exchange_weak_explicit(&next_address, &from, at + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return at;
}

/* Maps exactly there, or not at all. mmap itself, not hp_os_mmap: a refusal is nobody's shortage, the sample
 * then goes elsewhere. */
static void *map_at(uint64_t address, size_t bytes) {
    void *wanted = (void *)(uintptr_t)address;
    void *mapped =
        mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        return NULL;
    }
    if (mapped != wanted) {
        (void)munmap(mapped, bytes);
        return NULL;
    }
    (void)madvise(mapped, bytes, MADV_NOHUGEPAGE); /* a huge page for a few samples is what this is against */
    return mapped;
}

/* -- jemalloc's extent hooks (jemalloc(3), arena.<i>.extent_hooks) -- */

static void *extent_alloc(struct hp_extent_hooks *hooks, void *address, size_t bytes, size_t alignment,
                          bool *zero, bool *commit, unsigned arena) {
    (void)hooks;
    (void)arena;
    void *mapped = NULL;
    if (bytes > HP_PLACEMENT_END - HP_PLACEMENT_START || alignment > LEAP) {
        return NULL;
    }
    for (int i = 0; address == NULL && mapped == NULL && i < TRIES; i++) {
        mapped = map_at(claim(bytes, alignment), bytes);
        if (mapped == NULL) {
            (void)claim(LEAP, STEP);
        }
    }
    if (address != NULL) { /* the one behind an extent that is to grow */
        bool is_inside = hp_placement_is_dense((const char *)address + bytes - 1);
        mapped = is_inside ? map_at((uintptr_t)address, bytes) : NULL;
    }
    if (mapped != NULL) {
        *zero = true;
        *commit = true;
    }
    return mapped;
}

static bool extent_purge(struct hp_extent_hooks *hooks, void *address, size_t bytes, size_t offset,
                         size_t length, unsigned arena) {
    (void)hooks;
    (void)bytes;
    (void)arena;
    return madvise((char *)address + offset, length, MADV_DONTNEED) != 0;
}

/* The kernel does not care where one mapping ends. */
static bool extent_split(struct hp_extent_hooks *hooks, void *address, size_t bytes, size_t a, size_t b,
                         bool committed, unsigned arena) {
    (void)hooks, (void)address, (void)bytes, (void)a, (void)b, (void)committed, (void)arena;
    return false;
}

static bool extent_merge(struct hp_extent_hooks *hooks, void *a, size_t a_bytes, void *b, size_t b_bytes,
                         bool committed, unsigned arena) {
    (void)hooks, (void)a, (void)a_bytes, (void)b, (void)b_bytes, (void)committed, (void)arena;
    return false;
}

/* What is not done: jemalloc keeps the addresses of what it purged, and uses them again. NULL would tell it
 * the same, but not an application that puts its own hooks around those of every arena: jemalloc's have no
 * NULL. */

static bool extent_keep(struct hp_extent_hooks *hooks, void *address, size_t bytes, bool committed,
                        unsigned arena) {
    (void)hooks, (void)address, (void)bytes, (void)committed, (void)arena;
    return true;
}

static void extent_destroy(struct hp_extent_hooks *hooks, void *address, size_t bytes, bool committed,
                           unsigned arena) {
    (void)hooks, (void)address, (void)bytes, (void)committed, (void)arena;
}

static bool extent_decline(struct hp_extent_hooks *hooks, void *address, size_t bytes, size_t offset,
                           size_t length, unsigned arena) {
    (void)hooks, (void)address, (void)bytes, (void)offset, (void)length, (void)arena;
    return true;
}

static struct hp_extent_hooks extent_hooks = {.alloc = extent_alloc,
                                              .dalloc = extent_keep,
                                              .destroy = extent_destroy,
                                              .commit = extent_decline,
                                              .decommit = extent_decline,
                                              .purge_lazy = extent_decline,
                                              .purge_forced = extent_purge,
                                              .split = extent_split,
                                              .merge = extent_merge};

/* -- The arena -- */

/* Whether an object of the size saves memory in the dense arena: a small one whose size class is no multiple of a
 * page, so that its alignment costs nothing. */
static bool is_worth_packing(size_t size) {
    return size <= SMALL_MAX && (size <= PAGE / 2 || je_nallocx(size, 0) % PAGE != 0);
}

/* One object of each size, never touched and never freed: so no slab becomes empty, and is given up and made anew,
 * each time that the only sample of its size is freed and another one taken. That took 150 ns. */
static void place_anchors(int flags) {
    for (size_t size = 8; size <= SMALL_MAX; size = je_nallocx(size + 1, 0)) {
        (void)(is_worth_packing(size) && je_mallocx(size, flags) != NULL);
    }
}

static bool make_arena(void) {
    struct hp_extent_hooks *hooks = &extent_hooks;
    unsigned arena = 0;
    size_t bytes = sizeof arena;
    atomic_store_explicit(&next_address, draw_address(), memory_order_relaxed);
    if (je_mallctl("arenas.create", &arena, &bytes, &hooks, sizeof hooks) != 0 ||
        arena > HP_MALLOCX_ARENA_MAX) {
        return false;
    }
    arena_flag = hp_allocator_arena_flag(arena);
    hp_placement_bound = HP_PLACEMENT_END;
    place_anchors(arena_flag | HP_MALLOCX_TCACHE_NONE);
    /* jemalloc takes nine pages for an arena's statistics when it is first asked for them: not in a dump. */
    size_t allocated = 0;
    size_t resident = 0;
    hp_allocator_totals(&allocated, &resident);
    return true;
}

/* Whether the dense arena is there; makes it, if it is time. */
static bool has_arena(void) {
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now != ARENA_NONE) {
        return now == ARENA_READY;
    }
    if (atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed) + 1 < FIRST_SAMPLES ||
        !atomic_compare_exchange_strong(&state, &now, ARENA_IN_MAKING)) {
        return false;
    }
    now = make_arena() ? ARENA_READY : ARENA_REFUSED;
    atomic_store_explicit(&state, now, memory_order_release);
    return now == ARENA_READY;
}

/* The flags for a dense object; 0 when it has to be aligned to a page instead. */
static int dense_flags(size_t size, int flags) {
    const int understood = HP_MALLOCX_LG_ALIGN_MASK | HP_MALLOCX_ZERO | HP_MALLOCX_TCACHE_MASK;
    if (!is_worth_packing(size) || (flags & HP_MALLOCX_LG_ALIGN_MASK) >= LG_PAGE || (flags & ~understood) != 0 ||
        hp_thread.keeps_arena || !has_arena()) {
        return 0;
    }
    return (flags & ~HP_MALLOCX_TCACHE_MASK) | HP_MALLOCX_TCACHE_NONE | arena_flag;
}

/* The application may have changed the hooks of all arenas, ours among them. */
static void *keep_if_dense(void *object) {
    if (object != NULL && !hp_placement_is_dense(object)) {
        je_dallocx(object, HP_MALLOCX_TCACHE_NONE);
        return NULL;
    }
    return object;
}

/* A small object that is aligned to a page has more room than its size is due. Zero, for who knows its size
 * from nallocx: what it gains by rallocx(MALLOCX_ZERO) has to be. */
static void *with_clear_rest(void *object, size_t size, int flags) {
    if (object != NULL && size <= SMALL_MAX) {
        size_t due = je_nallocx(size, flags);
        memset((char *)object + due, 0, je_sallocx(object, 0) - due);
    }
    return object;
}

void *hp_placement_alloc(size_t size, int flags) {
    int dense = dense_flags(size, flags);
    void *object = dense != 0 ? keep_if_dense(je_mallocx(size, dense)) : NULL;
    return object != NULL ? object
                          : with_clear_rest(je_mallocx(size, hp_allocator_page_aligned(flags)), size, flags);
}

void *hp_placement_realloc(void *object, size_t size, int flags) {
    if (dense_flags(size, flags) == 0) {
        void *moved = je_rallocx(object, size, hp_placement_flags(object, hp_allocator_page_aligned(flags)));
        return with_clear_rest(moved, size, flags);
    }
    /* rallocx would leave an ordinary object where it is when its size class stays the same. */
    void *moved = hp_placement_alloc(size, flags);
    if (moved != NULL) {
        size_t old = je_sallocx(object, 0);
        memcpy(moved, object, old < size ? old : size);
        je_dallocx(object, hp_placement_flags(object, flags));
    }
    return moved;
}

void hp_placement_keep_arena(void) {
    hp_thread.keeps_arena = true;
}

void hp_placement_make_no_arena(void) {
    int now = ARENA_NONE;
    (void)atomic_compare_exchange_strong(&state, &now, ARENA_REFUSED);
}

/* The thread that was making it is not here. */
void hp_placement_fork_child(void) {
    int now = ARENA_IN_MAKING;
    (void)atomic_compare_exchange_strong(&state, &now, ARENA_NONE);
}
