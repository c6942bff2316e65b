/*
 * The guard under threads: eight allocate (account, check, large requests, questions, requests for dumps,
 * refused memory) while a usage file saws, limits change and children are forked, with the guard's own thread
 * at work. Meant for ThreadSanitizer; without one it still finds deadlocks (the alarm), lock ranks out of
 * order (debug builds), and two dumps at a time.
 *
 * usage: test_guard_threads [seconds, default 5]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard/guard.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "tests/unit/guard_tree.h"

#define MIB (UINT64_C(1) << 20)
#define LEAF "/sys/fs/cgroup/a"

enum { THREADS = 8 };

static _Atomic bool is_over;
static _Atomic int dumping[2]; /* for a threshold, for refused memory */
static _Atomic unsigned long dumps;
static _Atomic unsigned long pressures;
static _Atomic unsigned long refusals; /* that made a dump */
static _Atomic unsigned long requests;
static _Atomic unsigned long checks;
static _Atomic int64_t longest;

/* The guard's thread has no standard error of its own; hp_log() finds the process's. */
static void die(const char *what) {
    hp_log(HP_LOG_ERROR, "%s", what);
    _exit(1);
}

static void pause_us(long us) {
    struct timespec ts = {.tv_sec = 0, .tv_nsec = us * 1000};
    (void)nanosleep(&ts, NULL);
}

static void pressure(const struct guard_crossing *crossing) {
    if (crossing->threshold == 0) {
        die("a pressure without a threshold");
    }
    guard_start(); /* as any thread that allocates */
    guard_check(200 * MIB);
    guard_out_of_memory(1);
    pause_us(200);
    atomic_fetch_add(&pressures, 1);
}

static void purge(void) {
}

static bool dump(const struct guard_crossing *crossing) {
    bool is_refusal = crossing->is_out_of_memory;
    if (atomic_fetch_add(&dumping[is_refusal], 1) != 0) {
        die("two dumps of a kind at a time");
    }
    if (crossing->reading.limit == UINT64_MAX || (crossing->percent == 0) != is_refusal) {
        die("a dump without a limit");
    }
    guard_out_of_memory(1); /* leads nowhere */
    pause_us(2000);
    atomic_fetch_sub(&dumping[is_refusal], 1);
    atomic_fetch_add(&refusals, is_refusal);
    return atomic_fetch_add(&dumps, 1) % 7 != 0; /* one in seven fails */
}

static void requested(void) {
    atomic_fetch_add(&requests, 1);
}

static void allocate(unsigned long step) {
    uint64_t bytes = step % 97 == 0 ? 200 * MIB : 64 << 10;
    guard_start();
    if (guard_account(bytes) || step % 97 == 0) {
        int64_t start = hp_clock_ns();
        guard_check(bytes);
        int64_t took = hp_clock_ns() - start;
        int64_t most = atomic_load(&longest);
        while (took > most && !atomic_compare_exchange_weak(&longest, &most, took)) {
        }
        atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
    }
}

static void *allocator(void *number) {
    unsigned long step = *(unsigned *)number * 13;
    while (!atomic_load(&is_over)) {
        allocate(step++);
        if (step % 1009 == 0) {
            struct guard_reading reading;
            (void)guard_read(&reading, step % 2018 == 0);
            (void)guard_limit();
        }
        if (step % 4001 == 0) {
            guard_request();
        }
        if (step % 503 == 0) {
            guard_out_of_memory(step);
        }
        if (step % 64 == 0) {
            pause_us(50);
        }
    }
    return NULL;
}

/* A child has its own thread and its own dumps. */
static void fork_once(void) {
    guard_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        guard_fork_child();
        (void)alarm(20);
        atomic_store(&dumping[0], 0);
        atomic_store(&dumping[1], 0);
        for (unsigned long i = 0; i < 200; i++) {
            allocate(i);
            if (i % 50 == 7) {
                guard_out_of_memory(i);
            }
        }
        _exit(0);
    }
    guard_fork_parent();
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        die("a child failed");
    }
}

static void set_usage(uint64_t mib) {
    guard_tree_number(LEAF "/memory.current", mib * MIB);
}

int main(int argc, char **argv) {
    static struct hp_options options;
    static const struct guard_host host = {
        .pressure = pressure, .purge = purge, .dump = dump, .requested = requested};
    int64_t seconds = argc > 1 ? atoi(argv[1]) : 5;
    const char *complaint = NULL;
    (void)alarm((unsigned)seconds + 60);
    hp_log_set_level(HP_LOG_ERROR);
    hp_options_default(&options);
    (void)hp_options_set(&options, "HEAPPROF_GATE_MS", "20", &complaint);
    guard_tree_make();
    guard_tree_v2("a");
    guard_tree_write(LEAF "/memory.max", "134217728\n");
    guard_tree_write(LEAF "/memory.stat", "inactive_file 0\nactive_file 0\n");
    set_usage(20);
    if (!guard_init(&options, &host)) {
        die("nothing to watch");
    }
    guard_expect_pressure();
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, allocator, &numbers[i]) != 0) {
            die("no thread");
        }
    }
    int64_t end = hp_clock_ns() + seconds * 1000000000;
    for (unsigned long i = 0; hp_clock_ns() < end; i++) {
        set_usage(20 + i * 7 % 120);
        pause_us(500);
        if (i % 50 == 0) {
            guard_set_limit(i % 100 == 0 ? 100 * MIB + i : 0); /* new limits are armed anew: more dumps */
        }
        if (i % 100 == 0) {
            fork_once();
        }
    }
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    guard_tree_remove();
    (void)printf(
        "%lu checks, %lu dumps, %lu of them for refused memory, %lu pressures, %lu requests, longest check "
        "%ld us\n",
        atomic_load(&checks), atomic_load(&dumps), atomic_load(&refusals), atomic_load(&pressures),
        atomic_load(&requests), (long)(atomic_load(&longest) / 1000));
    bool all = atomic_load(&dumps) > 0 && atomic_load(&refusals) > 0 && atomic_load(&pressures) > 0 &&
               atomic_load(&requests) > 0 && atomic_load(&checks) > 0;
    return all ? 0 : 1;
}
