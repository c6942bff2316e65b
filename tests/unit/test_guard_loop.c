/* guard/guard: how it looks: the timer, the allocating threads' checks, requests, its thread, fork. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "heapprof/base/clock.h"
#include "tests/unit/guard_scene.h"
#include "tests/unit/guard_tree.h"

static void crossing_by_the_timer(void) {
    CHECK(begins_at(95));
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

/* How often the guard's thread has gone to sleep. */
static long turns(void) {
    char path[64];
    char line[128];
    long count = -1;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/status", seen.thread_id);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    }
    CHECK(file != NULL && fclose(file) == 0 && count >= 0);
    return count;
}

enum { LATE = 3 };

/* Until just after a turn of the idle guard, whose next is nearly a second away. */
static void begin_a_long_sleep(void) {
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 10000));
    sleep_ms(1500);
    long before = turns();
    while (turns() == before) {
        sleep_ms(1);
    }
}

/* Ends the scenario when the dump has come. */
static void expect_a_dump_in_time(void) {
    int64_t start = hp_clock_ns();
    CHECK(comes(&seen.dumps, 1, 10000));
    _exit(hp_clock_ns() - start < 600 * MS ? 0 : LATE);
}

/* A crossing that only the timer can see is seen soon when two checks have told how much may be touched. */
static void a_thread_that_oversleeps_is_woken(void) {
    begin_a_long_sleep();
    guard_tree_statm(0, 0, 100 * MIB);
    for (int i = 0; i < 2; i++) { /* neither would cross, but both may be touched without another call */
        guard_check(50 * MIB);
        sleep_ms(1);
    }
    CHECK(seen.dumps == 0);
    sleep_ms(5);
    set_usage(104);
    expect_a_dump_in_time();
}

/* A check that can't read has the guard's thread read, in its own table. */
static void a_check_without_a_descriptor_wakes_the_thread(void) {
    begin_a_long_sleep();
    set_usage(127);
    while (dup(0) >= 0) {
    }
    guard_check(0);
    expect_a_dump_in_time();
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

static void growth_that_would_race_the_dump_is_dumped_before(void) {
    CHECK(begins());
    guard_start();
    look_for(60);
    set_usage(102); /* short of 80 %, but again as much is beyond the limit */
    guard_check(0);
    look_for(5);
    CHECK(seen.dumps == 1);
    CHECK(seen.crossings[0].is_predicted && seen.crossings[0].is_last && seen.crossings[0].percent == 95);
    CHECK(seen.crossings[0].reading.usage == 102 * MIB);
    CHECK(seen.purges == 1); /* which is no relief if it takes nothing off */
    look_for(100);
    CHECK(seen.dumps == 1);
}

static void the_time_of_a_dump_is_learned(void) {
    CHECK(begins_at(95));
    guard_start();
    seen.dump_ms = 400;
    set_usage(104);
    CHECK(comes(&seen.dumps, 1, 5000));
    seen.dump_ms = 0;
    set_usage(20);
    look_for(500);
    set_usage(50); /* slow for a dump of 20 ms; not for one of 400 */
    look_for(60);
    set_usage(80);
    look_for(5);
    CHECK(seen.dumps == 2 && seen.crossings[1].is_predicted);
    set_usage(20); /* and forgotten: that was a quick one, as the next are */
    look_for(500);
}

static void slow_growth_is_left_alone(void) {
    CHECK(begins());
    guard_start();
    look_for(60);
    set_usage(60);
    look_for(60);
    set_usage(90);
    look_for(60);
    for (uint64_t mib = 91; mib < 127; mib++) {
        set_usage(mib);
        look_for(25);
    }
    CHECK(seen.dumps == 3);
    for (int i = 0; i < 3; i++) {
        CHECK(!seen.crossings[i].is_predicted);
    }
}

static void the_start_is_wanted_when_it_does_something(void) {
    CHECK(!guard_wants_start());
    begin();
    CHECK(guard_init(&options, &host));
    CHECK(guard_wants_start());
    guard_start();
    CHECK(!guard_wants_start());
    guard_expect_pressure();
    CHECK(guard_wants_start());
    guard_start();
    CHECK(!guard_wants_start());
    guard_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        guard_fork_child();
        _exit(guard_wants_start() ? 0 : 1);
    }
    guard_fork_parent();
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
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

SCENARIO(crossing_by_the_timer)
SCENARIO(crossing_by_a_check_waits_for_the_dump)
SCENARIO(G14_a_large_request_is_dumped_before_it_is_touched)
SCENARIO(G10_limit_lowered_and_raised_live)
SCENARIO(vanished_files_do_not_end_the_watch)
SCENARIO(a_watch_that_begins_blind_sees_later)
SCENARIO(G11_P17_file_cache_does_not_trip)
SCENARIO(request_works)
SCENARIO(off_watches_nothing_but_answers_requests)
SCENARIO(off_with_a_signal_has_a_thread)
SCENARIO(set_limit_arms_anew)
SCENARIO(a_thread_that_cannot_be_made_is_tried_again)
SCENARIO(growth_that_would_race_the_dump_is_dumped_before)
SCENARIO(the_time_of_a_dump_is_learned)
SCENARIO(slow_growth_is_left_alone)
SCENARIO(the_start_is_wanted_when_it_does_something)
SCENARIO(G18_forked_child_starts_its_own)
SCENARIO(G20_signals_never_reach_the_thread)
SCENARIO(thread_has_a_name)
SCENARIO(several_pairs_one_dump)
SCENARIO(thresholds_above_the_limit_fall_back)

/* One that is not woken is never in time; one that is may be late on a loaded machine, but not each time. */
static int run_until_in_time(void (*scenario)(void)) {
    int status = LATE << 8;
    for (int i = 0; i < 6 && WIFEXITED(status) && WEXITSTATUS(status) == LATE; i++) {
        guard_tree_make();
        status = run(scenario);
    }
    return status;
}

static void test_a_thread_that_oversleeps_is_woken(void **state) {
    (void)state;
    assert_int_equal(run_until_in_time(a_thread_that_oversleeps_is_woken), 0);
}

static void test_a_check_without_a_descriptor_wakes_the_thread(void **state) {
    (void)state;
    assert_int_equal(run_until_in_time(a_check_without_a_descriptor_wakes_the_thread), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(crossing_by_the_timer),
        TEST(crossing_by_a_check_waits_for_the_dump),
        TEST(G14_a_large_request_is_dumped_before_it_is_touched),
        TEST(a_thread_that_oversleeps_is_woken),
        TEST(a_check_without_a_descriptor_wakes_the_thread),
        TEST(G10_limit_lowered_and_raised_live),
        TEST(vanished_files_do_not_end_the_watch),
        TEST(a_watch_that_begins_blind_sees_later),
        TEST(G11_P17_file_cache_does_not_trip),
        TEST(request_works),
        TEST(off_watches_nothing_but_answers_requests),
        TEST(off_with_a_signal_has_a_thread),
        TEST(set_limit_arms_anew),
        TEST(a_thread_that_cannot_be_made_is_tried_again),
        TEST(growth_that_would_race_the_dump_is_dumped_before),
        TEST(the_time_of_a_dump_is_learned),
        TEST(slow_growth_is_left_alone),
        TEST(the_start_is_wanted_when_it_does_something),
        TEST(G18_forked_child_starts_its_own),
        TEST(G20_signals_never_reach_the_thread),
        TEST(thread_has_a_name),
        TEST(several_pairs_one_dump),
        TEST(thresholds_above_the_limit_fall_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
