/*
 * base/lock under more threads than processors: nested locks of rising rank, some taken with a time limit
 * that is often too short. What each guards is plain memory, so ThreadSanitizer sees a lock that does not;
 * without it the sums do, and the alarm sees a wake-up that got lost.
 *
 * usage: stress_lock_threads [seconds, default 3]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/lock.h"
#include "heapprof/base/rng.h"

enum { THREADS = 8, RANKS = 3 };

static struct guarded {
    struct hp_lock lock;
    uint64_t count; /* guarded by lock; twice, written apart */
    uint64_t again;
} guarded[RANKS] = {{.lock = HP_LOCK_INIT(HP_RANK_STACKS)},
                    {.lock = HP_LOCK_INIT(HP_RANK_LIVE)},
                    {.lock = HP_LOCK_INIT(HP_RANK_ARENA)}};

static _Atomic bool is_over;

struct worker {
    pthread_t thread;
    uint64_t random;
    uint64_t counted[RANKS];
    uint64_t gave_up;
};

static void die(const char *what) {
    (void)fprintf(stderr, "%s\n", what);
    abort();
}

static bool take(struct worker *w, struct hp_lock *lock) {
    uint64_t bits = hp_rng_next(&w->random);
    if (bits % 4 != 0) {
        hp_lock_take(lock);
        return true;
    }
    bool held = hp_lock_take_within(lock, (int64_t)(bits >> 8) % 20000);
    w->gave_up += !held;
    return held;
}

static void count_from(struct worker *w, unsigned rank) {
    struct guarded *g = &guarded[rank];
    if (!take(w, &g->lock)) {
        return;
    }
    if (g->count != g->again) {
        die("two threads held one lock");
    }
    g->count++;
    w->counted[rank]++;
    if (rank + 1 < RANKS && hp_rng_next(&w->random) % 4 == 0) {
        count_from(w, rank + 1);
    }
    g->again++;
    hp_lock_release(&g->lock);
}

static void *work(void *argument) {
    struct worker *w = argument;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        count_from(w, (unsigned)(hp_rng_next(&w->random) % RANKS));
    }
    return NULL;
}

int main(int argc, char **argv) {
    static struct worker workers[THREADS];
    int seconds = argc > 1 ? atoi(argv[1]) : 3;
    (void)alarm((unsigned)seconds + 60);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].random = i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            die("pthread_create");
        }
    }
    (void)sleep((unsigned)seconds);
    atomic_store(&is_over, true);
    uint64_t counted[RANKS] = {0};
    uint64_t gave_up = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        gave_up += workers[i].gave_up;
        for (unsigned r = 0; r < RANKS; r++) {
            counted[r] += workers[i].counted[r];
        }
    }
    for (unsigned r = 0; r < RANKS; r++) {
        if (guarded[r].count != counted[r] || guarded[r].again != counted[r] || guarded[r].lock.state != 0) {
            die("a count is wrong");
        }
    }
    (void)printf("%lu, %lu, %lu times held; gave up %lu times\n", counted[0], counted[1], counted[2],
                 gave_up);
    return 0;
}
