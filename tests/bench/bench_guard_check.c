/*
 * What the guard costs, on the machine's own files: one check on an allocating thread, and the guard's thread
 * when nothing happens. Prints one line for each.
 *
 * usage: bench_guard_check [limit, default auto] [idle seconds, default 5]
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/guard.h"
#include "heapprof/base/clock.h"

enum { ROUNDS = 2001 };

static _Atomic int is_begun;

static void begin(void) {
    is_begun = 1;
}

static bool dump(const struct guard_crossing *crossing) {
    (void)crossing;
    return true;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median_ns(void (*one)(void)) {
    static int64_t took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = hp_clock_ns();
        one();
        took[i] = hp_clock_ns() - start;
    }
    qsort(took, ROUNDS, sizeof took[0], by_value);
    return took[ROUNDS / 2];
}

/* Pending of more than there is to the next threshold is always read for; predictions are rare. */
static void exact_check(void) {
    guard_check(UINT64_MAX);
}

static void held_back_check(void) {
    guard_check(0);
}

static void account(void) {
    (void)guard_account(0);
}

static void fresh_read(void) {
    struct guard_reading reading;
    (void)guard_read(&reading, true);
}

/* CPU time of all threads but this one, in ns: the kernel's first number in schedstat. */
static int64_t others_cpu_ns(void) {
    int64_t total = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[300];
        long ns = 0;
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        FILE *file = task->d_name[0] != '.' && atoi(task->d_name) != getpid() ? fopen(path, "r") : NULL;
        if (file != NULL) {
            total += fscanf(file, "%ld", &ns) == 1 ? ns : 0;
            (void)fclose(file);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return total;
}

int main(int argc, char **argv) {
    static struct hp_options options;
    static const struct guard_host host = {.thread_begin = begin, .dump = dump};
    const char *complaint = NULL;
    hp_options_default(&options);
    if (argc > 1 && hp_options_set(&options, "HEAPPROF_LIMIT", argv[1], &complaint) != 0) {
        (void)fprintf(stderr, "%s %s\n", argv[1], complaint);
        return 2;
    }
    unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    int64_t start = hp_clock_ns();
    bool has_any = guard_init(&options, &host);
    int64_t init_ns = hp_clock_ns() - start;
    struct guard_reading reading;
    if (!has_any || !guard_read(&reading, true)) {
        (void)puts("nothing limits this process");
        return 1;
    }
    (void)printf("watched: %s, %lu of %lu MiB\n", reading.source, (unsigned long)(reading.usage >> 20),
                 (unsigned long)(reading.limit >> 20));
    start = hp_clock_ns();
    guard_start();
    int64_t start_ns = hp_clock_ns() - start;
    while (!is_begun) {
        (void)usleep(1000);
    }
    (void)printf("init: %ld us, start of the thread: %ld us\n", (long)(init_ns / 1000),
                 (long)(start_ns / 1000));
    (void)printf("account: %ld ns (with the clock), check without a reading: %ld ns\n",
                 (long)median_ns(account), (long)median_ns(held_back_check));
    (void)printf("check with a reading: %ld ns, fresh read: %ld ns\n", (long)median_ns(exact_check),
                 (long)median_ns(fresh_read));
    (void)sleep(1);
    int64_t before = others_cpu_ns();
    (void)sleep(seconds);
    int64_t used = others_cpu_ns() - before;
    (void)printf("idle: %ld us of CPU in %u s, %ld us a minute, %ld.%04ld %% of a core\n",
                 (long)(used / 1000), seconds, (long)(used * 60 / seconds / 1000),
                 (long)(used / seconds / 10000000), (long)(used / seconds / 1000 % 10000));
    return 0;
}
