/* guard/thread: it has its stack, whatever static TLS the process loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "guard/thread.h"
#include "heapprof/base/clock.h"

/* So much that the first stack holds the thread, but not what it needs. */
static __thread char ballast[40 * 1024];

static _Atomic int state;
static _Atomic uintptr_t ballast_at;

/* Uses what a dump may use. */
__attribute__((noinline)) static void use_stack(void) {
    volatile char room[60 * 1024];
    memset((char *)(uintptr_t)room, 1, sizeof room);
}

static struct guard_thread thread;

static void body(void) {
    use_stack();
    ballast[0] = 1;
    ballast_at = (uintptr_t)ballast;
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    bool all = guard_thread_is_self(&thread);
    for (int s = 1; s < 32; s++) {
        all = all && (s == SIGKILL || s == SIGSTOP || sigismember(&blocked, s) == 1);
    }
    state = all ? 1 : 2;
    for (;;) {
        (void)pause();
    }
}

static void test_stack_has_room_beside_the_tls(void **unused) {
    (void)unused;
    int64_t deadline = hp_clock_ns() + INT64_C(5000000000);
    thread = (struct guard_thread){.name = "test", .body = body, .loss = "nothing"};
    assert_false(guard_thread_is_there(&thread));
    while (state == 0 && hp_clock_ns() < deadline) {
        assert_true(guard_thread_start(&thread));
        struct timespec ts = {.tv_nsec = 1000000};
        (void)nanosleep(&ts, NULL);
    }
    assert_int_equal(state, 1);
    assert_true(guard_thread_is_there(&thread));
    assert_false(guard_thread_is_self(&thread));
    assert_int_not_equal(ballast_at, (uintptr_t)ballast);
    assert_true(guard_thread_start(&thread)); /* there already */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stack_has_room_beside_the_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
