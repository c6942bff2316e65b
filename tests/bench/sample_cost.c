/*
 * What one sample costs, all included: malloc and free of 64 bytes with every allocation sampled, from a stack of
 * the given depth that was seen before. Run it with HEAPPROF_SAMPLE=1 under heapprof, or with
 * MALLOC_CONF=prof:true,lg_prof_sample:0 under jemalloc. Prints ns, the median of several rounds.
 *
 *   sample_cost [FRAMES]      (default 26: 22 calls below main, and the C library's three)
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, SAMPLES = 50000, OTHER_FRAMES = 4 };

static void *volatile escape;
static volatile unsigned calls;

static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(void) {
    double rounds[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();
        for (int i = 0; i < SAMPLES; i++) {
            escape = malloc(64);
            free(escape);
        }
        rounds[r] = (now_ns() - start) / SAMPLES;
    }
    qsort(rounds, ROUNDS, sizeof rounds[0], by_value);
    return rounds[ROUNDS / 2];
}

__attribute__((noinline)) static double descend(int frames) {
    double result = frames <= 0 ? measure() : descend(frames - 1);
    calls++; /* no tail call */
    return result;
}

int main(int argc, char **argv) {
    int frames = argc > 1 ? atoi(argv[1]) : 26;
    printf("%.0f ns for a sample from a stack of %d frames\n", descend(frames - OTHER_FRAMES - 1), frames);
    return 0;
}
