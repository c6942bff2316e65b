/*
 * What is watched, and how it stands: the pairs of a usage and a limit with the thresholds of each, kept up
 * to date. One watch a process; the caller's lock guards all of it, and gives the time (decide.h). It reads
 * files; it calls nobody.
 */
#ifndef GUARD_WATCH_H
#define GUARD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "guard/decide.h"
#include "guard/guard.h"
#include "guard/limit.h"
#include "guard/pace.h"

/* When a threshold last wanted action, and how often. */
struct guard_fired {
    unsigned times;
    int64_t wall_ns; /* since the Unix epoch */
    uint64_t usage;
};

struct guard_watched {
    struct guard_pair pair;
    struct guard_policy policy;
    struct guard_arming arming;
    struct guard_pace pace;
    struct guard_trend trend;
    struct guard_fired fired[GUARD_RUNGS_MAX];
    bool is_exact; /* its usage: not just an upper bound */
};

/* What people should be told, once the lock is released: a write may take its time. */
struct guard_news {
    bool is_unreadable;
    bool has_changed;     /* the limits */
    unsigned left_out;    /* thresholds above their limit, … */
    bool has_defaults;    /* … which were all, so the defaults stand in */
    uint64_t least_limit; /* of which all this is said */
};

struct guard_watch {
    struct guard_limit_wish wish;
    const hp_option_thresholds *thresholds;
    struct guard_limits limits;
    unsigned count;
    struct guard_watched at[GUARD_PAIRS_MAX];
    struct guard_use use[GUARD_PAIRS_MAX]; /* of at[i]: the latest that could be read */
    uint64_t untouched; /* of the process (usage.h), at the last refresh and with what was handed out since */
    uint64_t resident;  /* of the process, at the last refresh; 0: not known */
    uint32_t generation; /* counts how often at[].pair or policy has changed; 0: never filled */
    struct guard_reading reading;
    bool is_exact;      /* the reading: not just an upper bound */
    int64_t dump_ns;    /* how long a dump takes, to go by the last ones */
    int64_t found_at;   /* when the cgroup was last looked for; 0: never */
    int64_t read_at;    /* when the limits were last read; 0: never */
    bool is_odd;        /* a read failed, or usage is above a limit: look for the cgroup again soon */
    bool has_relatives; /* this process has forked or was forked: others, like it, may be in its cgroup */
    bool is_stale;      /* the latest reading failed in part: this thread may have no descriptor free */
    bool has_said_unreadable;
    bool has_said_sizes;
    struct guard_news news;
    struct guard_scratch scratch;
    struct guard_watched next[GUARD_PAIRS_MAX]; /* scratch for a change of the list */
};

/* What a look has found that wants action. */
struct guard_find {
    struct guard_crossing crossing;
    struct guard_pair pair;
    uint64_t expected; /* bytes on top of the usage that take it there; 0: it is there */
    bool no_relief;
    bool is_record;
};

/* Binds an all-zero watch; reads nothing. */
void guard_watch_init(struct guard_watch *watch, const struct hp_options *options);

/* Reads the limits again when it is time: each second; and looks for the cgroup: each 30 s and when something
 * is odd, though, without `may_find`, only the first time. Thresholds of a limit that changed are armed anew.
 */
void guard_watch_refresh(struct guard_watch *watch, bool may_find, int64_t now);

/* Reads all usages and decides. True when something was crossed, with *find set. `pending`, `ticket`:
 * decide.h. */
bool guard_watch_look(struct guard_watch *watch, uint64_t pending, uint32_t ticket, int64_t now,
                      struct guard_find *find);

/* Brings watch->reading up to date, less the file cache, and decides nothing. */
void guard_watch_read(struct guard_watch *watch);

/* Reads the usage of the pair that `find` is about into its reading. Returns whether usage, with what is
 * expected on top, is below the threshold now. */
bool guard_watch_is_relieved(struct guard_watch *watch, struct guard_find *find);

/* A dump has taken `took` ns. */
void guard_watch_note_dump(struct guard_watch *watch, int64_t took);

/* A job has ended (decide.h). */
void guard_watch_settle(struct guard_watch *watch, uint32_t ticket, enum guard_outcome outcome, int64_t retry,
                        int64_t now);

/* Arms every threshold, and forgets when what was read: in a forked child, or for a new limit. */
void guard_watch_reset(struct guard_watch *watch);

/* Bytes that must be handed out before anything could be crossed; UINT64_MAX when nothing is watched. */
uint64_t guard_watch_distance(const struct guard_watch *watch);

/* Bytes that this process may hand out before it looks again: half of the distance; of a cgroup, where others
 * take their part of the way meanwhile, this process's part of it, and never more than a small share of the
 * limit: those others may have been forked just now. */
uint64_t guard_watch_allowance(const struct guard_watch *watch);

/* How long the timer may sleep, ns; < 0: for ever, nothing is to be watched. */
int64_t guard_watch_sleep(const struct guard_watch *watch);

/* What is new since the last call. */
struct guard_news guard_watch_take_news(struct guard_watch *watch);
/* Writes a line for each piece of news; needs no lock. */
void guard_news_say(const struct guard_news *news);

/* Whether a limit is wished for: then there may be one later even if there is none yet. */
bool guard_watch_is_wanted(const struct guard_watch *watch);

/* The smallest limit; UINT64_MAX when there is none. */
uint64_t guard_watch_limit(const struct guard_watch *watch);

#endif
