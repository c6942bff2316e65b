/*
 * The sources: one file each for what counts bytes, and, where the same source has it, the limit beside them.
 *
 * All sizes are bytes. Each call opens, reads and closes; nothing is kept. The caller lends the scratch
 * memory (struct guard_scratch is big: static, under the guard's lock). 0, or -1 with errno set, outputs
 * unchanged.
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

/* The limits of one cgroup level; UINT64_MAX: none, or unknown. */
struct guard_level_limits {
    uint64_t max;          /* kills */
    uint64_t high;         /* v2: throttles */
    uint64_t with_swap;    /* of memory and swap together; kills. Asked for only when there is swap */
    uint64_t of_ancestors; /* v1: the smallest max of the level and all above it, seen or not */
};

/*
 * cgroup v2 (Documentation/admin-guide/cgroup-v2.rst): memory.max, memory.high, memory.swap.max;
 * memory.current and memory.swap.current. cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst):
 * memory.limit_in_bytes, a number near 2^63 for none, memory.memsw.limit_in_bytes, hierarchical_memory_limit
 * of memory.stat; memory.usage_in_bytes and memory.memsw.usage_in_bytes.
 *
 * memory.stat, which tells of the clean file cache, is read only when the kernel's number reaches
 * `matters_from`: below it, the cache included, nothing could be decided.
 */
struct guard_use {
    uint64_t charged; /* the kernel's number, file cache included */
    uint64_t usage;   /* less the clean file cache; or, below `matters_from`, the same: an upper bound */
};

int guard_cgroup_v2_limits(const struct guard_cgroup *cgroup, unsigned level, bool has_swap,
                           struct guard_scratch *scratch, struct guard_level_limits *limits);
int guard_cgroup_v2_usage(const struct guard_cgroup *cgroup, unsigned level, bool with_swap,
                          uint64_t matters_from, struct guard_scratch *scratch, struct guard_use *use);
int guard_cgroup_v1_limits(const struct guard_cgroup *cgroup, unsigned level, bool has_swap,
                           struct guard_scratch *scratch, struct guard_level_limits *limits);
int guard_cgroup_v1_usage(const struct guard_cgroup *cgroup, unsigned level, bool with_swap,
                          uint64_t matters_from, struct guard_scratch *scratch, struct guard_use *use);

/* Reads the file that holds one number, or "max" (UINT64_MAX), in level's folder. */
int guard_cgroup_number(const struct guard_cgroup *cgroup, unsigned level, const char *file,
                        struct guard_scratch *scratch, uint64_t *value);
/* Reads memory.stat of the level into scratch->text. */
int guard_cgroup_stat(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch);

/* This process alone (proc_pid_statm(5), proc_pid_status(5)). */
struct guard_process {
    uint64_t resident; /* RSS + swap */
    uint64_t mapped;   /* what RLIMIT_AS limits */
    uint64_t data;     /* what RLIMIT_DATA limits */
    uint64_t
        untouched; /* private memory that was asked for and has no page yet: it can come all of a sudden */
};

/* statm is the cheaper file and knows no swap, and counts the stack as data: it does unless `wants_status`.
 */
int guard_process_usage(bool wants_status, struct guard_scratch *scratch, struct guard_process *usage);

/* MemTotal and SwapTotal of /proc/meminfo. */
int guard_machine_memory(struct guard_scratch *scratch, uint64_t *ram, uint64_t *swap);

#endif
