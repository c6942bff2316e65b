/*
 * What the usage was since the start: its peak, and how long it was how high. Pure; the caller guards it.
 *
 * The guard reads more often the nearer a threshold is and the faster usage grows, so readings must not count
 * one each: the high ones would count for too much. Each counts for time instead: half of the time since the
 * reading before, and half of the time until the next one (the trapezoid rule). That is right for a usage
 * that stands or grows steadily between two readings, whenever they are made; of a spike in between that
 * nobody read, nothing is known.
 */
#ifndef GUARD_TRACK_H
#define GUARD_TRACK_H

#include <stdint.h>

#include "guard/histogram.h"

/* All zero: nothing noted yet. */
struct guard_track {
    struct guard_histogram histogram;
    uint64_t peak;
    uint64_t usage; /* of the last reading */
    int64_t when;   /* it was made; 0: none yet */
};

/* Takes in a usage (bytes) read at `now` (ns, decide.h). A reading that is not later than the last counts for
 * the peak only. */
void guard_track_note(struct guard_track *track, uint64_t usage, int64_t now);

/* The usage that was not exceeded for `per_mille` thousandths of the time; never more than the peak. 0:
 * nothing known. */
uint64_t guard_track_value(const struct guard_track *track, unsigned per_mille);

#endif
