/*
 * What a dump costs: makes the given number of distinct stacks of about 28 frames, each with one live object, and
 * dumps them by the API. Run it with HEAPPROF_SAMPLE=1. Prints the time from the call to the durable file, the
 * file's size, and how much the process has grown meanwhile.
 *
 *   dump_cost STACKS FILE
 */
#define HEAPPROF_OPTIONAL
#include <heapprof/heapprof.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static double now_ms(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static long resident_kib(void) {
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    char *second = text;
    if (n <= 0 || strtol(text, &second, 10) <= 0) {
        return 0;
    }
    return strtol(second, NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
    if (argc != 3 || !heapprof_is_linked()) {
        fprintf(stderr, "usage: LD_PRELOAD=libheapprof.so HEAPPROF_SAMPLE=1 dump_cost STACKS FILE\n");
        return 2;
    }
    long stacks = strtol(argv[1], NULL, 10);
    for (long i = 0; i < stacks; i++) {
        descend((unsigned long)i, LEVELS);
    }
    if (heapprof_dump(argv[2]) != 0) { /* maps what dumps need, as the guard does at its start */
        return 1;
    }
    long before = resident_kib();
    double start = now_ms();
    int error = heapprof_dump(argv[2]);
    double took = now_ms() - start;
    struct stat file;
    if (error != 0 || stat(argv[2], &file) != 0) {
        return 1;
    }
    printf("%ld stacks: %.1f ms, %ld bytes, %ld KiB more resident\n", stacks, took, (long)file.st_size,
           resident_kib() - before);
    return 0;
}
