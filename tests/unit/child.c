#include "tests/unit/child.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cmocka_first.h"

static void be_child(int (*body)(void), int said_fd) {
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(SIGALRM, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL); /* cmocka catches some signals to go on with the next test */
    (void)signal(SIGSEGV, SIG_DFL);
    (void)alarm(30);
    (void)dup2(said_fd, 2);
    _exit(body());
}

void child_run(int (*body)(void), struct child_end *end) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        be_child(body, ends[1]);
    }
    (void)close(ends[1]);
    size_t length = 0;
    ssize_t n = 0;
    char rest[512];
    do {
        bool fits = length < sizeof end->said - 1;
        n = fits ? read(ends[0], end->said + length, sizeof end->said - 1 - length)
                 : read(ends[0], rest, sizeof rest);
        length += fits && n > 0 ? (size_t)n : 0;
    } while (n > 0);
    end->said[length] = '\0';
    (void)close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void child_must_succeed(int (*body)(void)) {
    struct child_end end;
    child_run(body, &end);
    if (end.status == CHILD_SKIP) {
        skip();
    }
    if (end.status != 0) {
        print_error("in the child: status %d (100 + its line %% 100), signal %d\n%s\n", end.status,
                    end.signal, end.said);
    }
    assert_int_equal(end.status, 0);
}
