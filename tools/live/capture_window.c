#include "tools/live/capture_window.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "tools/base/memory.h"
#include "tools/base/progress.h"

enum { STEP_MS = 100, EXITED = -2 /* as a descriptor, which poll passes over */ };

static volatile sig_atomic_t was_interrupted;

static void interrupt(int signal) {
    (void)signal;
    was_interrupted = 1;
}

static long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Takes out those that have exited, and says how many are left. */
static size_t count_alive(struct pollfd *processes, size_t count) {
    size_t alive = 0;
    for (size_t i = 0; i < count; i++) {
        if (processes[i].revents != 0)
            processes[i].fd = EXITED;
        alive += processes[i].fd != EXITED;
    }
    return alive;
}

/* SIGINT gets through only while it sleeps, so none is missed between a look and the sleep. */
static enum hp_window_end wait_through(long duration_ms, struct pollfd *processes, size_t count,
                                       const sigset_t *mask, const char *what) {
    long start = now_ms(), passed = 0;
    while ((passed = now_ms() - start) < duration_ms) {
        long left = duration_ms - passed, step = left < STEP_MS ? left : STEP_MS;
        hp_progress_show("%s: %ld.%ld of %ld.%ld s; Ctrl-C ends it early", what, passed / 1000,
                         passed / 100 % 10, duration_ms / 1000, duration_ms / 100 % 10);
        const struct timespec sleep = {.tv_sec = 0, .tv_nsec = step * 1000000};
        ppoll(processes, count, &sleep, mask);
        if (was_interrupted)
            return HP_WINDOW_INTERRUPTED;
        if (count_alive(processes, count) == 0)
            return HP_WINDOW_DESERTED;
    }
    return HP_WINDOW_FULL;
}

enum hp_window_end hp_capture_window_wait(long duration_ms, const int *pidfds, size_t count,
                                          const char *what) {
    struct pollfd *processes = hp_memory_new(count, sizeof *processes);
    for (size_t i = 0; i < count; i++)
        processes[i] = (struct pollfd){.fd = pidfds[i], .events = POLLIN};
    struct sigaction action = {.sa_handler = interrupt}, before;
    sigset_t blocked, mask;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    was_interrupted = 0;
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    sigaction(SIGINT, &action, &before);
    enum hp_window_end end = wait_through(duration_ms, processes, count, &mask, what);
    sigaction(SIGINT, &before, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    hp_progress_clear();
    free(processes);
    return end;
}
