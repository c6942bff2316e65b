#include "guard/pace.h"

/* Before anything is known: what one slow thread can touch. */
static const uint64_t first_rate = UINT64_C(64) << 20;

/* The kernel charges a cgroup in batches of 64 pages: over less time than this a batch looks like a flood. */
#define LEAST_SPAN_NS INT64_C(500000)

/* As fast as one thread touches fresh pages on a good machine. */
static const double sudden_rate = 2147483648.0;

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
    *pace = (struct guard_pace){
        .usage = usage, .when = now, .rate = rate < 1e18 ? (uint64_t)rate : UINT64_C(1) << 60};
}

/* The time in which `rate` bytes a second make `distance`, within the two bounds. */
static int64_t span_ns(uint64_t distance, double rate, int64_t least, int64_t most) {
    double ns = (double)distance / rate * 1e9;
    if (ns >= (double)most) {
        return most;
    }
    return ns > (double)least ? (int64_t)ns : least;
}

int64_t guard_pace_sleep(const struct guard_pace *pace, uint64_t distance, uint64_t untouched) {
    int64_t by_rate = span_ns(distance, ((double)pace->rate + 1) * 2, GUARD_SLEEP_MIN_NS, GUARD_SLEEP_MAX_NS);
    if (untouched < distance) {
        return by_rate;
    }
    int64_t by_surprise = span_ns(distance, sudden_rate, GUARD_SLEEP_IDLE_NS, GUARD_SLEEP_MAX_NS);
    return by_rate < by_surprise ? by_rate : by_surprise;
}

uint64_t guard_trend_note(struct guard_trend *trend, uint64_t usage, int64_t now, int64_t span) {
    if (trend->when[0] == 0) {
        *trend = (struct guard_trend){.usage = {usage, usage}, .when = {now, now}};
        return 0;
    }
    int64_t age = now - trend->when[0];
    uint64_t grown = usage > trend->usage[0] ? usage - trend->usage[0] : 0;
    if (now - trend->when[1] >= span / 2) {
        trend->usage[0] = trend->usage[1];
        trend->when[0] = trend->when[1];
        trend->usage[1] = usage;
        trend->when[1] = now;
    }
    return age > span ? (uint64_t)((double)grown * (double)span / (double)age) : grown;
}
