/*
 * Something a test runs in a forked child: what is meant to die, to change the whole process, or to fill a
 * table that can't be emptied.
 */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <stdbool.h>

struct child_end {
    int status;      /* what the body returned; -1: a signal ended it */
    int signal;      /* that signal; SIGALRM after 30 seconds */
    char said[8192]; /* its standard error, cut to fit */
};

/* Runs `body` in a forked child to its end. */
void child_run(int (*body)(void), struct child_end *end);

/* For a body: returns its line number modulo 100, plus 100, where `condition` does not hold (cmocka's own
 * assertions would go on with the parent's tests in the child). */
#define CHILD_CHECK(condition)                                                                               \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            return __LINE__ % 100 + 100;                                                                     \
        }                                                                                                    \
    } while (0)

/* What a body returns that can't be run here. */
enum { CHILD_SKIP = 77 };

/* Fails the test unless the child returned 0, and says what it said; skips it for CHILD_SKIP. */
void child_must_succeed(int (*body)(void));

#endif
