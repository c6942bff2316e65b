#include "guard/status.h"

#include <string.h>

#include "guard/state.h"
#include "heapprof/base/clock.h"

#define PATIENCE_NS INT64_C(1000000000)

/* -- All below: lock held. -- */

static void fill_limit(const struct guard_watch *watch, unsigned pair, struct guard_status_limit *limit) {
    const struct guard_watched *watched = &watch->at[pair];
    *limit = (struct guard_status_limit){.usage = watch->use[pair].usage,
                                         .limit = watched->pair.limit,
                                         .kills = watched->policy.kills,
                                         .count = watched->policy.count};
    guard_pair_name(&watch->limits, &watched->pair, limit->source, sizeof limit->source);
    for (unsigned i = 0; i < limit->count; i++) {
        const struct guard_fired *fired = &watched->fired[i];
        limit->thresholds[i] =
            (struct guard_status_threshold){.bytes = watched->policy.at[i],
                                            .percent = guard_policy_percent(&watched->policy, i),
                                            .is_armed = !watched->arming.rung[i].fired,
                                            .fired = fired->times,
                                            .last_ns = fired->wall_ns,
                                            .last_usage = fired->usage};
    }
}

static uint64_t headroom(const struct guard_watch *watch, unsigned pair) {
    uint64_t limit = watch->at[pair].pair.limit;
    return limit > watch->use[pair].usage ? limit - watch->use[pair].usage : 0;
}

/* The nearest first: each turn picks the best of those that are left. */
static void fill_limits(const struct guard_watch *watch, struct guard_status *status) {
    bool is_taken[GUARD_PAIRS_MAX] = {false};
    status->count = watch->count < GUARD_STATUS_LIMITS ? watch->count : GUARD_STATUS_LIMITS;
    status->left_out = watch->count - status->count;
    for (unsigned n = 0; n < status->count; n++) {
        unsigned best = GUARD_PAIRS_MAX;
        for (unsigned i = 0; i < watch->count; i++) {
            if (!is_taken[i] && (best == GUARD_PAIRS_MAX || headroom(watch, i) < headroom(watch, best))) {
                best = i;
            }
        }
        is_taken[best] = true;
        fill_limit(watch, best, &status->limits[n]);
    }
}

static void fill_percentiles(const struct guard_track *track, struct guard_status *status) {
    status->peak = track->peak;
    status->watched_ns = track->histogram.total;
    status->p50 = guard_track_value(track, 500);
    status->p90 = guard_track_value(track, 900);
    status->p99 = guard_track_value(track, 990);
    status->p999 = guard_track_value(track, 999);
}

bool guard_status_read(struct guard_status *status) {
    struct guard_watch *watch = &guard_state.watch;
    struct guard_process process = {0};
    memset(status, 0, sizeof *status);
    status->reading.limit = UINT64_MAX;
    if (guard_state.host == NULL || !guard_lock_within(PATIENCE_NS)) {
        return false;
    }
    if (guard_process_usage(watch->limits.swap > 0, &watch->scratch, &process) == 0) {
        status->resident = process.resident;
    }
    guard_watch_refresh(watch, false, hp_clock_ns());
    status->is_watching = watch->count > 0;
    if (status->is_watching) {
        guard_watch_read(watch);
        guard_note_usage(hp_clock_ns());
        status->reading = watch->reading;
        fill_limits(watch, status);
        fill_percentiles(&guard_state.track, status);
    }
    guard_unlock();
    return true;
}
