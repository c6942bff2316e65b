/* What the programs of this folder share: clocks, medians, what the kernel says of our memory. Each program
 * prints figures as lines "name=number"; run.py reads them. */
#ifndef HP_BENCH_H
#define HP_BENCH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* In ns. CLOCK_THREAD_CPUTIME_ID where nothing is waited for: another program's turn on the core is not ours.
 */
static inline double bench_now_ns(clockid_t clock) {
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static inline int bench_by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double bench_median(double *values, size_t count) {
    qsort(values, count, sizeof values[0], bench_by_value);
    return values[count / 2];
}

static inline unsigned long bench_next_random(unsigned long *seed) { /* xorshift; never 0 */
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* The number after `key` in a file of /proc, in the file's own unit; -1 when it is not there. Allocates
 * nothing. */
static inline long bench_procfs(const char *path, const char *key) {
    char text[4096] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    const char *found = n > 0 ? strstr(text, key) : NULL;
    return found == NULL ? -1 : strtol(found + strlen(key), NULL, 10);
}

/* Two lines: what the process has written to (anonymous memory), and all that is resident, in KiB. */
static inline void bench_print_memory(void) {
    long anonymous = bench_procfs("/proc/self/smaps_rollup", "\nAnonymous:");
    long resident = bench_procfs("/proc/self/smaps_rollup", "\nRss:");
    printf("anonymous_kib=%ld\nrss_kib=%ld\n", anonymous, resident);
}

#endif
