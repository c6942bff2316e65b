/* tools/capture_window: how a window ends. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/live/capture_window.h"
#include "tests/unit/cmocka_first.h"

static long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Whether the process has a handler for SIGINT: without one it would be the end of it. */
static bool catches_sigint(pid_t pid) {
    char path[40], line[128];
    unsigned long caught = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "SigCgt: %lx", &caught) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return (caught >> (SIGINT - 1) & 1) != 0;
}

/* A child that exits after `ms`, or, for the waiting parent's Ctrl-C, when that waits. */
static pid_t start_child(int ms, bool interrupts, int *pidfd) {
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        usleep((useconds_t)ms * 1000);
        while (interrupts && !catches_sigint(parent))
            usleep(1000);
        if (interrupts)
            kill(parent, SIGINT);
        _exit(0);
    }
    *pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    assert_true(*pidfd >= 0);
    return child;
}

static void end_child(pid_t child, int pidfd) {
    close(pidfd);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void lasts_its_time(void **state) {
    (void)state;
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    long start = now_ms();
    assert_int_equal(hp_capture_window_wait(250, &self, 1, "test"), HP_WINDOW_FULL);
    assert_true(now_ms() - start >= 250);
    close(self);
}

static void an_unknown_process_may_be_there(void **state) {
    (void)state;
    int unknown = -1;
    assert_int_equal(hp_capture_window_wait(150, &unknown, 1, "test"), HP_WINDOW_FULL);
}

static void ctrl_c_ends_it_and_nothing_else(void **state) {
    (void)state;
    struct sigaction action;
    sigset_t mask;
    int pidfd;
    pid_t child = start_child(0, true, &pidfd);
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    assert_int_equal(hp_capture_window_wait(60000, &self, 1, "test"), HP_WINDOW_INTERRUPTED);
    close(self);
    end_child(child, pidfd);
    /* The next one kills again. */
    sigaction(SIGINT, NULL, &action);
    assert_true(action.sa_handler == SIG_DFL);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
}

static void ends_when_the_last_process_has_exited(void **state) {
    (void)state;
    int pidfds[2];
    pid_t first = start_child(0, false, &pidfds[0]), second = start_child(300, false, &pidfds[1]);
    long start = now_ms();
    assert_int_equal(hp_capture_window_wait(60000, pidfds, 2, "test"), HP_WINDOW_DESERTED);
    assert_true(now_ms() - start >= 250);
    end_child(first, pidfds[0]);
    end_child(second, pidfds[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lasts_its_time),
        cmocka_unit_test(an_unknown_process_may_be_there),
        cmocka_unit_test(ctrl_c_ends_it_and_nothing_else),
        cmocka_unit_test(ends_when_the_last_process_has_exited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
