/*
 * Which pairs of a usage and a limit can end this process: the setting, resolved against what the machine
 * says.
 *
 *   HEAPPROF_LIMIT   pairs
 *   auto             every cgroup level with a limit; if none kills: the machine's memory against RSS + swap
 *   a size           that against RSS + swap, and every cgroup level
 *   N%               N % of the smallest cgroup limit, else of the machine's memory, against RSS + swap,
 *                    and every cgroup level
 *   off              none
 *
 * Unless off, RLIMIT_AS and RLIMIT_DATA too, when they are finite. A limit above the machine's memory cannot
 * be reached and is none; so v1's huge number for "none" needs no special case.
 *
 * On a machine with swap a cgroup is killed at its limit for memory and swap together, so that is one more
 * pair of each level that has such a limit.
 *
 * Usage and limit always belong to the same level. v1 tells of ancestors that a container cannot see
 * (hierarchical_memory_limit): that limit is watched with the usage of the highest folder that can be seen.
 *
 * memory.high is a pair of its own, which warns but does not kill: a process above it is slowed down so much
 * that a dump may come too late, so the dumps come below it; but it may also live above it for days, so
 * memory.max keeps its own thresholds, and abort, exit and the gate are left to those.
 *
 * Nothing here takes a lock or allocates; the caller guards struct guard_limits and lends the scratch memory.
 */
#ifndef GUARD_LIMIT_H
#define GUARD_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard/cgroup.h"
#include "guard/usage.h"
#include "heapprof/options.h"

enum guard_pair_kind {
    GUARD_PAIR_V2_MAX,
    GUARD_PAIR_V2_SWAP, /* memory and swap together */
    GUARD_PAIR_V2_HIGH,
    GUARD_PAIR_V1,
    GUARD_PAIR_V1_SWAP,   /* memory and swap together */
    GUARD_PAIR_V1_HIDDEN, /* an unseen ancestor's limit; the last of a cgroup's */
    GUARD_PAIR_SET,       /* the application's own limit, set through the API */
    GUARD_PAIR_SETTING,   /* HEAPPROF_LIMIT */
    GUARD_PAIR_MACHINE,
    GUARD_PAIR_RLIMIT_AS,
    GUARD_PAIR_RLIMIT_DATA,
};

struct guard_pair {
    enum guard_pair_kind kind;
    unsigned level;   /* of the cgroup; 0 for the others */
    uint32_t finding; /* of the cgroup's folders (struct guard_limits); 0 for the others */
    uint64_t limit;   /* bytes, > 0 */
};

enum { GUARD_PAIRS_MAX = 3 * GUARD_CGROUP_LEVELS + 4 };

struct guard_limits {
    struct guard_cgroup cgroup;
    uint32_t finding; /* counts how often the folders turned out to be others */
    uint64_t ram;     /* bytes; UINT64_MAX: could not be read */
    uint64_t swap;    /* bytes; more than 0: the process's and the cgroup's share of it must be read */
    unsigned count;
    struct guard_pair pairs[GUARD_PAIRS_MAX];
};

/* What the limit is to be: the setting, or `set` bytes in its place when not 0. */
struct guard_limit_wish {
    hp_option_limit setting;
    uint64_t set;
};

/* Finds the cgroup and the machine's memory anew. What can't be read stays as it was. Returns whether all
 * could. */
bool guard_limits_find(struct guard_limits *limits, struct guard_scratch *scratch);

/* Reads all limits anew. A cgroup pair whose file has become unreadable stays as it was. Returns whether all
 * that were there could be read. */
bool guard_limits_read(struct guard_limits *limits, const struct guard_limit_wish *wish,
                       struct guard_scratch *scratch);

/* Whether RLIMIT_AS or RLIMIT_DATA is set, whatever is wished for: then the kernel refuses memory. */
bool guard_limits_may_refuse(void);

/* Reads the usage of every pair; exactly where what is charged reaches floors[i], else an upper bound
 * (usage.h). What can't be read stays as it was in uses[]. Returns whether all could. */
bool guard_limits_usage(const struct guard_limits *limits, const uint64_t *floors,
                        struct guard_scratch *scratch, struct guard_use *uses);

/* Whether both are the same pair, though perhaps with another limit. */
bool guard_pair_is_same(const struct guard_pair *a, const struct guard_pair *b);

/* Whether passing the pair's limit ends the process. */
bool guard_pair_kills(const struct guard_pair *pair);

/* The pair for people, cut to `cap`. */
void guard_pair_name(const struct guard_limits *limits, const struct guard_pair *pair, char *name,
                     size_t cap);

#endif
