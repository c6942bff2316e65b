/* The trap of the test build: malloc's check aborts between begin and end, and only there. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "heapprof/base/no_malloc.h"

/* How a child that does `what` ends: the signal that kills it, 0 when none does. */
static int signal_of(void (*what)(void)) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        (void)close(2); /* the line that the trap writes is wanted by nobody here */
        what();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void check_inside(void) {
    hp_no_malloc_begin();
    hp_no_malloc_check();
}

static void check_inside_nested(void) {
    hp_no_malloc_begin();
    hp_no_malloc_begin();
    hp_no_malloc_end();
    hp_no_malloc_check();
}

static void check_outside(void) {
    hp_no_malloc_check();
    hp_no_malloc_begin();
    hp_no_malloc_end();
    hp_no_malloc_check();
}

static void springs_between_begin_and_end(void **state) {
    (void)state;
    assert_int_equal(signal_of(check_inside), SIGABRT);
}

static void springs_until_the_outer_end(void **state) {
    (void)state;
    assert_int_equal(signal_of(check_inside_nested), SIGABRT);
}

static void does_not_spring_elsewhere(void **state) {
    (void)state;
    assert_int_equal(signal_of(check_outside), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_between_begin_and_end),
        cmocka_unit_test(springs_until_the_outer_end),
        cmocka_unit_test(does_not_spring_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
