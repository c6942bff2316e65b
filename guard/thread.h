/*
 * The guard's own thread: made when asked for, at most one a process, never ended.
 *
 * Its stack is ours, present in memory from the start (what runs there may run when there is no more memory
 * to be had), and ends at a page that faults. All signals are blocked on it: an application that waits for a
 * signal by sigwait() never loses it to us. Any thread may call these, but not below the dynamic loader.
 */
#ifndef GUARD_THREAD_H
#define GUARD_THREAD_H

#include <stdbool.h>

/* Makes the thread run `body`, which must not return, unless it is there. Cheap when it is. When it can't be
 * made that is said once, and tried again after 1 s, 2 s, … 64 s. Returns whether it is there or being made.
 */
bool guard_thread_start(void (*body)(void));

/* Whether it is there or being made. */
bool guard_thread_is_there(void);

/* Whether the caller runs on it. */
bool guard_thread_is_self(void);

/* In a forked child, which has only the thread that called fork(): there is no thread of ours. */
void guard_thread_forget(void);

#endif
