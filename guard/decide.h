/*
 * When to act: pure functions of a policy, what was done before, a usage and a time. No clock, file or lock.
 *
 * One policy and one arming belong to one watched pair; the budget of dumps is the process's. The caller
 * guards them. Sizes are bytes, times nanoseconds on one clock that never stands at 0 (0 means never).
 *
 *            usage or usage + pending reaches it
 *   armed ────────────────────────────────────────► fired ──► settled: dumped, or armed again at once
 *     ▲                                               │       (relieved) or after a pause (failed; no token)
 *     └──────── usage < threshold - slack ────────────┘
 *
 * The last threshold is more: what kills goes above it, and above all that was survived. So, whatever has
 * become of it, it fires once more at a record: a usage above all crests of the last minute or two, and above
 * that of its last dump, by a quarter of what is left to the limit; without a token when it waits for one;
 * when it was dumped, not within ten seconds. A sawtooth makes no records. A climb makes sixteen at the most,
 * each with a quarter less to go.
 */
#ifndef GUARD_DECIDE_H
#define GUARD_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "heapprof/options.h"

enum { GUARD_RUNGS_MAX = HP_THRESHOLDS_MAX };

/* The thresholds of one pair, in bytes, rising, none above the limit. */
struct guard_policy {
    uint64_t limit;
    uint64_t slack; /* how far below a threshold usage must fall for it to be armed again: 5 % of the limit */
    bool kills;     /* passing the limit ends the process; false: it is an early warning (memory.high) */
    unsigned count;
    uint64_t at[GUARD_RUNGS_MAX];
};

/* What has become of one threshold. All zero: armed. */
struct guard_rung {
    bool fired;
    uint32_t ticket;     /* of the job that it fired for */
    unsigned failures;   /* dumps in a row that failed */
    unsigned foresights; /* predictions in a row that did not come true */
    int64_t not_before;  /* fires no earlier */
    int64_t foreseen;    /* when it was last predicted */
    int64_t relieved;    /* when purging last made a dump needless */
    int64_t dumped;      /* when it was */
    uint64_t tried;      /* the crest when its last dump ended, well or not */
};

/* How high a usage has come, climb by climb; a fall by the slack ends one. */
struct guard_crests {
    uint64_t current;   /* of the climb that goes on */
    uint64_t before[2]; /* the highest of those that ended in this minute, and in the one before */
    int64_t since;      /* when this minute began */
};

struct guard_arming {
    struct guard_rung rung[GUARD_RUNGS_MAX];
    struct guard_crests crests;
};

/* What is about to come on top of a usage. Bytes. */
struct guard_outlook {
    uint64_t pending; /* was handed out and not touched */
    uint64_t growth;  /* of the usage in the time that a dump takes, if it goes on growing as it does */
};

struct guard_verdict {
    bool crossed;      /* false: nothing to do, and nothing below means anything */
    bool is_predicted; /* only the outlook takes it there, … */
    uint64_t expected; /* … by so many bytes on top of the usage; else 0 */
    bool is_last;      /* the highest threshold of a pair that kills */
    bool no_relief;    /* purging has just been tried in vain: dump at once */
    bool is_record;    /* the last threshold's, though it has fired or has to wait: takes no token */
    unsigned rung;
};

/* Makes the policy of a limit. Sizes above the limit are left out, duplicates dropped, and when nothing is
 * left the defaults stand in. Returns how many sizes were left out. */
unsigned guard_policy_make(struct guard_policy *policy, const hp_option_thresholds *thresholds,
                           uint64_t limit, bool kills);

/* `at` of the policy as percent of its limit, rounded. */
unsigned guard_policy_percent(const struct guard_policy *policy, unsigned rung);

/* A usage below which every threshold is armed and none is near: no need to know it exactly, … */
uint64_t guard_policy_floor(const struct guard_policy *policy);
/* … unless it has just grown by more than this: then growth may count (guard_decide). */
uint64_t guard_policy_race(const struct guard_policy *policy);

/*
 * Decides on a usage and what is about to come on top of it. Marks what it fires with `ticket`; several
 * thresholds at once are one verdict, the highest.
 *
 * Growth counts for the last threshold of a pair that kills only, and only where the dump would race: what
 * the room between that threshold and the limit holds four times over comes too slowly for that.
 */
struct guard_verdict guard_decide(const struct guard_policy *policy, struct guard_arming *arming,
                                  uint64_t usage, const struct guard_outlook *outlook, uint32_t ticket,
                                  int64_t now);

/* Bytes that must at the least be handed out before guard_decide() could cross again, growth aside. */
uint64_t guard_distance(const struct guard_policy *policy, const struct guard_arming *arming, uint64_t usage);

/* How the job that thresholds fired for has ended. */
enum guard_outcome {
    GUARD_DONE,     /* a dump is on disk, or none was wanted */
    GUARD_RELIEVED, /* usage fell below the threshold before the dump: none is owed, armed again */
    GUARD_FAILED,   /* the dump failed: again after 1 s, 2 s, … 64 s */
    GUARD_POSTPONED /* no token was left: again at `retry` */
};

void guard_settle(struct guard_arming *arming, uint32_t ticket, enum guard_outcome outcome, int64_t retry,
                  int64_t now);

/*
 * How many dumps: a token each. A bucket for each kind, so that a sawtooth across the lower thresholds cannot
 * use up what the last one needs. That one's fills fastest: the dump before a kill must not be older than a
 * few seconds, however often the threshold was crossed before. An hour's sawtooth across all thresholds makes
 * at most 8 + 60 and 4 + 360 dumps, of some milliseconds each; how many files stay is the rotation's
 * business.
 */
enum guard_token {
    GUARD_TOKEN_LOWER,
    GUARD_TOKEN_LAST,
    GUARD_TOKEN_REFUSED, /* memory */
    GUARD_TOKENS
};

struct guard_bucket {
    unsigned used;
    int64_t since; /* of the last refill */
};

struct guard_budget {
    struct guard_bucket bucket[GUARD_TOKENS];
};

/* Takes a token. 0, or, when there is none, the time at which there will be one. */
int64_t guard_budget_take(struct guard_budget *budget, enum guard_token token, int64_t now);
/* Gives one back: the dump has failed. */
void guard_budget_return(struct guard_budget *budget, enum guard_token token);

#endif
