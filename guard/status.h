/*
 * The guard's own state, for people who ask: what it watches, how that stands, and what it has done since the
 * start (in a forked child: since the fork).
 */
#ifndef GUARD_STATUS_H
#define GUARD_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "guard/guard.h"

enum { GUARD_STATUS_LIMITS = 8 };

struct guard_status_threshold {
    uint64_t bytes;
    unsigned percent; /* of the limit, rounded */
    bool is_armed;
    unsigned fired;      /* how often it was reached, or foreseen to be */
    int64_t last_ns;     /* when last, since the Unix epoch; 0: never */
    uint64_t last_usage; /* at that time */
};

/* One pair of a usage and a limit. Sizes in bytes. */
struct guard_status_limit {
    char source[GUARD_SOURCE_MAX];
    uint64_t usage;
    uint64_t limit;
    bool kills; /* false: an early warning (memory.high) */
    unsigned count;
    struct guard_status_threshold thresholds[HP_THRESHOLDS_MAX];
};

struct guard_status {
    bool is_watching;             /* false: nothing limits this process, and only `resident` means anything */
    struct guard_reading reading; /* made for this */
    uint64_t resident;            /* RSS + swap of this process; 0: not known */
    uint64_t peak;
    uint64_t watched_ns; /* the time that the percentiles are of; 0: there are none */
    uint64_t p50, p90, p99, p999;
    unsigned count; /* of the limits that are listed; the nearest to its end first */
    unsigned left_out;
    struct guard_status_limit limits[GUARD_STATUS_LIMITS];
};

/* Fills *status, after an exact reading. False when the guard is busy for longer than a second. Any thread,
 * muted; may change errno. */
bool guard_status_read(struct guard_status *status);

#endif
