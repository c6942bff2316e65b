#include "guard/track.h"

void guard_track_note(struct guard_track *track, uint64_t usage, int64_t now) {
    track->peak = usage > track->peak ? usage : track->peak;
    if (track->when != 0 && now <= track->when) {
        return;
    }
    if (track->when != 0) {
        uint64_t between = (uint64_t)(now - track->when);
        guard_histogram_add(&track->histogram, track->usage, between / 2);
        guard_histogram_add(&track->histogram, usage, between - between / 2);
    }
    track->usage = usage;
    track->when = now;
}

uint64_t guard_track_value(const struct guard_track *track, unsigned per_mille) {
    uint64_t value = guard_histogram_value(&track->histogram, per_mille);
    return value < track->peak ? value : track->peak;
}
