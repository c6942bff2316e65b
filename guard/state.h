/*
 * What the guard's two halves share: guard.c looks, jobs.c acts. Included by nobody else.
 */
#ifndef GUARD_STATE_H
#define GUARD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "guard/guard.h"
#include "guard/track.h"
#include "guard/watch.h"

struct guard_state {
    const struct hp_options *options; /* set once, as host; host is NULL until all is bound */
    const struct guard_host *host;
    struct guard_watch watch; /* guarded by the lock, as track */
    struct guard_track track; /* of the pair with the smallest headroom */
};

extern struct guard_state guard_state;

/* The guard's one lock. Never held while the host is called. */
void guard_lock(void);
bool guard_lock_within(int64_t timeout_ns);
void guard_unlock(void);

/* Whether this thread holds the lock or runs a job's actions: what allocates or fails to then, a signal
 * handler or a fork handler, must not come here again. */
bool guard_is_inside(void);
/* Marks this thread as running actions. */
void guard_set_acting(bool is_acting);

/* Takes what was just read into the track, if it is exact. Lock held. */
void guard_note_usage(int64_t now);

/* Tells the allocating threads how far they may go. Lock held. */
void guard_publish(void);

/* Has the guard's thread look and act at once. Async-signal-safe. */
void guard_wake(void);

static inline int64_t guard_gate_ns(void) {
    return (int64_t)guard_state.options->gate_ms * 1000000;
}

#endif
