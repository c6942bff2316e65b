/*
 * A program that has run for very long: takes samples by the million, from a few stacks that come again and again, or
 * each from a stack that was never there before.
 *
 *   endless same|new SAMPLES WARM.pb.gz END.pb.gz
 *
 * Dumps after a tenth of them and in the end. Prints "resident KIB KIB" at the two dumps and "ns EARLY LATE", the
 * processor time of a sample in the first tenth and in the last, each the median of its parts. Run it with
 * HEAPPROF_SAMPLE=1: every allocation is a sample.
 */
#include <stdint.h>
#include <time.h>

#include "check.h"
#include "dump_now.h"

enum { LEVELS = 24, LIVE = 2048, SIZES = 8, PARTS = 100 };

static void *live[LIVE];
static volatile unsigned left_calls;
static volatile unsigned right_calls;

__attribute__((noinline)) static void *left(uint64_t path, unsigned levels, size_t size);
__attribute__((noinline)) static void *right(uint64_t path, unsigned levels, size_t size);

/* The path's bits choose the functions on the stack. */
static inline void *descend(uint64_t path, unsigned levels, size_t size) {
    if (levels == 0) {
        return malloc(size);
    }
    return path & 1 ? left(path >> 1, levels - 1, size) : right(path >> 1, levels - 1, size);
}

static void *left(uint64_t path, unsigned levels, size_t size) {
    void *object = descend(path, levels, size);
    left_calls++; /* not the same as the other */
    return object;
}

static void *right(uint64_t path, unsigned levels, size_t size) {
    void *object = descend(path, levels, size);
    right_calls++;
    return object;
}

static long resident_kib(void) {
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "RssAnon: %ld", &kib);
    }
    fclose(status);
    return kib;
}

static double cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Samples from..to; ns for one. */
static double run(uint64_t from, uint64_t to, int repeats) {
    double start = cpu_ns();
    for (uint64_t i = from; i < to; i++) {
        uint64_t path = repeats ? i % 64 : i * UINT64_C(0x9e3779b1) % (UINT64_C(1) << LEVELS); /* odd: each once */
        void **slot = &live[i * 7 % LIVE];
        free(*slot);
        *slot = descend(path, LEVELS, (size_t)16 << i % SIZES);
        CHECK(*slot != NULL);
    }
    return (cpu_ns() - start) / (double)(to - from);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

int main(int argc, char **argv) {
    CHECK(argc == 5);
    static double ns[PARTS];
    int repeats = strcmp(argv[1], "same") == 0;
    uint64_t part = strtoull(argv[2], NULL, 10) / PARTS;
    long warm = 0;
    CHECK(part > 0 && part * PARTS <= UINT64_C(1) << LEVELS);
    for (unsigned i = 0; i < PARTS; i++) {
        if (i == PARTS / 10) {
            dump_now(argv[3]);
            warm = resident_kib();
        }
        ns[i] = run(i * part, (i + 1) * part, repeats);
    }
    dump_now(argv[4]);
    printf("resident %ld %ld\n", warm, resident_kib());
    printf("ns %.0f %.0f\n", median(ns, PARTS / 10), median(ns + PARTS - PARTS / 10, PARTS / 10));
    return 0;
}
