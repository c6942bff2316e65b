#include "guard/pace.h"

/* Before anything is known: what one slow thread can touch. */
static const uint64_t first_rate = UINT64_C(256) << 20;

/* The kernel charges a cgroup in batches of 64 pages: over less time than this a batch looks like a flood. */
#define LEAST_SPAN_NS INT64_C(500000)

static const double decay_seconds = 5.0;

void guard_pace_note(struct guard_pace *pace, uint64_t usage, int64_t now) {
    if (pace->when == 0) {
        *pace = (struct guard_pace){.usage = usage, .when = now, .rate = first_rate};
        return;
    }
    int64_t span = now - pace->when;
    if (span < LEAST_SPAN_NS) {
        return;
    }
    double seconds = (double)span * 1e-9;
    double grown = usage > pace->usage ? (double)(usage - pace->usage) / seconds : 0;
    double decayed = (double)pace->rate * decay_seconds / (decay_seconds + seconds);
    double rate = grown > decayed ? grown : decayed;
    *pace = (struct guard_pace){.usage = usage, .when = now, .rate = rate < 1e18 ? (uint64_t)rate : UINT64_C(1) << 60};
}

int64_t guard_pace_sleep(const struct guard_pace *pace, uint64_t distance) {
    double seconds = (double)distance / ((double)pace->rate + 1.0) / 2;
    if (seconds >= (double)GUARD_SLEEP_MAX_NS * 1e-9) {
        return GUARD_SLEEP_MAX_NS;
    }
    int64_t ns = (int64_t)(seconds * 1e9);
    return ns > GUARD_SLEEP_MIN_NS ? ns : GUARD_SLEEP_MIN_NS;
}
