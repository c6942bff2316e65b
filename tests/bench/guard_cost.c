/*
 * What the guard costs, on the machine's own files: one check on an allocating thread, and the guard's thread
 * when nothing happens.
 *
 *   guard_cost [LIMIT [SECONDS]]      auto, 5
 */
#include <dirent.h>

#include "bench.h"
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

static double median_ns(void (*one)(void)) {
    static double took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = hp_clock_ns();
        one();
        took[i] = (double)(hp_clock_ns() - start);
    }
    return bench_median(took, ROUNDS);
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
        (void)fputs("nothing limits this process\n", stderr);
        return 1;
    }
    start = hp_clock_ns();
    guard_start();
    int64_t start_ns = hp_clock_ns() - start;
    while (!is_begun) {
        (void)usleep(1000);
    }
    (void)printf("init_us=%.1f\nstart_us=%.1f\n", (double)init_ns / 1e3, (double)start_ns / 1e3);
    (void)printf("account_ns=%.0f\nheld_back_ns=%.0f\n", median_ns(account), median_ns(held_back_check));
    (void)printf("check_ns=%.0f\nfresh_read_ns=%.0f\n", median_ns(exact_check), median_ns(fresh_read));
    (void)sleep(1);
    int64_t before = others_cpu_ns();
    (void)sleep(seconds);
    (void)printf("idle_percent=%.5f\n", (double)(others_cpu_ns() - before) / seconds / 1e7);
    return 0;
}
