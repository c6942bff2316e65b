/*
 * The cost of a malloc and its free, in ns of CPU time, by three loops: what a profiler adds shows side by
 * side when the same program runs under different allocators.
 *
 *   pair    64 bytes, freed at once: the thread cache's best case. Not a process's very first 64 bytes, which
 * are page aligned, as one in 64 is: a profiler that tells sampled objects so would show its slower free
 *   random  16 to 1039 bytes, each replacing a random one of a working set
 *   page    4096 bytes, likewise: every object is page aligned, every free must be told from a sampled one's
 *
 *   pair_loops LOOP PAIRS ROUNDS      the median of the rounds, after one that does not count
 */
#include "bench.h"

enum { SET = 1024, ROUNDS_MAX = 100 };

static void *volatile escape;
static void *set[SET];
static unsigned long seed = 88172645463325252U;

static void loop_pair(long pairs) {
    set[0] = set[0] == NULL ? malloc(64) : set[0];
    for (long i = 0; i < pairs; i++) {
        void *p = malloc(64);
        escape = p;
        free(p);
    }
}

static void replace(size_t size, unsigned long random) {
    void **slot = &set[random % SET];
    free(*slot);
    *slot = malloc(size);
}

static void loop_random(long pairs) {
    for (long i = 0; i < pairs; i++) {
        unsigned long random = bench_next_random(&seed);
        replace(16 + (random >> 32) % 1024, random);
    }
}

static void loop_page(long pairs) {
    for (long i = 0; i < pairs; i++) {
        replace(4096, bench_next_random(&seed));
    }
}

static double measure(void (*loop)(long), long pairs, int rounds) {
    double took[ROUNDS_MAX];
    loop(pairs);
    for (int i = 0; i < rounds; i++) {
        double start = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
        loop(pairs);
        took[i] = (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)pairs;
    }
    return bench_median(took, (size_t)rounds);
}

int main(int argc, char **argv) {
    long pairs = argc == 4 ? atol(argv[2]) : 0;
    int rounds = argc == 4 ? atoi(argv[3]) : 0;
    if (pairs < 1 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: pair_loops pair|random|page PAIRS ROUNDS\n");
        return 2;
    }
    void (*loop)(long) = argv[1][0] == 'r' ? loop_random : loop_pair;
    loop = strcmp(argv[1], "page") == 0 ? loop_page : loop;
    printf("ns=%.3f\n", measure(loop, pairs, rounds));
    return 0;
}
