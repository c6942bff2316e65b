#include "guard/usage.h"

#include "heapprof/base/procfs.h"

int guard_cgroup_v1_limits(const struct guard_cgroup *cgroup, unsigned level, bool has_swap,
                           struct guard_scratch *scratch, struct guard_level_limits *limits) {
    uint64_t max = 0;
    uint64_t value = 0;
    if (guard_cgroup_number(cgroup, level, "memory.limit_in_bytes", scratch, &max) != 0) {
        return -1;
    }
    *limits = (struct guard_level_limits){max, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    /* The kernel never has it below the other one; when they are equal, it alone would do. */
    if (has_swap && guard_cgroup_number(cgroup, level, "memory.memsw.limit_in_bytes", scratch, &value) == 0) {
        limits->with_swap = value;
    }
    if (guard_cgroup_stat(cgroup, level, scratch) == 0 &&
        hp_procfs_field(scratch->text, "hierarchical_memory_limit", &value) == 0) {
        limits->of_ancestors = value;
    }
    return 0;
}

/* usage_in_bytes counts the level and all below it, as the total_ fields do; a level without hierarchy (very
 * old kernels) may lack them: then the plain field. */
static uint64_t field(const char *text, const char *total, const char *plain) {
    uint64_t value = 0;
    if (hp_procfs_field(text, total, &value) == 0 || hp_procfs_field(text, plain, &value) == 0) {
        return value;
    }
    return 0;
}

/* As in v2. */
static uint64_t clean_cache(const char *stat) {
    uint64_t file =
        field(stat, "total_inactive_file", "inactive_file") + field(stat, "total_active_file", "active_file");
    uint64_t dirty = field(stat, "total_dirty", "dirty") + field(stat, "total_writeback", "writeback");
    return file > dirty ? file - dirty : 0;
}

int guard_cgroup_v1_usage(const struct guard_cgroup *cgroup, unsigned level, bool with_swap,
                          uint64_t matters_from, struct guard_scratch *scratch, struct guard_use *use) {
    const char *file = with_swap ? "memory.memsw.usage_in_bytes" : "memory.usage_in_bytes";
    uint64_t current = 0;
    uint64_t cache = 0;
    if (guard_cgroup_number(cgroup, level, file, scratch, &current) != 0) {
        return -1;
    }
    if (current >= matters_from) {
        if (guard_cgroup_stat(cgroup, level, scratch) != 0) {
            return -1;
        }
        cache = clean_cache(scratch->text);
    }
    *use = (struct guard_use){.charged = current, .usage = current > cache ? current - cache : 0};
    return 0;
}
