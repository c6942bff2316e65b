/*
 * Sampled small objects lie as densely as others, in the arena that the application wants, and give their
 * memory back. All of it holds for objects that are not sampled too, so it is run with both.
 *
 *   placement [occupied|full|hooks]
 *
 * occupied: the addresses that heapprof would use are taken before its first sample; full: they are when
 * there are some already; hooks: before all else an arena is made, with hooks that allocate.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "weak_api.h"

enum { SIZE = 64, OBJECTS = 4096, PAGE = 4096, MANY = 200000, EARLY = 64 };

static void *objects[MANY];
static bool is_refused; /* the addresses: then a sample takes a page */

/* All of user space below 2^45 that has no neighbour yet. */
static void occupy(void) {
    const uintptr_t end = (uintptr_t)1 << 45;
    const uintptr_t step = (uintptr_t)1 << 34;
    for (uintptr_t at = (uintptr_t)1 << 44; at < end; at += step) {
        void *taken = mmap((void *)at, step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                           -1, 0);
        CHECK(taken == (void *)at || errno == EEXIST);
    }
}

static int by_address(const void *a, const void *b) {
    uintptr_t x = *(const uintptr_t *)a;
    uintptr_t y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

static unsigned pages_of(unsigned count) {
    static uintptr_t pages[OBJECTS];
    unsigned distinct = 0;
    for (unsigned i = 0; i < count; i++) {
        pages[i] = (uintptr_t)objects[i] / PAGE;
    }
    qsort(pages, count, sizeof *pages, by_address);
    for (unsigned i = 0; i < count; i++) {
        distinct += i == 0 || pages[i] != pages[i - 1];
    }
    return distinct;
}

static void take(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        objects[i] = malloc(SIZE);
        CHECK(objects[i] != NULL);
        memset(objects[i], (int)i, SIZE);
    }
}

static void give_back(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        free(objects[i]);
    }
}

/* Twice: what is freed is used again. */
static void they_are_dense(void) {
    for (int round = 0; round < 2; round++) {
        take(OBJECTS);
        CHECK(is_refused || pages_of(OBJECTS) <= OBJECTS * SIZE / PAGE + 4);
        give_back(OBJECTS);
    }
}

enum statm { MAPPED, RESIDENT };

static long bytes_of(enum statm what) {
    long pages[2] = {0};
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &pages[0], &pages[1]) == 2);
    fclose(file);
    return pages[what] * PAGE;
}

static long resident(void) {
    return bytes_of(RESIDENT);
}

/* `room`: how much more may be mapped when it is to go back; 0: as much as there is. */
static void memory_goes_back(long room) {
    long before = resident();
    take(MANY);
    long full = resident();
    if (room > 0) {
        rlim_t most = (rlim_t)(bytes_of(MAPPED) + room);
        CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) == 0);
    }
    give_back(MANY);
    CHECK(malloc_trim(0) == 1);
    long after = resident();
    CHECK(room > 0 || full - before >= MANY * SIZE);
    CHECK(full - after >= MANY * SIZE * 9L / 10);
}

static bool is_filled(const unsigned char *p, size_t bytes, int value) {
    for (size_t i = 0; i < bytes; i++) {
        if (p[i] != (unsigned char)value) {
            return false;
        }
    }
    return true;
}

/* Through all sizes, small to large and back: contents, alignment, usable size. */
static void they_are_reallocated(void) {
    static const size_t sizes[] = {24, 25, 64, 500, 3000, 4096, 5000, 14336, 14337, 70000, 14000, 4096, 100, 100, 8};
    unsigned char *p = malloc(8);
    size_t old = 8;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(p, (int)i, old);
        p = i % 2 == 0 ? realloc(p, sizes[i]) : reallocarray(p, sizes[i], 1);
        CHECK(p != NULL && is_filled(p, old < sizes[i] ? old : sizes[i], (int)i));
        CHECK(is_aligned(p, sizes[i] < 16 ? 8 : 16) && malloc_usable_size(p) >= sizes[i]);
        old = sizes[i];
    }
    p = realloc(p, 64);
    p = realloc(p, 0);
    free(p);
}

static void they_are_aligned(void) {
    for (size_t alignment = 8; alignment <= 8192; alignment *= 2) {
        for (size_t size = 1; size < 20000; size = size * 3 + 1) {
            void *p = NULL;
            CHECK(posix_memalign(&p, alignment, size) == 0 && is_aligned(p, alignment));
            memset(p, 0xa5, malloc_usable_size(p));
            free(p);
            p = calloc(1, size);
            CHECK(p != NULL && is_filled(p, size, 0));
            free(p);
        }
    }
}

/* -- jemalloc's own functions -- */

#define IN_ARENA(arena) ((int)(((arena) + 1) << 20))
#define NO_CACHE 0x100
#define ZEROED 0x40

static unsigned make_arena(void) {
    unsigned arena = 0;
    size_t bytes = sizeof arena;
    CHECK(mallctl("arenas.create", &arena, &bytes, NULL, 0) == 0);
    return arena;
}

static unsigned arena_of(void *object) {
    unsigned arena = 0;
    size_t bytes = sizeof arena;
    CHECK(mallctl("arenas.lookup", &arena, &bytes, &object, sizeof object) == 0);
    return arena;
}

static void flags_are_followed(void) {
    unsigned arena = make_arena();
    void *p = mallocx(SIZE, IN_ARENA(arena) | NO_CACHE);
    CHECK(arena_of(p) == arena);
    p = rallocx(p, 3 * SIZE, IN_ARENA(arena) | NO_CACHE);
    CHECK(arena_of(p) == arena);
    dallocx(p, NO_CACHE);
    p = mallocx(SIZE, NO_CACHE);
    CHECK(sallocx(p, 0) >= SIZE && xallocx(p, SIZE, 0, 0) == sallocx(p, 0));
    dallocx(p, NO_CACHE);
}

/* By nallocx(SIZE) the object has SIZE bytes: all behind them is what it gains, also in memory that was used
 * before. */
static void what_is_gained_is_zero(void) {
    for (int i = 0; i < 1000; i++) {
        void *used = mallocx(PAGE, NO_CACHE);
        memset(used, 0xee, PAGE);
        dallocx(used, NO_CACHE);
        CHECK(nallocx(SIZE, 0) == SIZE && nallocx(4 * SIZE, 0) == 4 * SIZE);
        void *p = mallocx(SIZE, NO_CACHE);
        memset(p, 7, SIZE);
        p = rallocx(p, 4 * SIZE, ZEROED);
        CHECK(is_filled(p, SIZE, 7) && is_filled((unsigned char *)p + SIZE, 3 * SIZE, 0));
        sdallocx(p, 4 * SIZE, 0);
    }
}

/* -- Extent hooks, as in jemalloc(3) -- */

struct hooks {
    void *(*alloc)(struct hooks *, void *, size_t, size_t, bool *, bool *, unsigned);
    bool (*dalloc)(struct hooks *, void *, size_t, bool, unsigned);
    void (*destroy)(struct hooks *, void *, size_t, bool, unsigned);
    bool (*commit)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*decommit)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*purge_lazy)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*purge_forced)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*split)(struct hooks *, void *, size_t, size_t, size_t, bool, unsigned);
    bool (*merge)(struct hooks *, void *, size_t, void *, size_t, bool, unsigned);
};
enum { ARENAS_MAX = 4096 };
static struct hooks *inner[ARENAS_MAX]; /* each arena's own */

/* Calls what the arena has had, whatever that is. */
static void *outer_alloc(struct hooks *hooks, void *at, size_t bytes, size_t alignment, bool *zero,
                         bool *commit, unsigned arena) {
    (void)hooks;
    return inner[arena]->alloc(inner[arena], at, bytes, alignment, zero, commit, arena);
}
static bool outer_dalloc(struct hooks *hooks, void *at, size_t bytes, bool committed, unsigned arena) {
    (void)hooks;
    return inner[arena]->dalloc(inner[arena], at, bytes, committed, arena);
}
static void outer_destroy(struct hooks *hooks, void *at, size_t bytes, bool committed, unsigned arena) {
    (void)hooks;
    inner[arena]->destroy(inner[arena], at, bytes, committed, arena);
}
#define OUTER_PART(name)                                                                                     \
    static bool outer_##name(struct hooks *hooks, void *at, size_t bytes, size_t offset, size_t length,      \
                             unsigned arena) {                                                               \
        (void)hooks;                                                                                         \
        return inner[arena]->name(inner[arena], at, bytes, offset, length, arena);                           \
    }
OUTER_PART(commit)
OUTER_PART(decommit)
OUTER_PART(purge_lazy)
OUTER_PART(purge_forced)
static bool outer_split(struct hooks *hooks, void *at, size_t bytes, size_t a, size_t b, bool committed,
                        unsigned arena) {
    (void)hooks;
    return inner[arena]->split(inner[arena], at, bytes, a, b, committed, arena);
}
static bool outer_merge(struct hooks *hooks, void *a, size_t a_bytes, void *b, size_t b_bytes, bool committed,
                        unsigned arena) {
    (void)hooks;
    return inner[arena]->merge(inner[arena], a, a_bytes, b, b_bytes, committed, arena);
}

static struct hooks outer = {.alloc = outer_alloc,
                             .dalloc = outer_dalloc,
                             .destroy = outer_destroy,
                             .commit = outer_commit,
                             .decommit = outer_decommit,
                             .purge_lazy = outer_purge_lazy,
                             .purge_forced = outer_purge_forced,
                             .split = outer_split,
                             .merge = outer_merge};

static void all_hooks_may_be_wrapped(void) {
    unsigned arenas = 0;
    size_t bytes = sizeof arenas;
    CHECK(mallctl("arenas.narenas", &arenas, &bytes, NULL, 0) == 0 && arenas <= ARENAS_MAX);
    for (unsigned i = 0; i < arenas; i++) {
        char name[64];
        struct hooks *mine = &outer;
        bytes = sizeof mine;
        snprintf(name, sizeof name, "arena.%u.extent_hooks", i);
        int error = mallctl(name, &inner[i], &bytes, &mine, sizeof mine);
        CHECK(error == 0 || error == EFAULT); /* nobody has used that arena yet */
    }
    take(MANY);
    give_back(MANY);
    CHECK(malloc_trim(0) == 1);
    they_are_dense();
}

static void *allocating_alloc(struct hooks *hooks, void *at, size_t bytes, size_t alignment, bool *zero,
                              bool *commit, unsigned arena) {
    (void)hooks;
    for (int i = 0; i < EARLY; i++) {
        void *volatile p = malloc(SIZE);
        CHECK(p != NULL);
        free(p);
    }
    return inner[0]->alloc(inner[0], at, bytes, alignment, zero, commit, arena);
}

/* jemalloc calls them while it makes the arena, and lets them allocate. By name, or by its number for the
 * name. */
static void hooks_may_allocate(void) {
    size_t bytes = sizeof inner[0];
    CHECK(mallctl("arena.0.extent_hooks", &inner[0], &bytes, NULL, 0) == 0);
    static struct hooks allocating;
    struct hooks *hooks = &allocating;
    allocating = *inner[0];
    allocating.alloc = allocating_alloc;
    size_t mib[2];
    size_t length = 2;
    CHECK(mallctlnametomib("arenas.create", mib, &length) == 0);
    for (int i = 0; i < 2; i++) {
        unsigned arena = 0;
        bytes = sizeof arena;
        CHECK((i == 0 ? mallctlbymib(mib, length, &arena, &bytes, &hooks, sizeof hooks)
                      : mallctl("arenas.create", &arena, &bytes, &hooks, sizeof hooks)) == 0);
        void *p = mallocx(SIZE, IN_ARENA(arena) | NO_CACHE);
        CHECK(arena_of(p) == arena);
        dallocx(p, NO_CACHE);
    }
}

/* A thread whose objects are to die with its arena; told by name, or by jemalloc's number for the name. */
static void *in_own_arena(void *by_name) {
    unsigned arena = make_arena();
    if (by_name != NULL) {
        CHECK(mallctl("thread.arena", NULL, NULL, &arena, sizeof arena) == 0);
    } else {
        size_t mib[2];
        size_t length = 2;
        CHECK(mallctlnametomib("thread.arena", mib, &length) == 0);
        CHECK(mallctlbymib(mib, length, NULL, NULL, &arena, sizeof arena) == 0);
    }
    for (int i = 0; i < 100; i++) {
        CHECK(arena_of(malloc(SIZE)) == arena);
    }
    return NULL;
}

static void threads_keep_their_arena(void) {
    static int yes;
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, in_own_arena, i == 0 ? &yes : NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

static void *without_room(void *unused) {
    memory_goes_back(1 << 20);
    return unused;
}

/* Also for a thread that has asked for nothing of the kind before. The limit stays. */
static void it_goes_back_without_room(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, without_room, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void children_do_the_same(void) {
    take(OBJECTS);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        give_back(OBJECTS);
        they_are_dense();
        it_goes_back_without_room();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    give_back(OBJECTS);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    is_refused = *what != '\0';
    if (strcmp(what, "occupied") == 0) {
        occupy();
    }
    if (strcmp(what, "hooks") == 0 && mallctl != NULL) {
        alarm(60); /* for who would wait for itself */
        hooks_may_allocate();
        alarm(0);
    }
    take(EARLY); /* the first samples of a process may lie elsewhere */
    if (strcmp(what, "full") == 0) {
        occupy();
    }
    they_are_dense();
    they_are_reallocated();
    they_are_aligned();
    memory_goes_back(0);
    children_do_the_same();
    if (mallctl != NULL) { /* HEAPPROF or not: the library is there */
        flags_are_followed();
        what_is_gained_is_zero();
        threads_keep_their_arena();
        all_hooks_may_be_wrapped();
    }
    return 0;
}
