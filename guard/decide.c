#include "guard/decide.h"

#define SECOND INT64_C(1000000000)

/* A prediction is made for requests of this share of the limit and more; smaller ones are real soon enough.
 */
enum { PENDING_SHARE = 64 };

/* After a prediction, none for the same threshold for this long; doubled each time one does not come true. */
#define FORESIGHT_PAUSE (30 * SECOND)
enum { FORESIGHTS_MAX = 6 };

/* A lower threshold reached this soon after it was predicted needs no second dump. */
#define FORESIGHT_HOLDS (10 * SECOND)

/* A threshold crossed again this soon after purging took usage below it: purging is no cure. */
#define RELIEF_HOLDS SECOND

enum { FAILURES_MAX = 6 };

/* A record: the share of what is left above the last one; how long the crest of a climb stands; how old the
 * last dump must be. */
enum { RECORD_SHARE = 4 };
#define CRESTS_SPAN (60 * SECOND)
#define DUMP_IS_FRESH (10 * SECOND)

/* Growth that is less than this share of the room above the last threshold is no race. */
enum { GROWTH_SHARE = 4 };

static const struct {
    unsigned tokens;
    int64_t refill; /* one more after this long */
} allowance[GUARD_TOKENS] = {
    [GUARD_TOKEN_LOWER] = {8, 60 * SECOND},
    [GUARD_TOKEN_LAST] = {4, 10 * SECOND},
    [GUARD_TOKEN_REFUSED] = {2, 60 * SECOND},
};

static uint64_t percent_of(uint64_t limit, uint64_t percent) {
    return limit / 100 * percent + limit % 100 * percent / 100;
}

/* Inserts in rising order, each value once. */
static void add_rung(struct guard_policy *policy, uint64_t at) {
    unsigned i = policy->count;
    for (unsigned j = 0; j < policy->count; j++) {
        if (policy->at[j] == at) {
            return;
        }
    }
    for (; i > 0 && policy->at[i - 1] > at; i--) {
        policy->at[i] = policy->at[i - 1];
    }
    policy->at[i] = at;
    policy->count++;
}

unsigned guard_policy_make(struct guard_policy *policy, const hp_option_thresholds *thresholds,
                           uint64_t limit, bool kills) {
    *policy = (struct guard_policy){.limit = limit, .slack = percent_of(limit, 5), .kills = kills};
    unsigned left_out = 0;
    for (unsigned i = 0; i < thresholds->count; i++) {
        const struct hp_threshold *t = &thresholds->at[i];
        uint64_t at = t->is_percent ? percent_of(limit, t->value) : t->value;
        if (at > limit) {
            left_out++;
        } else {
            add_rung(policy, at);
        }
    }
    if (policy->count == 0) {
        add_rung(policy, percent_of(limit, 80));
        add_rung(policy, percent_of(limit, 90));
        add_rung(policy, percent_of(limit, 95));
    }
    return left_out;
}

unsigned guard_policy_percent(const struct guard_policy *policy, unsigned rung) {
    uint64_t hundredth = policy->limit / 100;
    if (hundredth < 1000) { /* small numbers: the exact quotient fits */
        return policy->limit == 0 ? 100
                                  : (unsigned)((policy->at[rung] * 100 + policy->limit / 2) / policy->limit);
    }
    return (unsigned)(policy->at[rung] / hundredth + (policy->at[rung] % hundredth >= hundredth / 2));
}

/* The fall that arms `rung` again; no more than half of a low threshold, or it never would be. */
static uint64_t armed_below(const struct guard_policy *policy, unsigned rung) {
    uint64_t at = policy->at[rung];
    return at - (policy->slack < at / 2 ? policy->slack : at / 2);
}

uint64_t guard_policy_floor(const struct guard_policy *policy) {
    return armed_below(policy, 0);
}

uint64_t guard_policy_race(const struct guard_policy *policy) {
    return policy->kills ? (policy->limit - policy->at[policy->count - 1]) / GROWTH_SHARE : UINT64_MAX;
}

static void rearm(const struct guard_policy *policy, struct guard_arming *arming, uint64_t usage) {
    for (unsigned i = 0; i < policy->count; i++) {
        if (arming->rung[i].fired && usage < armed_below(policy, i)) {
            arming->rung[i].fired = false;
            arming->rung[i].failures = 0;
            arming->rung[i].not_before = 0;
        }
    }
}

static uint64_t higher(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void note_crest(const struct guard_policy *policy, struct guard_crests *crests, uint64_t usage,
                       int64_t now) {
    int64_t age = now - crests->since;
    if (age >= CRESTS_SPAN) {
        crests->before[1] = age < 2 * CRESTS_SPAN ? crests->before[0] : 0;
        crests->before[0] = 0;
        crests->since = now;
    }
    if (usage + policy->slack < crests->current) {
        crests->before[0] = higher(crests->before[0], crests->current);
        crests->current = usage;
    }
    crests->current = higher(crests->current, usage);
}

/* The usage that would be a record; UINT64_MAX: none would. */
static uint64_t record_level(const struct guard_policy *policy, const struct guard_arming *arming) {
    unsigned last = policy->count - 1;
    uint64_t highest = higher(policy->at[last], arming->rung[last].tried);
    highest = higher(highest, higher(arming->crests.before[0], arming->crests.before[1]));
    return policy->kills && highest < policy->limit ? highest + (policy->limit - highest) / RECORD_SHARE
                                                    : UINT64_MAX;
}

/* Whether rung `i` is the last one and may fire at a record only. */
static bool wants_record(const struct guard_policy *policy, const struct guard_arming *arming, unsigned i,
                         int64_t now) {
    const struct guard_rung *rung = &arming->rung[i];
    bool is_old =
        rung->fired && rung->ticket == 0 && rung->dumped != 0 && now - rung->dumped >= DUMP_IS_FRESH;
    bool waits = !rung->fired && now < rung->not_before;
    return i + 1 == policy->count && (is_old || waits);
}

static bool is_record(const struct guard_policy *policy, const struct guard_arming *arming, unsigned i,
                      uint64_t usage, int64_t now) {
    return wants_record(policy, arming, i, now) && usage >= record_level(policy, arming);
}

static bool is_recent(int64_t then, int64_t span, int64_t now) {
    return then != 0 && now - then < span;
}

static int64_t foresight_pause(const struct guard_rung *rung) {
    unsigned doublings = rung->foresights > 0 ? rung->foresights - 1 : 0;
    return FORESIGHT_PAUSE << (doublings < FORESIGHTS_MAX ? doublings : FORESIGHTS_MAX);
}

/* Fires all that usage has reached. Returns the highest that needs action, or -1. */
static int fire_reached(const struct guard_policy *policy, struct guard_arming *arming, uint64_t usage,
                        uint32_t ticket, int64_t now) {
    int highest = -1;
    for (unsigned i = 0; i < policy->count && usage >= policy->at[i]; i++) {
        struct guard_rung *rung = &arming->rung[i];
        if ((rung->fired || now < rung->not_before) && !is_record(policy, arming, i, usage, now)) {
            continue;
        }
        bool is_known = is_recent(rung->foreseen, FORESIGHT_HOLDS, now) && i + 1 < policy->count;
        rung->fired = true;
        rung->ticket = is_known ? 0 : ticket;
        rung->foresights = 0;
        rung->foreseen = 0;
        if (!is_known) {
            highest = (int)i;
        }
    }
    return highest;
}

/* Whether a prediction of it, at `future`, would be news. */
static bool is_foreseeable(const struct guard_policy *policy, const struct guard_arming *arming, unsigned i,
                           uint64_t future, int64_t now) {
    const struct guard_rung *rung = &arming->rung[i];
    bool may_fire = (!rung->fired && now >= rung->not_before) || is_record(policy, arming, i, future, now);
    return future >= policy->at[i] && may_fire && !is_recent(rung->foreseen, foresight_pause(rung), now);
}

static uint64_t sum(uint64_t a, uint64_t b) {
    return a + b < a ? UINT64_MAX : a + b;
}

/* The growth that takes usage to the last threshold before a dump could be done, or 0. */
static uint64_t racing_growth(const struct guard_policy *policy, const struct guard_arming *arming,
                              uint64_t usage, uint64_t growth, int64_t now) {
    bool races = growth > guard_policy_race(policy) &&
                 is_foreseeable(policy, arming, policy->count - 1, sum(usage, growth), now);
    return races ? growth : 0;
}

/* What has to be expected on top of usage. */
static uint64_t expect(const struct guard_policy *policy, const struct guard_arming *arming, uint64_t usage,
                       const struct guard_outlook *outlook, int64_t now) {
    uint64_t growth = racing_growth(policy, arming, usage, outlook->growth, now);
    uint64_t pending = outlook->pending >= policy->limit / PENDING_SHARE ? outlook->pending : 0;
    return growth > pending ? growth : pending;
}

/* Notes all that `future` would reach. Returns the highest that needs action, or -1. */
static int fire_predicted(const struct guard_policy *policy, struct guard_arming *arming, uint64_t future,
                          uint32_t ticket, int64_t now) {
    int highest = -1;
    for (unsigned i = 0; i < policy->count; i++) {
        struct guard_rung *rung = &arming->rung[i];
        if (is_foreseeable(policy, arming, i, future, now)) {
            rung->foreseen = now;
            rung->foresights++;
            rung->ticket = ticket;
            highest = (int)i;
        }
    }
    return highest;
}

struct guard_verdict guard_decide(const struct guard_policy *policy, struct guard_arming *arming,
                                  uint64_t usage, const struct guard_outlook *outlook, uint32_t ticket,
                                  int64_t now) {
    rearm(policy, arming, usage);
    note_crest(policy, &arming->crests, usage, now);
    bool at_records_only = wants_record(policy, arming, policy->count - 1, now);
    int reached = fire_reached(policy, arming, usage, ticket, now);
    uint64_t expected = expect(policy, arming, usage, outlook, now);
    int predicted = expected > 0 ? fire_predicted(policy, arming, sum(usage, expected), ticket, now) : -1;
    int rung = predicted > reached ? predicted : reached;
    if (rung < 0) {
        return (struct guard_verdict){.crossed = false};
    }
    return (struct guard_verdict){
        .crossed = true,
        .is_predicted = predicted > reached,
        .expected = predicted > reached ? expected : 0,
        .is_last = policy->kills && (unsigned)rung + 1 == policy->count,
        .no_relief = is_recent(arming->rung[rung].relieved, RELIEF_HOLDS, now),
        .is_record = at_records_only && (unsigned)rung + 1 == policy->count,
        .rung = (unsigned)rung,
    };
}

uint64_t guard_distance(const struct guard_policy *policy, const struct guard_arming *arming,
                        uint64_t usage) {
    uint64_t least = policy->count > 0 ? policy->limit : UINT64_MAX;
    for (unsigned i = 0; i < policy->count; i++) {
        /* One that has fired can cross again only after a fall and a climb by the slack; one that waits for
         * its time is the timer's business. */
        bool is_ahead = !arming->rung[i].fired && policy->at[i] > usage;
        uint64_t distance = is_ahead ? policy->at[i] - usage : policy->at[i] - armed_below(policy, i);
        if (distance < least) {
            least = distance;
        }
    }
    uint64_t record = policy->count > 0 ? record_level(policy, arming) : UINT64_MAX;
    return record > usage && record - usage < least ? record - usage : least;
}

static void settle_rung(struct guard_rung *rung, uint64_t crest, enum guard_outcome outcome, int64_t retry,
                        int64_t now) {
    rung->ticket = 0;
    if (outcome != GUARD_RELIEVED) {
        rung->tried = crest;
    }
    if (outcome == GUARD_DONE) {
        rung->failures = 0;
        rung->relieved = 0;
        rung->dumped = now;
        return;
    }
    rung->fired = false;
    rung->foreseen = 0;
    if (outcome == GUARD_RELIEVED) {
        rung->relieved = now;
    } else if (outcome == GUARD_FAILED) {
        rung->not_before = now + (SECOND << (rung->failures < FAILURES_MAX ? rung->failures : FAILURES_MAX));
        rung->failures++;
    } else {
        rung->not_before = retry;
    }
}

void guard_settle(struct guard_arming *arming, uint32_t ticket, enum guard_outcome outcome, int64_t retry,
                  int64_t now) {
    for (unsigned i = 0; i < GUARD_RUNGS_MAX; i++) {
        if (arming->rung[i].ticket == ticket) {
            settle_rung(&arming->rung[i], arming->crests.current, outcome, retry, now);
        }
    }
}

static void refill(struct guard_bucket *bucket, int64_t every, int64_t now) {
    while (bucket->used > 0 && now - bucket->since >= every) {
        bucket->used--;
        bucket->since += every;
    }
    if (bucket->used == 0) {
        bucket->since = now;
    }
}

int64_t guard_budget_take(struct guard_budget *budget, enum guard_token token, int64_t now) {
    struct guard_bucket *bucket = &budget->bucket[token];
    refill(bucket, allowance[token].refill, now);
    if (bucket->used == allowance[token].tokens) {
        return bucket->since + allowance[token].refill;
    }
    bucket->used++;
    return 0;
}

void guard_budget_return(struct guard_budget *budget, enum guard_token token) {
    struct guard_bucket *bucket = &budget->bucket[token];
    if (bucket->used > 0) {
        bucket->used--;
    }
}
