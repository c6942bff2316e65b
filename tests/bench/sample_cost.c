/*
 * What one sample costs, all included, in ns of CPU time: malloc and free of 64 bytes with every allocation
 * sampled, from a stack of the given depth that was seen before. Run it with HEAPPROF_SAMPLE=1 under
 * heapprof, or with MALLOC_CONF=prof:true,lg_prof_sample:0 under jemalloc. The median of several rounds.
 *
 *   sample_cost FRAMES [SAMPLES]      26 frames are 22 calls below main, and the C library's three
 */
#include "bench.h"

enum { ROUNDS = 7, OTHER_FRAMES = 4 };

static void *volatile escape;
static volatile unsigned calls;
static long samples = 50000;

static double measure(void) {
    double rounds[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double start = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
        for (long i = 0; i < samples; i++) {
            escape = malloc(64);
            free(escape);
        }
        rounds[r] = (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)samples;
    }
    return bench_median(rounds, ROUNDS);
}

__attribute__((noinline)) static double descend(int frames) {
    double result = frames <= 0 ? measure() : descend(frames - 1);
    calls++; /* no tail call */
    return result;
}

int main(int argc, char **argv) {
    if (argc < 2 || atoi(argv[1]) <= OTHER_FRAMES) {
        fprintf(stderr, "usage: sample_cost FRAMES [SAMPLES]\n");
        return 2;
    }
    samples = argc > 2 ? atol(argv[2]) : samples;
    escape = malloc(64 << 20); /* gperftools' first sample comes after 16 MiB, whatever the period */
    free(escape);
    printf("ns=%.1f\n", descend(atoi(argv[1]) - OTHER_FRAMES - 1));
    return 0;
}
