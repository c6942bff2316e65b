/*
 * The kernel's own events, as extra wake-ups of the guard's thread. Nothing relies on them: where there are
 * none, or one is missed, the timer and the allocating threads' checks see the same a little later. What they
 * add is growth that no allocation of this process announces: a mapping touched long after it was made, a
 * neighbour in the same cgroup.
 *
 *   cgroup v1   an eventfd at each threshold (cgroup.event_control; must be writable, which it is not in most
 *               containers). It fires on both ways, and counts the file cache in.
 *   cgroup v2   memory.events, read-only: it changes when the limit itself, or memory.high, is met. Late, but
 * a group that has file cache or swap to give lives on for a while then. pressure    memory.pressure of such
 * a group, or /proc/pressure/memory when the machine itself is the limit: somebody waits for memory. Must be
 * writable, and takes CAP_SYS_RESOURCE or Linux 6.5.
 *
 * Descriptors that are kept would not be safe in the application's table: they live in the one of the guard's
 * thread (guard_thread_leave_descriptors), at numbers from 32 up, so that the small ones stay free for
 * reading and dumping. A wake can't be written into that table; so while the thread polls it is woken by
 * SIGURG, sent to it alone, blocked there as all signals are, and read from a signalfd. No handler ever runs
 * for it, and its default action is none.
 */
#ifndef GUARD_EVENT_H
#define GUARD_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "guard/watch.h"

/* On the guard's thread, in a table of its own: from now on events may be listened to. Without this call the
 * others do without. */
void guard_event_begin(void);

/* Listens to what the watch is about; cheap when that is as before. On the guard's thread; lock held. */
void guard_event_follow(const struct guard_watch *watch);

/* Sleeps until an event, a wake, or `timeout_ns` have passed (< 0: no time limit). Not at all if *wakes is no
 * longer `seen`. On the guard's thread. */
void guard_event_sleep(const _Atomic uint32_t *wakes, uint32_t seen, int64_t timeout_ns);

/* Wakes it; *wakes has been changed before, in sequentially consistent order. Async-signal-safe. */
void guard_event_wake(const _Atomic uint32_t *wakes);

/* In a forked child. */
void guard_event_forget(void);

#endif
