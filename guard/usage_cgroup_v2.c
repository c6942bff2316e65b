#include "guard/usage.h"

#include "heapprof/base/procfs.h"

int guard_cgroup_v2_limits(const struct guard_cgroup *cgroup, unsigned level, bool has_swap,
                           struct guard_scratch *scratch, struct guard_level_limits *limits) {
    uint64_t max = 0;
    uint64_t value = 0;
    if (guard_cgroup_number(cgroup, level, "memory.max", scratch, &max) != 0) {
        return -1;
    }
    *limits = (struct guard_level_limits){max, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (guard_cgroup_number(cgroup, level, "memory.high", scratch, &value) == 0) {
        limits->high = value;
    }
    /* Two limits here, of which the sum is what the group can hold before it is killed. */
    if (has_swap && max != UINT64_MAX &&
        guard_cgroup_number(cgroup, level, "memory.swap.max", scratch, &value) == 0 && value != 0 &&
        value < UINT64_MAX - max) {
        limits->with_swap = max + value;
    }
    return 0;
}

static uint64_t field(const char *text, const char *key) {
    uint64_t value = 0;
    return hp_procfs_field(text, key, &value) == 0 ? value : 0;
}

/* The kernel drops clean file pages, active ones too, before it kills; dirty ones must be written first.
 * tmpfs is on the anonymous lists, so not in these. */
static uint64_t clean_cache(const char *stat) {
    uint64_t file = field(stat, "inactive_file") + field(stat, "active_file");
    uint64_t dirty = field(stat, "file_dirty") + field(stat, "file_writeback");
    return file > dirty ? file - dirty : 0;
}

int guard_cgroup_v2_usage(const struct guard_cgroup *cgroup, unsigned level, bool with_swap,
                          uint64_t matters_from, struct guard_scratch *scratch, struct guard_use *use) {
    uint64_t current = 0;
    uint64_t swap = 0;
    uint64_t cache = 0;
    if (guard_cgroup_number(cgroup, level, "memory.current", scratch, &current) != 0 ||
        (with_swap && guard_cgroup_number(cgroup, level, "memory.swap.current", scratch, &swap) != 0)) {
        return -1;
    }
    current += swap;
    if (current >= matters_from) {
        if (guard_cgroup_stat(cgroup, level, scratch) != 0) {
            return -1;
        }
        cache = clean_cache(scratch->text);
    }
    *use = (struct guard_use){.charged = current, .usage = current > cache ? current - cache : 0};
    return 0;
}
