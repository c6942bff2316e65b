/*
 * guard/guard: the whole loop with a fake host over a fake tree. The guard is one a process, so each test
 * runs in a child of its own; it fails by ending with a status, having said why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/guard.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/procfs.h"
#include "tests/unit/guard_tree.h"

#define MIB (UINT64_C(1) << 20)
#define MS INT64_C(1000000)
#define LEAF "/sys/fs/cgroup/a"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

/* -- The host -- */

enum { DUMPS_MAX = 64 };

static struct {
    _Atomic int begun;
    _Atomic int pressures;
    _Atomic int purges;
    _Atomic int dumps; /* how many entries of `crossings` are whole */
    _Atomic int requests;
    struct guard_crossing crossings[DUMPS_MAX];
    _Atomic int dump_ms;     /* how long one takes */
    _Atomic int failing;     /* how many more fail */
    _Atomic int pressure_ms; /* how long the application's callback takes */
    _Atomic uint64_t usage_after_purge;
    _Atomic uint64_t usage_after_pressure;
    _Atomic long dumping_thread;
} seen;

static void set_usage(uint64_t mib) {
    guard_tree_number(LEAF "/memory.current", mib * MIB);
}

static void sleep_ms(int64_t ms) {
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};
    (void)nanosleep(&ts, NULL);
}

static void host_begin(void) {
    seen.begun++;
}

static void host_pressure(const struct guard_crossing *crossing) {
    (void)crossing;
    seen.pressures++;
    sleep_ms(seen.pressure_ms);
    if (seen.usage_after_pressure != 0) {
        set_usage(seen.usage_after_pressure);
    }
}

static void host_purge(void) {
    seen.purges++;
    if (seen.usage_after_purge != 0) {
        set_usage(seen.usage_after_purge);
    }
}

static bool host_dump(const struct guard_crossing *crossing) {
    sleep_ms(seen.dump_ms);
    if (seen.failing > 0) {
        seen.failing--;
        return false;
    }
    seen.dumping_thread = (long)pthread_self();
    seen.crossings[seen.dumps % DUMPS_MAX] = *crossing;
    seen.dumps++;
    return true;
}

static void host_requested(void) {
    seen.requests++;
}

static struct guard_host host = {.thread_begin = host_begin,
                                 .pressure = host_pressure,
                                 .purge = host_purge,
                                 .dump = host_dump,
                                 .requested = host_requested};
static struct hp_options options;

/* -- Helpers -- */

/* A v2 cgroup of 128 MiB that uses 20. */
static void begin(void) {
    guard_tree_v2("a");
    guard_tree_write(LEAF "/memory.max", "134217728\n");
    guard_tree_write(LEAF "/memory.stat", "inactive_file 0\nactive_file 0\n");
    set_usage(20);
}

static bool begins(void) {
    begin();
    return guard_init(&options, &host);
}

/* Waits until *count is `wanted`, at most `ms`. */
static bool comes(const _Atomic int *count, int wanted, int64_t ms) {
    int64_t deadline = hp_clock_ns() + ms * MS;
    while (*count < wanted && hp_clock_ns() < deadline) {
        sleep_ms(1);
    }
    return *count == wanted;
}

/* How long guard_check() takes, at a time when it is not held back by a reading just made. */
static int64_t ms_of_check(uint64_t pending) {
    sleep_ms(1);
    int64_t start = hp_clock_ns();
    guard_check(pending);
    return (hp_clock_ns() - start) / MS;
}

static void set(const char *variable, const char *text) {
    const char *complaint = NULL;
    CHECK(hp_options_set(&options, variable, text, &complaint) == 0);
}

/* -- What runs in the child -- */

static void crossing_by_the_timer(void) {
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    CHECK(guard_limit() == 128 * MIB);
    sleep_ms(50);
    CHECK(seen.dumps == 0);
    set_usage(104); /* 81.25 % */
    CHECK(comes(&seen.dumps, 1, 3000));
    struct guard_crossing *c = &seen.crossings[0];
    CHECK(c->percent == 80 && !c->is_last && !c->is_predicted);
    CHECK(c->threshold == 107374182);
    CHECK(c->reading.usage == 104 * MIB && c->reading.limit == 128 * MIB);
    CHECK(strcmp(c->reading.source, "cgroup v2 " LEAF) == 0);
    CHECK(seen.purges == 1 && seen.pressures == 1);
    CHECK((pthread_t)seen.dumping_thread != pthread_self());
    set_usage(127); /* two at once: one dump */
    CHECK(comes(&seen.dumps, 2, 3000));
    CHECK(seen.crossings[1].percent == 95 && seen.crossings[1].is_last);
    sleep_ms(100);
    CHECK(seen.dumps == 2);
}

static void crossing_by_a_check_waits_for_the_dump(void) {
    CHECK(begins());
    CHECK(guard_account(1)); /* the first sample always looks */
    guard_start();
    sleep_ms(1);
    guard_check(0);
    CHECK(!guard_account(1));
    CHECK(guard_bytes_allowed == (107374182 - 20 * MIB) / 2);
    seen.dump_ms = 60;
    set_usage(127);
    CHECK(guard_account(60 * MIB));
    sleep_ms(1);
    guard_check(0);
    CHECK(seen.dumps == 1); /* is on disk when the allocation goes on */
    CHECK(seen.crossings[0].is_last);
    CHECK(guard_bytes_since == 0);
}

static void G14_a_large_request_is_dumped_before_it_is_touched(void) {
    CHECK(begins());
    guard_start();
    guard_check(0);
    CHECK(guard_account(120 * MIB));
    guard_check(120 * MIB);
    CHECK(seen.dumps == 1);
    CHECK(seen.crossings[0].is_predicted && seen.crossings[0].is_last && seen.crossings[0].percent == 95);
    CHECK(seen.crossings[0].reading.usage == 20 * MIB);
    for (int i = 0; i < 200; i++) { /* never touched: no flood */
        (void)guard_account(200 * MIB);
        guard_check(200 * MIB);
    }
    CHECK(seen.dumps == 1);
}

static void a_thread_that_oversleeps_is_woken(void) {
    CHECK(begins());
    guard_start();
    sleep_ms(1500); /* idle: its turns are nearly a second apart by now */
    guard_tree_statm(0, 0, 100 * MIB);
    for (int i = 0; i < 2; i++) { /* neither would cross, but both may be touched without another call */
        guard_check(50 * MIB);
        sleep_ms(1);
    }
    CHECK(seen.dumps == 0);
    sleep_ms(5);
    set_usage(104);
    CHECK(comes(&seen.dumps, 1, 300));
}

static void gate_is_bounded(void) {
    set("HEAPPROF_GATE_MS", "80");
    CHECK(begins());
    guard_start();
    seen.dump_ms = 600;
    set_usage(127);
    int64_t ms = ms_of_check(0);
    CHECK(ms >= 79 && ms < 300);
    CHECK(seen.dumps == 0);
    CHECK(ms_of_check(0) < 40); /* this thread has had its wait */
    CHECK(comes(&seen.dumps, 1, 3000));
}

static void *check_once(void *ms) {
    *(int64_t *)ms = ms_of_check(0);
    return NULL;
}

static void gate_holds_other_threads_too(void) {
    CHECK(begins());
    guard_start();
    seen.dump_ms = 100;
    set_usage(127);
    int64_t waited[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, check_once, &waited[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(waited[i] < 300);
    }
    CHECK(seen.dumps == 1);
}

static void gate_of_zero_never_waits(void) {
    set("HEAPPROF_GATE_MS", "0");
    CHECK(begins());
    guard_start();
    seen.dump_ms = 300;
    set_usage(127);
    CHECK(ms_of_check(0) < 100);
    CHECK(comes(&seen.dumps, 1, 3000));
}

static void relief_owes_no_dump(void) {
    CHECK(begins());
    guard_start();
    guard_check(0);
    seen.usage_after_purge = 60;
    set_usage(104);
    CHECK(comes(&seen.purges, 1, 3000));
    sleep_ms(100);
    CHECK(seen.dumps == 0);
    sleep_ms(1000);
    seen.usage_after_purge = 0;
    seen.usage_after_pressure = 50;
    set_usage(104);
    CHECK(comes(&seen.pressures, 2, 3000));
    sleep_ms(100);
    CHECK(seen.dumps == 0);
    seen.usage_after_pressure = 0;
    set_usage(104); /* within a second: no second excuse */
    CHECK(comes(&seen.dumps, 1, 3000));
    CHECK(seen.pressures == 2);
}

static void failed_dump_is_tried_again(void) {
    CHECK(begins());
    guard_start();
    seen.failing = 1;
    set_usage(104);
    CHECK(comes(&seen.purges, 1, 3000));
    sleep_ms(300);
    CHECK(seen.failing == 0 && seen.dumps == 0);
    CHECK(comes(&seen.dumps, 1, 3000));
}

static void P15_sawtooth_is_bounded(void) {
    CHECK(begins());
    guard_start();
    for (int i = 0; i < 200; i++) {
        set_usage(i % 2 == 0 ? 127 : 20);
        sleep_ms(1);
        guard_check(0);
    }
    CHECK(seen.dumps > 0 && seen.dumps <= 12);
}

static void G10_limit_lowered_and_raised_live(void) {
    CHECK(begins());
    guard_start();
    set_usage(50);
    sleep_ms(100);
    CHECK(seen.dumps == 0);
    guard_tree_write(LEAF "/memory.max", "62914560\n"); /* 60 MiB: 83 % */
    CHECK(comes(&seen.dumps, 1, 2500));
    CHECK(guard_limit() == 60 * MIB);
    guard_tree_write(LEAF "/memory.max", "125829120\n");
    sleep_ms(1200);
    set_usage(100);
    CHECK(comes(&seen.dumps, 2, 2500));
    CHECK(seen.crossings[1].reading.limit == 120 * MIB);
}

static void vanished_files_do_not_end_the_watch(void) {
    CHECK(begins());
    guard_start();
    sleep_ms(50);
    guard_tree_unlink(LEAF "/memory.current");
    guard_tree_unlink(LEAF "/memory.max");
    guard_tree_unlink("/proc/self/cgroup");
    sleep_ms(1200);
    begin();
    set_usage(127);
    CHECK(comes(&seen.dumps, 1, 3000));
}

static void a_watch_that_begins_blind_sees_later(void) {
    guard_tree_unlink("/proc/meminfo");
    CHECK(!guard_init(&options, &host));
    CHECK(!guard_account(UINT64_C(1) << 40));
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    guard_tree_write("/proc/meminfo", "MemTotal: 16777216 kB\n");
    begin();
    set_usage(127);
    CHECK(comes(&seen.dumps, 1, 8000));
}

static void G11_P17_file_cache_does_not_trip(void) {
    CHECK(begins());
    guard_start();
    guard_tree_write(LEAF "/memory.stat", "inactive_file 62914560\nactive_file 41943040\n");
    set_usage(128);
    for (int i = 0; i < 20; i++) {
        sleep_ms(10);
        guard_check(0);
    }
    CHECK(seen.dumps == 0 && seen.purges == 0);
    struct guard_reading reading;
    CHECK(guard_read(&reading, false) && reading.usage == 28 * MIB);
    guard_tree_write(LEAF "/memory.stat", "inactive_file 41943040\nactive_file 0\n");
    set_usage(
        90); /* far from a threshold even with the cache, so a check does not look at that; a reading does */
    sleep_ms(1);
    guard_check(0);
    CHECK(guard_read(&reading, false) && reading.usage == 50 * MIB);
}

static void request_works(void) {
    CHECK(begins());
    guard_start();
    guard_request();
    CHECK(comes(&seen.requests, 1, 1000));
    guard_request();
    CHECK(comes(&seen.requests, 2, 1000));
    CHECK(seen.dumps == 0);
}

static void off_watches_nothing_but_answers_requests(void) {
    set("HEAPPROF_LIMIT", "off");
    CHECK(!begins());
    CHECK(guard_limit() == UINT64_MAX);
    struct guard_reading reading;
    CHECK(!guard_read(&reading, true));
    CHECK(!guard_account(UINT64_C(1) << 40));
    guard_start();
    sleep_ms(50);
    CHECK(seen.begun == 0); /* no thread without need */
    guard_request();
    guard_start();
    CHECK(comes(&seen.requests, 1, 1000));
    set_usage(127);
    sleep_ms(100);
    CHECK(seen.dumps == 0);
    guard_set_limit(256 * MIB); /* the application wants it watched after all; and the cgroup with it */
    CHECK(comes(&seen.dumps, 1, 2500));
}

static void off_with_a_signal_has_a_thread(void) {
    set("HEAPPROF_LIMIT", "off");
    set("HEAPPROF_SIGNAL", "USR2");
    CHECK(!begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 1000));
}

static void set_limit_arms_anew(void) {
    CHECK(begins());
    guard_start();
    guard_tree_statm(50 * MIB, 0, 0);
    guard_set_limit(60 * MIB);
    CHECK(guard_limit() == 60 * MIB);
    CHECK(comes(&seen.dumps, 1, 1000));
    CHECK(strcmp(seen.crossings[0].reading.source, "the limit set by the application") == 0);
    guard_set_limit(55 * MIB);
    CHECK(comes(&seen.dumps, 2, 1000));
    guard_set_limit(0);
    CHECK(guard_limit() == 128 * MIB);
}

static void without_a_thread_the_caller_dumps(void) {
    CHECK(begins());
    set_usage(127);
    guard_check(0);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread == pthread_self());
    CHECK(seen.pressures == 0); /* the application's code never runs inside its own malloc */
    CHECK(seen.purges == 1);
}

static void a_thread_that_cannot_be_made_is_tried_again(void) {
    CHECK(begins());
    struct rlimit before;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    guard_start();
    guard_start();
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    guard_start(); /* still in its pause */
    CHECK(seen.begun == 0);
    set_usage(127);
    guard_check(0);
    CHECK(seen.dumps == 1);
    sleep_ms(1050);
    guard_start();
    CHECK(comes(&seen.begun, 1, 1000));
}

static void a_stuck_callback_does_not_hold_up_the_dump(void) {
    set("HEAPPROF_GATE_MS", "100");
    CHECK(begins());
    guard_start();
    seen.pressure_ms = 1500;
    set_usage(127);
    int64_t ms = ms_of_check(0);
    CHECK(ms < 400);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread == pthread_self());
    guard_tree_write(LEAF "/memory.max", "128000000\n"); /* another crossing, with the callback still stuck */
    sleep_ms(950);
    guard_check(0);
    CHECK(seen.dumps == 1 || seen.dumps == 2);
    CHECK(comes(&seen.dumps, 2, 4000)); /* and never one twice */
    sleep_ms(300);
    CHECK(seen.dumps == 2);
}

static void G18_forked_child_starts_its_own(void) {
    CHECK(begins());
    guard_start();
    set_usage(127);
    CHECK(comes(&seen.dumps, 1, 3000));
    guard_fork_prepare();
    pid_t child = fork();
    if (child != 0) {
        guard_fork_parent();
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        return;
    }
    guard_fork_child();
    CHECK(guard_account(0));
    guard_tree_v2("b"); /* moved */
    guard_tree_write("/sys/fs/cgroup/b/memory.max", "67108864\n");
    guard_tree_write("/sys/fs/cgroup/b/memory.stat", "\n");
    guard_tree_number("/sys/fs/cgroup/b/memory.current", 63 * MIB);
    guard_start();
    guard_check(0);
    CHECK(comes(&seen.begun, 2, 2000));
    CHECK(comes(&seen.dumps, 2, 2000));
    CHECK(seen.crossings[1].reading.limit == 64 * MIB);
    _exit(0);
}

static _Atomic int taken;

static void take_signal(int number) {
    (void)number;
    taken++;
}

static void G20_signals_never_reach_the_thread(void) {
    struct sigaction action = {.sa_handler = take_signal};
    CHECK(sigaction(SIGTERM, &action, NULL) == 0);
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    sigset_t set_of;
    sigset_t after;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    CHECK(sigismember(&after, SIGTERM) == 0); /* the starter's own mask is as it was */
    sigemptyset(&set_of);
    sigaddset(&set_of, SIGTERM);
    CHECK(pthread_sigmask(SIG_BLOCK, &set_of, NULL) == 0);
    CHECK(kill(getpid(), SIGTERM) == 0);
    int number = 0;
    sleep_ms(50);
    CHECK(taken == 0);
    CHECK(sigwait(&set_of, &number) == 0 && number == SIGTERM);
}

static bool names_a_thread(const char *name) {
    char path[64];
    for (int tid = getpid(); tid < getpid() + 50; tid++) {
        char text[32] = "";
        (void)snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
        FILE *file = fopen(path, "r");
        if (file != NULL) {
            (void)fgets(text, sizeof text, file);
            (void)fclose(file);
        }
        if (strncmp(text, name, strlen(name)) == 0) {
            return true;
        }
    }
    return false;
}

static void thread_has_a_name(void) {
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    CHECK(names_a_thread("heapprof-guard"));
}

static void exit_spares_all_but_the_last(void) {
    set("HEAPPROF_ON_LIMIT", "dump,exit");
    CHECK(begins());
    guard_start();
    set_usage(104);
    CHECK(comes(&seen.dumps, 1, 3000));
    sleep_ms(50); /* lives on: not the last threshold */
    guard_check(100 * MIB);
    CHECK(seen.dumps == 2 && seen.crossings[1].is_last && seen.purges == 0);
    sleep_ms(50); /* lives on: only predicted */
}

static void exit_comes_after_the_dump(void) {
    set("HEAPPROF_ON_LIMIT", "dump,exit");
    CHECK(begins());
    guard_start();
    set_usage(127);
    sleep_ms(3000);
    _exit(2);
}

static void abort_comes_after_the_dump(void) {
    set("HEAPPROF_ON_LIMIT", "dump,abort");
    CHECK(begins());
    guard_start();
    set_usage(127);
    sleep_ms(3000);
    _exit(2);
}

static void several_pairs_one_dump(void) {
    begin();
    set("HEAPPROF_LIMIT", "50M");
    guard_tree_statm(48 * MIB, 0, 0);
    set_usage(127);
    CHECK(guard_init(&options, &host));
    guard_start();
    guard_check(0);
    sleep_ms(100);
    CHECK(seen.dumps == 1);
    CHECK(strcmp(seen.crossings[0].reading.source, "cgroup v2 " LEAF) == 0); /* 1 MiB left, not 2 */
    struct guard_reading reading;
    CHECK(guard_read(&reading, true) && reading.limit == 128 * MIB);
    CHECK(guard_limit() == 50 * MIB);
}

static void thresholds_above_the_limit_fall_back(void) {
    set("HEAPPROF_THRESHOLDS", "1G");
    CHECK(begins());
    guard_start();
    set_usage(104);
    CHECK(comes(&seen.dumps, 1, 3000));
}

/* -- */

static int run(void (*scenario)(void)) {
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(60);
        hp_options_default(&options);
        scenario();
        _exit(0);
    }
    int status = -1;
    (void)waitpid(child, &status, 0);
    return status;
}

static int set_up(void **state) {
    (void)state;
    guard_tree_make();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    guard_tree_remove();
    return 0;
}

#define SCENARIO(name)                                                                                       \
    static void test_##name(void **state) {                                                                  \
        (void)state;                                                                                         \
        assert_int_equal(run(name), 0);                                                                      \
    }

SCENARIO(crossing_by_the_timer)
SCENARIO(crossing_by_a_check_waits_for_the_dump)
SCENARIO(G14_a_large_request_is_dumped_before_it_is_touched)
SCENARIO(a_thread_that_oversleeps_is_woken)
SCENARIO(gate_is_bounded)
SCENARIO(gate_holds_other_threads_too)
SCENARIO(gate_of_zero_never_waits)
SCENARIO(relief_owes_no_dump)
SCENARIO(failed_dump_is_tried_again)
SCENARIO(P15_sawtooth_is_bounded)
SCENARIO(G10_limit_lowered_and_raised_live)
SCENARIO(vanished_files_do_not_end_the_watch)
SCENARIO(a_watch_that_begins_blind_sees_later)
SCENARIO(G11_P17_file_cache_does_not_trip)
SCENARIO(request_works)
SCENARIO(off_watches_nothing_but_answers_requests)
SCENARIO(off_with_a_signal_has_a_thread)
SCENARIO(set_limit_arms_anew)
SCENARIO(without_a_thread_the_caller_dumps)
SCENARIO(a_thread_that_cannot_be_made_is_tried_again)
SCENARIO(a_stuck_callback_does_not_hold_up_the_dump)
SCENARIO(G18_forked_child_starts_its_own)
SCENARIO(G20_signals_never_reach_the_thread)
SCENARIO(thread_has_a_name)
SCENARIO(exit_spares_all_but_the_last)
SCENARIO(several_pairs_one_dump)
SCENARIO(thresholds_above_the_limit_fall_back)

static void test_exit_comes_after_the_dump(void **state) {
    (void)state;
    int status = run(exit_comes_after_the_dump);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 137);
}

static void test_abort_comes_after_the_dump(void **state) {
    (void)state;
    int status = run(abort_comes_after_the_dump);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(crossing_by_the_timer),
        TEST(crossing_by_a_check_waits_for_the_dump),
        TEST(G14_a_large_request_is_dumped_before_it_is_touched),
        TEST(a_thread_that_oversleeps_is_woken),
        TEST(gate_is_bounded),
        TEST(gate_holds_other_threads_too),
        TEST(gate_of_zero_never_waits),
        TEST(relief_owes_no_dump),
        TEST(failed_dump_is_tried_again),
        TEST(P15_sawtooth_is_bounded),
        TEST(G10_limit_lowered_and_raised_live),
        TEST(vanished_files_do_not_end_the_watch),
        TEST(a_watch_that_begins_blind_sees_later),
        TEST(G11_P17_file_cache_does_not_trip),
        TEST(request_works),
        TEST(off_watches_nothing_but_answers_requests),
        TEST(off_with_a_signal_has_a_thread),
        TEST(set_limit_arms_anew),
        TEST(without_a_thread_the_caller_dumps),
        TEST(a_thread_that_cannot_be_made_is_tried_again),
        TEST(a_stuck_callback_does_not_hold_up_the_dump),
        TEST(G18_forked_child_starts_its_own),
        TEST(G20_signals_never_reach_the_thread),
        TEST(thread_has_a_name),
        TEST(exit_spares_all_but_the_last),
        TEST(exit_comes_after_the_dump),
        TEST(abort_comes_after_the_dump),
        TEST(several_pairs_one_dump),
        TEST(thresholds_above_the_limit_fall_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
