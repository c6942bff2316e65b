/*
 * The sources: one file each for what counts bytes, and, where the same source has it, the limit beside them.
 *
 * All sizes are bytes. Each call opens, reads and closes; nothing is kept. The caller lends the scratch memory
 * (struct guard_scratch is big: static, under the guard's lock). 0, or -1 with errno set, outputs unchanged.
 */
#ifndef GUARD_USAGE_H
#define GUARD_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "guard/cgroup.h"

struct guard_scratch {
    char path[GUARD_CGROUP_PATH + 64];
    char text[128 * 1024]; /* mountinfo is the longest; pages that no text reaches are never touched */
};

/*
 * cgroup v2 (Documentation/admin-guide/cgroup-v2.rst): memory.max kills, memory.high throttles; UINT64_MAX for
 * "max". Usage is memory.current less the clean file cache.
 *
 * memory.stat is read only when memory.current reaches `matters_from`: below it, the cache included, nothing
 * could be decided, and memory.current is returned as an upper bound.
 */
int guard_cgroup_v2_limits(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                           uint64_t *max, uint64_t *high);
int guard_cgroup_v2_usage(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                          uint64_t matters_from, uint64_t *usage);

/*
 * cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst): memory.limit_in_bytes, a number near 2^63 for
 * none, and the smallest limit of the level and all its ancestors, seen or not (UINT64_MAX: unknown).
 */
int guard_cgroup_v1_limits(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                           uint64_t *limit, uint64_t *hierarchical);
int guard_cgroup_v1_usage(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                          uint64_t matters_from, uint64_t *usage);

/* This process alone (proc_pid_statm(5), proc_pid_status(5)). */
struct guard_process {
    uint64_t resident; /* RSS + swap */
    uint64_t mapped;   /* what RLIMIT_AS limits */
    uint64_t data;     /* what RLIMIT_DATA limits */
};

/* statm is the cheaper file and knows no swap, and counts the stack as data: it does unless `wants_status`. */
int guard_process_usage(bool wants_status, struct guard_scratch *scratch, struct guard_process *usage);

/* MemTotal and SwapTotal of /proc/meminfo. */
int guard_machine_memory(struct guard_scratch *scratch, uint64_t *ram, uint64_t *swap);

#endif
