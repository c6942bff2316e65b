/*
 * What new stacks and a dump cost: makes the given number of distinct stacks of about 28 frames, each with
 * one live object, and dumps them: by heapprof's API, or by that of jemalloc's own profiler and an fsync. Run
 * it with HEAPPROF_SAMPLE=1, or MALLOC_CONF=prof:true,lg_prof_sample:0.
 *
 *   dump_cost STACKS FILE
 */
#define HEAPPROF_OPTIONAL
#include <heapprof/heapprof.h>

#include <sys/stat.h>

#include "bench.h"

extern int mallctl(const char *name, void *old, size_t *old_length, void *new, size_t new_length)
    __attribute__((weak));

enum { LEVELS = 22 };

static void *volatile escape;
static volatile unsigned even_calls;
static volatile unsigned odd_calls;

__attribute__((noinline)) static void even(unsigned long path, int levels);
__attribute__((noinline)) static void odd(unsigned long path, int levels);

/* The path's bits choose the functions on the stack. */
static inline void descend(unsigned long path, int levels) {
    if (levels == 0) {
        escape = malloc(64);
    } else if ((path & 1) != 0) {
        odd(path >> 1, levels - 1);
    } else {
        even(path >> 1, levels - 1);
    }
}

static void even(unsigned long path, int levels) {
    descend(path, levels);
    even_calls++; /* no tail call, and not the same code as odd() */
}

static void odd(unsigned long path, int levels) {
    descend(path, levels);
    odd_calls++;
}

static int dump_of_jemalloc(const char *path) {
    if (mallctl == NULL || mallctl("prof.dump", NULL, NULL, &path, sizeof path) != 0) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = fd < 0 ? -1 : fsync(fd);
    (void)close(fd);
    return error;
}

static int dump(const char *path) {
    return heapprof_is_linked() ? heapprof_dump(path) : dump_of_jemalloc(path);
}

int main(int argc, char **argv) {
    long stacks = argc == 3 ? atol(argv[1]) : 0;
    if (stacks < 1) {
        fprintf(stderr, "usage: dump_cost STACKS FILE\n");
        return 2;
    }
    double start = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < stacks; i++) {
        descend((unsigned long)i, LEVELS);
    }
    printf("new_stack_ns=%.1f\n", (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)stacks);
    bench_print_memory();
    if (dump(argv[2]) != 0) { /* maps what dumps need, as the guard does at its start */
        fprintf(stderr, "dump_cost: no dump\n");
        return 1;
    }
    long before = bench_procfs("/proc/self/smaps_rollup", "\nRss:");
    start = bench_now_ns(CLOCK_MONOTONIC);
    int error = dump(argv[2]);
    double took = bench_now_ns(CLOCK_MONOTONIC) - start;
    struct stat file;
    if (error != 0 || stat(argv[2], &file) != 0) {
        return 1;
    }
    printf("dump_ms=%.3f\nfile_bytes=%ld\ngrown_kib=%ld\n", took / 1e6, (long)file.st_size,
           bench_procfs("/proc/self/smaps_rollup", "\nRss:") - before);
    return 0;
}
