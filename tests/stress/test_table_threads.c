/*
 * The tables under threads, as the recorder uses them: six allocate and free sampled objects, half of them
 * ones that another thread has made; one resizes; one takes snapshots; one forks. P7, P22.
 *
 * Meant for ThreadSanitizer. Without it, it still finds what is lost or counted twice (in the end nothing is
 * in use and every entry is back), a snapshot that refers to what is not in it, and a child that hangs.
 *
 * usage: stress_table_threads [seconds, default 3]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heapprof/base/rng.h"
#include "heapprof/base/weight.h"
#include "heapprof/bookkeeping/live_set.h"
#include "heapprof/bookkeeping/snapshot.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

enum { EXCHANGE = 512, STACKS = 30000, LIVE_BYTES = 1 << 20, CAPACITY = LIVE_BYTES / 32 - 1 };

/* Objects on their way from the thread that made them to one that frees them. */
static _Atomic uintptr_t exchange[EXCHANGE];
static _Atomic uint64_t made;
static _Atomic bool is_over;
static _Atomic uint64_t objects;
static _Atomic uint64_t full;

static void die(const char *what) {
    (void)fprintf(stderr, "%s\n", what);
    abort();
}

static uint32_t module_of(uintptr_t pc) {
    char path[32];
    (void)snprintf(path, sizeof path, "/lib/%lu.so", pc % 50);
    struct hp_module module = {.start = pc % 50 * 4096, .end = pc % 50 * 4096 + 4096, .path = path};
    return hp_module_table_add(&module);
}

static uint32_t find_stack(uint64_t random) {
    uint64_t n = random % STACKS;
    struct hp_stack_trace trace = {.depth = (uint32_t)(1 + n % 20), .truncated = n % 7 == 0};
    for (uint32_t i = 0; i < trace.depth; i++) {
        trace.pcs[i] = 0x10000 + (n + i * 1000003) % 40000;
    }
    return hp_stack_table_find(&trace);
}

/* Each address once, and all of them in 32 buckets, so that threads meet in them. */
static uintptr_t new_address(void) {
    uint64_t n = atomic_fetch_add(&made, 1) + 1;
    return (n * HP_LIVE_BUCKETS_MIN + n % 32) << HP_PAGE_SHIFT;
}

static uintptr_t make(uint64_t *random) {
    uint64_t bits = hp_rng_next(random);
    uint32_t entry = hp_live_set_reserve((unsigned)bits);
    if (entry == 0) {
        atomic_fetch_add(&full, 1);
        return 0;
    }
    struct hp_live stale;
    struct hp_live live = {.object = new_address(),
                           .size = bits >> 40,
                           .weight = HP_WEIGHT_ONE + bits % 1000000,
                           .stack = find_stack(hp_rng_next(random))};
    hp_stack_table_add(live.stack, live.weight, hp_weight_bytes(live.weight, live.size));
    uintptr_t object = live.object;
    if (hp_live_set_insert(entry, &live, &stale)) {
        die("a new address was there already");
    }
    atomic_fetch_add(&objects, 1);
    return object;
}

static void unmake(uintptr_t object) {
    struct hp_live live;
    if (!hp_live_set_may_hold((const void *)object)) {
        die("an object is not seen");
    }
    uint32_t entry = hp_live_set_remove((const void *)object, &live);
    if (entry == 0 || live.object != object) {
        die("an object is lost");
    }
    hp_stack_table_subtract(live.stack, live.weight, hp_weight_bytes(live.weight, live.size));
    hp_live_set_release(entry);
}

static void *work(void *seed) {
    uint64_t random = (uintptr_t)seed;
    while (!atomic_load(&is_over)) {
        uintptr_t mine = make(&random);
        _Atomic uintptr_t *slot = &exchange[hp_rng_next(&random) % EXCHANGE];
        uintptr_t other = atomic_exchange(slot, mine);
        if (other != 0) {
            unmake(other);
        }
    }
    return NULL;
}

/* Takes an object out of the exchange, so that nobody frees it meanwhile, and resizes it. */
static void *resize(void *seed) {
    uint64_t random = (uintptr_t)seed;
    while (!atomic_load(&is_over)) {
        uint64_t bits = hp_rng_next(&random);
        uintptr_t object = atomic_exchange(&exchange[bits % EXCHANGE], 0);
        struct hp_live before;
        if (object == 0) {
            continue;
        }
        size_t size = bits >> 44;
        if (!hp_live_set_resize((const void *)object, size, &before)) {
            die("an object to resize is lost");
        }
        hp_stack_table_resize(before.stack, hp_weight_bytes(before.weight, before.size),
                              hp_weight_bytes(before.weight, size));
        unmake(object);
    }
    return NULL;
}

static void *take_snapshots(void *nothing) {
    (void)nothing;
    size_t end = 0;
    while (!atomic_load(&is_over)) {
        struct hp_snapshot snapshot;
        struct hp_stack_view view;
        hp_snapshot_take(&snapshot);
        if (snapshot.stacks_end < end) {
            die("stacks went");
        }
        end = snapshot.stacks_end;
        while (hp_snapshot_next_stack(&snapshot, &view)) {
            for (uint32_t i = 0; i < view.depth; i++) {
                uint32_t frame = view.frames[i];
                if (frame == 0 || frame > snapshot.frames ||
                    hp_frame_table_get(frame)->module > snapshot.modules) {
                    die("a snapshot refers to what is not in it");
                }
            }
            if ((int64_t)view.counts.inuse_bytes < 0 || (int64_t)view.counts.inuse_objects < 0) {
                die("in use below zero");
            }
        }
    }
    return NULL;
}

/* What init.c does around fork(). The child, alone now, uses every table. */
static void fork_once(void) {
    hp_stack_table_fork_prepare();
    hp_frame_table_fork_prepare();
    hp_module_table_fork_prepare();
    hp_live_set_fork_prepare();
    pid_t pid = fork();
    if (pid == 0) {
        hp_live_set_fork_child();
        hp_module_table_fork_child();
        hp_frame_table_fork_child();
        hp_stack_table_fork_child();
        uint64_t random = 99;
        (void)alarm(10);
        for (int i = 0; i < 200; i++) {
            uintptr_t object = make(&random);
            if (object != 0) {
                unmake(object);
            }
        }
        (void)hp_frame_table_add(0x999999);
        _exit(0);
    }
    hp_live_set_fork_parent();
    hp_module_table_fork_parent();
    hp_frame_table_fork_parent();
    hp_stack_table_fork_parent();
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        die("a forked child hung or failed");
    }
}

/* TSan follows no fork of a process with threads; there the others are what is looked at. */
static void *fork_on(void *nothing) {
    (void)nothing;
    while (!UNDER_TSAN && !atomic_load(&is_over)) {
        fork_once();
    }
    return NULL;
}

static void check_end(void) {
    for (unsigned i = 0; i < EXCHANGE; i++) {
        uintptr_t left = atomic_load(&exchange[i]);
        if (left != 0) {
            unmake(left);
        }
    }
    struct hp_stack_view view;
    size_t cursor = 0;
    unsigned stacks = 0;
    while (hp_stack_table_next(&cursor, hp_stack_table_end(), &view)) {
        stacks++;
        if (view.counts.inuse_objects != 0 || view.counts.inuse_bytes != 0) {
            die("something is still in use");
        }
    }
    unsigned entries = 0;
    while (hp_live_set_reserve(entries) != 0) {
        entries++;
    }
    if (entries != CAPACITY) {
        die("entries of the live set are lost");
    }
    (void)printf("%lu objects, %u stacks, %u frames, %u modules; full %lu times\n", objects, stacks,
                 hp_frame_table_count(), hp_module_table_count(), full);
    if (hp_module_table_count() != 50 || stacks > STACKS + 1 || full != 0) {
        die("a table holds what it should not");
    }
}

int main(int argc, char **argv) {
    int seconds = argc > 1 ? atoi(argv[1]) : 3;
    void *(*const bodies[])(void *) = {resize, take_snapshots, fork_on, work, work, work, work, work, work};
    enum { THREADS = sizeof bodies / sizeof bodies[0] };
    pthread_t threads[THREADS];
    (void)alarm((unsigned)seconds + 120);
    if (!hp_module_table_init() || !hp_frame_table_init(1 << 20, module_of) ||
        !hp_stack_table_init(16 << 20) || !hp_live_set_init(LIVE_BYTES, HP_LIVE_BUCKETS_MIN)) {
        die("no address space");
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, bodies[i], (void *)(i + 1)) != 0) { /* the seed */
            die("pthread_create");
        }
    }
    (void)sleep((unsigned)seconds);
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    check_end();
    return 0;
}
