/*
 * The cost of a malloc and its free, by three loops: what a profiler adds shows side by side when the same
 * program runs under different allocators.
 *
 *   pair    64 bytes, freed at once: the thread cache's best case. Not a process's very first 64 bytes: they
 *           are page aligned, as one object in 64 is, and a free of those may be dearer
 *   random  16 to 1039 bytes, each replacing a random one of a working set
 *   page    4096 bytes, likewise: every object is page aligned, every free must be told from a sampled one's
 *
 *   pair_loops LOOP PAIRS ROUNDS      ns of CPU time, the median of the rounds, after one that does not count
 *   pair_loops LOOP PAIRS count       instructions, the loop's own included, after pairs that do not count
 *
 * Instructions are counted by the processor's trap flag, a signal each. Not by valgrind: there memory has
 * other addresses, and by addresses heapprof tells what it may have sampled.
 */
#include <signal.h>
#include <stdbool.h>

#include "bench.h"

enum { SET = 1024, ROUNDS_MAX = 100, WARM_PAIRS = 100000 };

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

static volatile unsigned long traps;

static void on_trap(int number) {
    (void)number;
    traps++;
}

/* The trap flag makes the processor raise SIGTRAP after each instruction. (x86-64; below the red zone.) */
#define SET_TRAP_FLAG(instruction)                                                                           \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" instruction                                      \
                     "\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::                                                 \
                         : "memory", "cc")

static double count(void (*loop)(long), long pairs) {
    struct sigaction action = {.sa_handler = on_trap};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTRAP, &action, NULL);
    loop(WARM_PAIRS);
    SET_TRAP_FLAG("orq $0x100, (%%rsp)");
    loop(pairs);
    SET_TRAP_FLAG("andq $~0x100, (%%rsp)");
    return (double)traps / (double)pairs;
}

int main(int argc, char **argv) {
    long pairs = argc == 4 ? atol(argv[2]) : 0;
    int rounds = argc == 4 ? atoi(argv[3]) : 0;
    bool is_count = argc == 4 && strcmp(argv[3], "count") == 0;
    if (pairs < 1 || (!is_count && (rounds < 1 || rounds > ROUNDS_MAX))) {
        fprintf(stderr, "usage: pair_loops pair|random|page PAIRS ROUNDS|count\n");
        return 2;
    }
    void (*loop)(long) = argv[1][0] == 'r' ? loop_random : loop_pair;
    loop = strcmp(argv[1], "page") == 0 ? loop_page : loop;
    if (is_count) {
        printf("instructions=%.2f\n", count(loop, pairs));
    } else {
        printf("ns=%.3f\n", measure(loop, pairs, rounds));
    }
    return 0;
}
