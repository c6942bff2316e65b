/*
 * The guard's own threads: each made when asked for, once a process; they end when the main thread does.
 *
 * A process whose main thread has called pthread_exit() lives until its last thread ends, and the C library
 * counts ours with them. Signals would find nobody either, but a thread that blocks them all. So
 * guard_threads_close().
 *
 * Its stack is ours, present in memory from the start unless the thread is lean (what runs there may run when there is
 * no more memory to be had), and ends at a page that faults. All signals are blocked on it: an application that waits for a
 * signal by sigwait() never loses it to us. Any thread may call these, but not below the dynamic loader.
 */
#ifndef GUARD_THREAD_H
#define GUARD_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Static, one for each thread; the first four are set by its owner. */
struct guard_thread {
    const char *name; /* at most 15 bytes */
    /* Returns when guard_threads_are_over(), or in a child that was forked on this very thread. */
    void (*body)(void);
    const char *loss; /* what people lose when it can't be made */
    bool is_lean;     /* nothing that can't wait runs there: its stack's pages come as they are touched */

    _Atomic int state;
    _Atomic int64_t retry_at; /* while it could not be made */
    /* Written by who has set that it is being made, and by the new thread before it says that it runs. */
    unsigned failures;
    char *stack;                /* above the page that faults; NULL: none yet */
    _Atomic size_t stack_bytes; /* to ask for, or of `stack` */
    pthread_t handle;           /* while state says that it runs */
};

/* Makes the thread, unless it is there. Cheap when it is. When it can't be made that is said once, and tried
 * again after 1 s, 2 s, … 64 s. Returns whether it is there or being made. */
bool guard_thread_start(struct guard_thread *thread);

/* Whether it is there or being made. */
bool guard_thread_is_there(const struct guard_thread *thread);

/* Whether the caller runs on it. */
bool guard_thread_is_self(const struct guard_thread *thread);

/* From now on no thread of ours is made, until guard_threads_open(), in a forked child; those that there are
 * shall end: their owners wake them, and wait with guard_thread_join(). */
void guard_threads_close(void);
void guard_threads_open(void);
bool guard_threads_are_over(void);

/* Waits until the thread has ended, at most until `deadline` (hp_clock_ns()). Not on it, and by one thread.
 */
void guard_thread_join(struct guard_thread *thread, int64_t deadline);

/* In a forked child, which has only the thread that called fork(): there is no thread of ours. */
void guard_thread_forget(struct guard_thread *thread);

/*
 * Gives the calling thread an empty table of descriptors of its own, where the kernel can (5.9) and may; log
 * lines of this thread go to the application's standard error as it is at that time. Returns whether it has
 * one.
 *
 * In the application's table it could find no number free, or have one closed or replaced under its hands by
 * an application that closes whatever it finds; and what it opens would be seen, and inherited, by others.
 */
bool guard_thread_leave_descriptors(void);

#endif
