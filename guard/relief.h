/*
 * The application's pressure callbacks, on a thread of their own: made when there are callbacks, asked by the
 * guard's thread, waited for on a bounded time.
 *
 * Not on the guard's own thread, because callbacks are the application's code: they want its descriptors,
 * what they allocate is its memory, what they free must be free when they return, and they may block for
 * ever. On this thread a sample never leads into the guard: it would wait for a dump that waits for the
 * callback.
 */
#ifndef GUARD_RELIEF_H
#define GUARD_RELIEF_H

#include <stdbool.h>

#include "guard/guard.h"

/* There are callbacks from now on. Any thread. */
void guard_relief_expect(void);

/* Whether guard_relief_start() would do something; makes the thread. See guard_thread_start(). */
bool guard_relief_wants_start(void);
void guard_relief_start(void);

/* Calls the callbacks and waits for them: 1 s; at the last threshold half of HEAPPROF_GATE_MS, if that is
 * less. Returns whether they have ended by then. At once false when there is no thread or it is still at the
 * last call. By one thread at a time. */
bool guard_relief_ask(const struct guard_crossing *crossing);

/* Ends the wait of a guard_relief_ask(), now or to come, until there is time again. Any thread. */
void guard_relief_hurry(void);
void guard_relief_take_time(void);

/* Whether the caller runs on it. */
bool guard_relief_is_self(void);

/* The thread shall see that guard_threads_are_over(); waits for its end, at most until `deadline`. */
void guard_relief_wake(void);
void guard_relief_join(int64_t deadline);

/* In a forked child. */
void guard_relief_forget(void);

#endif
