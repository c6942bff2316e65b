/*
 * How fast a usage grows: how soon to look again, and what is to come while a dump is made. Pure; the caller
 * guards the state.
 */
#ifndef GUARD_PACE_H
#define GUARD_PACE_H

#include <stdint.h>

#define GUARD_SLEEP_MIN_NS INT64_C(1000000)    /* 1 ms */
#define GUARD_SLEEP_IDLE_NS INT64_C(80000000)  /* 80 ms */
#define GUARD_SLEEP_MAX_NS INT64_C(1000000000) /* 1 s */

/* The fastest recent growth of one usage. All zero: nothing known yet. */
struct guard_pace {
    uint64_t usage; /* at the last look that counted */
    int64_t when;   /* ns; 0: none yet */
    uint64_t rate;  /* bytes a second */
};

/* Takes in a usage read at `now`. A faster growth is believed at once, a slower one by and by: the rate
 * halves in 5 s, is a third after 10 s, and so on. */
void guard_pace_note(struct guard_pace *pace, uint64_t usage, int64_t now);

/*
 * Half the time that the rate needs for `distance` bytes, between 1 ms and 1 s.
 *
 * If the process has `untouched` memory enough to go the distance without another allocation, no longer than
 * 2 GiB/s would need or 80 ms, whichever is more: then one look falls into the middle of it and sets the
 * pace. Twelve looks a second are what an idle process can be charged.
 */
int64_t guard_pace_sleep(const struct guard_pace *pace, uint64_t distance, uint64_t untouched);

/* A usage at two moments past, to tell how it grows at present. All zero: nothing known yet. */
struct guard_trend {
    uint64_t usage[2]; /* the older first */
    int64_t when[2];   /* ns; 0: none yet */
};

/* Takes in a usage read at `now`. Returns by how much it will grow in the next `span` ns if it goes on as in
 * the last: what it has grown since a look half a span to a span ago; the span's share of it when nobody
 * looked for longer. Never more than has been seen: one batch of pages is no flood. */
uint64_t guard_trend_note(struct guard_trend *trend, uint64_t usage, int64_t now, int64_t span);

#endif
