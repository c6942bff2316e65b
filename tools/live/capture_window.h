/* The time between the two profiles of a capture. */
#ifndef HP_TOOLS_CAPTURE_WINDOW_H
#define HP_TOOLS_CAPTURE_WINDOW_H

#include <poll.h>
#include <stddef.h>

enum hp_window_end {
    HP_WINDOW_FULL,        /* all of it has passed */
    HP_WINDOW_INTERRUPTED, /* Ctrl-C: the user has seen enough */
    HP_WINDOW_DESERTED     /* every process has exited */
};

/*
 * Waits for `duration_ms`, at most until all of the processes, which are given by pidfds (-1: not known),
 * have exited, or SIGINT comes, which only ends the wait. Shows on a terminal how far it is, as `what`.
 */
enum hp_window_end hp_capture_window_wait(long duration_ms, const int *pidfds, size_t count,
                                          const char *what);

#endif
