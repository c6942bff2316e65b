/* guard/jobs, guard/relief: what it does about a crossing and about refused memory, and who waits for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "heapprof/base/clock.h"
#include "tests/unit/guard_scene.h"
#include "tests/unit/guard_tree.h"

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
    CHECK(begins_at(95));
    guard_start();
    guard_check(0);
    seen.usage_after_purge = 95;
    set_usage(104);
    CHECK(comes(&seen.purges, 1, 3000));
    sleep_ms(100);
    CHECK(seen.dumps == 0);
    sleep_ms(1000);
    seen.usage_after_purge = 0;
    seen.usage_after_pressure = 95;
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
    CHECK(begins_at(95));
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

static void without_a_thread_the_caller_dumps(void) {
    CHECK(begins());
    set_usage(127);
    guard_check(0);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread == pthread_self());
    CHECK(seen.pressures == 0); /* the application's code never runs inside its own malloc */
    CHECK(seen.purges == 1);
}

static void a_stuck_callback_does_not_hold_up_the_dump(void) {
    set("HEAPPROF_GATE_MS", "100");
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    seen.pressure_ms = 2500;
    set_usage(127);
    int64_t ms = ms_of_check(0);
    CHECK(ms < 400);
    CHECK(comes(&seen.dumps, 1, 300));
    CHECK(seen.pressures == 1);
    guard_tree_write(LEAF "/memory.max", "128000000\n"); /* another crossing, with the callback still stuck */
    sleep_ms(950);
    (void)ms_of_check(0);
    CHECK(comes(&seen.dumps, 2, 1200));
    CHECK(seen.pressures == 1);
    sleep_ms(1900);
    CHECK(seen.pressures == 1); /* it is back, and was not asked in vain meanwhile */
    seen.pressure_ms = 0;
    guard_tree_write(LEAF "/memory.max", "127000000\n");
    CHECK(comes(&seen.dumps, 3, 3000));
    CHECK(seen.pressures == 2);
}

static void a_slow_callback_is_left_when_it_becomes_urgent(void) {
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    guard_check(0);
    seen.pressure_ms = 700;
    set_usage(104);
    CHECK(comes(&seen.pressures, 1, 3000));
    set_usage(127);
    int64_t ms = ms_of_check(0);
    CHECK(seen.dumps == 2 && seen.crossings[1].is_last); /* both, before the callback is back */
    CHECK(ms < 250);
    sleep_ms(800);
    seen.pressure_ms = 100; /* the next one is waited for again */
    seen.usage_after_pressure = 90;
    set_usage(90);
    look_for(60);
    set_usage(104);
    CHECK(comes(&seen.pressures, 2, 3000));
    sleep_ms(400);
    CHECK(seen.dumps == 2);
}

/* -- Memory that the kernel refuses -- */

static void G25_refused_memory_is_dumped_before_the_call_returns(void) {
    set("HEAPPROF_ON_LIMIT", "purge,dump,exit"); /* exit is for the last threshold */
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    seen.dump_ms = 30;
    errno = ENOMEM;
    guard_out_of_memory(3 * MIB);
    CHECK(errno == ENOMEM);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread != pthread_self());
    const struct guard_crossing *c = &seen.crossings[0];
    CHECK(c->is_out_of_memory && c->is_last && !c->is_predicted && c->refused_bytes == 3 * MIB);
    CHECK(c->threshold == 0 && c->percent == 0);
    CHECK(c->reading.usage == 20 * MIB && c->reading.limit == 128 * MIB);
    CHECK(seen.purges == 0 && seen.pressures == 0);
    set_usage(104); /* has nothing to do with thresholds */
    CHECK(comes(&seen.dumps, 2, 3000));
    CHECK(!seen.crossings[1].is_out_of_memory && seen.crossings[1].threshold > 0);
}

static void G25_without_a_thread_the_caller_dumps(void) {
    CHECK(begins());
    errno = ENOMEM;
    guard_out_of_memory(1);
    CHECK(errno == ENOMEM);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread == pthread_self());
    CHECK(seen.purges == 0 && seen.pressures == 0 && seen.begun == 0);
}

static void G25_works_when_nothing_is_watched(void) {
    set("HEAPPROF_LIMIT", "off");
    CHECK(!begins());
    CHECK(!guard_wants_start());
    guard_out_of_memory(1);
    CHECK(seen.dumps == 1 && seen.crossings[0].reading.limit == UINT64_MAX);
}

static void G25_a_limit_of_the_process_wants_the_thread(void) {
    struct rlimit limit = {.rlim_cur = UINT64_C(1) << 46, .rlim_max = UINT64_C(1) << 46};
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    set("HEAPPROF_LIMIT", "off");
    CHECK(!begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    guard_out_of_memory(1);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread != pthread_self());
}

static void G25_refusals_in_a_loop_are_no_flood(void) {
    CHECK(begins());
    guard_start();
    int64_t start = hp_clock_ns();
    for (int i = 0; i < 100000; i++) {
        guard_out_of_memory(1);
    }
    CHECK(seen.dumps == 2);
    CHECK(hp_clock_ns() - start < 2000 * MS);
}

static void G25_a_failing_dump_is_not_tried_in_a_loop(void) {
    CHECK(begins());
    guard_start();
    seen.failing = 10;
    for (int i = 0; i < 100; i++) {
        guard_out_of_memory(1);
    }
    CHECK(seen.failing == 8 && seen.dumps == 0);
}

static void *refuse_once(void *dumps) {
    guard_out_of_memory(1);
    *(int *)dumps = seen.dumps;
    return NULL;
}

static void G25_threads_refused_together_share_a_dump(void) {
    CHECK(begins());
    guard_start();
    seen.dump_ms = 150;
    int dumps[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, refuse_once, &dumps[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(dumps[i] >= 1);
    }
}

static int64_t ms_of_refusal(void) {
    int64_t start = hp_clock_ns();
    guard_out_of_memory(1);
    return (hp_clock_ns() - start) / MS;
}

static void G25_the_wait_is_bounded(void) {
    set("HEAPPROF_GATE_MS", "80");
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    seen.dump_ms = 700;
    int64_t ms = ms_of_refusal();
    CHECK(ms >= 79 && ms < 400);
    CHECK(seen.dumps == 0);
    CHECK(comes(&seen.dumps, 1, 3000));
}

static void G25_a_gate_of_zero_never_waits(void) {
    set("HEAPPROF_GATE_MS", "0");
    CHECK(begins());
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    seen.dump_ms = 500;
    CHECK(ms_of_refusal() < 300);
    CHECK(comes(&seen.dumps, 1, 3000));
    CHECK((pthread_t)seen.dumping_thread != pthread_self());
}

/* The purge stands for one that waits for a lock of the allocator which the refused thread holds. */
static void G25_a_guard_that_waits_for_the_caller_is_not_waited_for(void) {
    CHECK(begins_at(95));
    guard_start();
    guard_check(0);
    seen.purge_ms = 1000;
    set_usage(104);
    CHECK(comes(&seen.purges, 1, 3000));
    int64_t ms = ms_of_refusal();
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread == pthread_self());
    CHECK(seen.crossings[0].is_out_of_memory && ms < 600);
    CHECK(comes(&seen.dumps, 2, 3000));
}

/* Here it waits for a lock of a thread that the kernel has put to sleep, for memory.high or worse. */
static void G23_a_guard_that_is_stuck_is_overtaken(void) {
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 3000));
    sleep_ms(50);
    seen.purge_ms = 3000;
    set_usage(126);
    int64_t ms = ms_of_check(0);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread == pthread_self());
    CHECK(seen.crossings[0].is_last && seen.crossings[0].is_overtaken && ms >= 100 && ms < 1000);
    CHECK(ms_of_check(0) < 100); /* the gate is open again */
    sleep_ms(3500);
    CHECK(seen.purges == 1 && seen.dumps == 1); /* and none is owed when it comes back */
}

static void G23_a_guard_that_does_not_come_is_not_waited_for(void) {
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 3000));
    sleep_ms(50);
    seen.request_ms = 3000;
    guard_request();
    CHECK(comes(&seen.requests, 1, 3000));
    set_usage(126);
    CHECK(ms_of_check(0) < 1000);
    CHECK(seen.dumps == 1 && (pthread_t)seen.dumping_thread == pthread_self() && !seen.crossings[0].is_overtaken);
    sleep_ms(3500);
    CHECK(seen.dumps == 1);
}

static void G23_an_overtaken_dump_that_fails_is_still_owed(void) {
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 3000));
    sleep_ms(50);
    seen.purge_ms = 1000;
    seen.failing = 1;
    set_usage(126);
    CHECK(ms_of_check(0) < 1000);
    CHECK(comes(&seen.dumps, 1, 5000));
    CHECK(!seen.crossings[0].is_overtaken && (pthread_t)seen.dumping_thread != pthread_self());
}

static void G25_the_guards_own_work_leads_nowhere(void) {
    CHECK(begins());
    seen.purge_refuses = true;
    set_usage(104);
    sleep_ms(1);
    guard_check(0); /* on this thread */
    CHECK(seen.dumps == 1 && seen.purges == 1);
    guard_fork_prepare(); /* other handlers of fork() allocate while this thread has the guard's lock */
    guard_out_of_memory(1);
    guard_fork_parent();
    CHECK(seen.dumps == 1);
    guard_start();
    set_usage(127);
    CHECK(comes(&seen.dumps, 2, 3000)); /* on the guard's */
    CHECK(!seen.crossings[0].is_out_of_memory && !seen.crossings[1].is_out_of_memory);
    guard_out_of_memory(1);
    CHECK(seen.dumps == 3);
}

static void exit_spares_all_but_the_last(void) {
    set("HEAPPROF_ON_LIMIT", "dump,exit");
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
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

SCENARIO(gate_is_bounded)
SCENARIO(gate_holds_other_threads_too)
SCENARIO(gate_of_zero_never_waits)
SCENARIO(relief_owes_no_dump)
SCENARIO(failed_dump_is_tried_again)
SCENARIO(P15_sawtooth_is_bounded)
SCENARIO(without_a_thread_the_caller_dumps)
SCENARIO(a_stuck_callback_does_not_hold_up_the_dump)
SCENARIO(a_slow_callback_is_left_when_it_becomes_urgent)
SCENARIO(G25_refused_memory_is_dumped_before_the_call_returns)
SCENARIO(G25_without_a_thread_the_caller_dumps)
SCENARIO(G25_works_when_nothing_is_watched)
SCENARIO(G25_a_limit_of_the_process_wants_the_thread)
SCENARIO(G25_refusals_in_a_loop_are_no_flood)
SCENARIO(G25_a_failing_dump_is_not_tried_in_a_loop)
SCENARIO(G25_threads_refused_together_share_a_dump)
SCENARIO(G25_the_wait_is_bounded)
SCENARIO(G25_a_gate_of_zero_never_waits)
SCENARIO(G25_a_guard_that_waits_for_the_caller_is_not_waited_for)
SCENARIO(G23_a_guard_that_is_stuck_is_overtaken)
SCENARIO(G23_a_guard_that_does_not_come_is_not_waited_for)
SCENARIO(G23_an_overtaken_dump_that_fails_is_still_owed)
SCENARIO(G25_the_guards_own_work_leads_nowhere)
SCENARIO(exit_spares_all_but_the_last)

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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(gate_is_bounded),
        TEST(gate_holds_other_threads_too),
        TEST(gate_of_zero_never_waits),
        TEST(relief_owes_no_dump),
        TEST(failed_dump_is_tried_again),
        TEST(P15_sawtooth_is_bounded),
        TEST(without_a_thread_the_caller_dumps),
        TEST(a_stuck_callback_does_not_hold_up_the_dump),
        TEST(a_slow_callback_is_left_when_it_becomes_urgent),
        TEST(G25_refused_memory_is_dumped_before_the_call_returns),
        TEST(G25_without_a_thread_the_caller_dumps),
        TEST(G25_works_when_nothing_is_watched),
        TEST(G25_a_limit_of_the_process_wants_the_thread),
        TEST(G25_refusals_in_a_loop_are_no_flood),
        TEST(G25_a_failing_dump_is_not_tried_in_a_loop),
        TEST(G25_threads_refused_together_share_a_dump),
        TEST(G25_the_wait_is_bounded),
        TEST(G25_a_gate_of_zero_never_waits),
        TEST(G25_a_guard_that_waits_for_the_caller_is_not_waited_for),
        TEST(G23_a_guard_that_is_stuck_is_overtaken),
        TEST(G23_a_guard_that_does_not_come_is_not_waited_for),
        TEST(G23_an_overtaken_dump_that_fails_is_still_owed),
        TEST(G25_the_guards_own_work_leads_nowhere),
        TEST(exit_spares_all_but_the_last),
        TEST(exit_comes_after_the_dump),
        TEST(abort_comes_after_the_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
