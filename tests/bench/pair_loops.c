/*
 * The cost of a malloc and its free, in ns, by three loops: what a profiler adds shows side by side when the
 * same program runs under different allocators (compare_pairs.sh).
 *
 *   pair    64 bytes, freed at once: the thread cache's best case
 *   random  16 to 1039 bytes, each replacing a random one of a working set
 *   page    4096 bytes, likewise: every object is page aligned, every free must be told from a sampled one's
 *
 * Prints one line: the three figures, each the median of several rounds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, SET = 1024, PAIRS = 4000000 };

static void *volatile escape;
static void *set[SET];
static uint64_t seed = 88172645463325252U;

static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void loop_pair(void) {
    for (int i = 0; i < PAIRS; i++) {
        void *p = malloc(64);
        escape = p;
        free(p);
    }
}

static void replace(size_t size, uint64_t random) {
    void **slot = &set[random % SET];
    free(*slot);
    *slot = malloc(size);
}

static void loop_random(void) {
    for (int i = 0; i < PAIRS; i++) {
        uint64_t random = next_random();
        replace(16 + (random >> 32) % 1024, random);
    }
}

static void loop_page(void) {
    for (int i = 0; i < PAIRS; i++) {
        replace(4096, next_random());
    }
}

static void empty_set(void) {
    for (int i = 0; i < SET; i++) {
        free(set[i]);
        set[i] = NULL;
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(void (*loop)(void)) {
    double rounds[ROUNDS];
    loop();
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_ns();
        loop();
        rounds[i] = (now_ns() - start) / PAIRS;
    }
    empty_set();
    qsort(rounds, ROUNDS, sizeof rounds[0], by_value);
    return rounds[ROUNDS / 2];
}

int main(void) {
    double pair = median_ns(loop_pair);
    double random = median_ns(loop_random);
    double page = median_ns(loop_page);
    printf("%.2f %.2f %.2f\n", pair, random, page);
    return 0;
}
