#include "guard/usage.h"

#include "heapprof/base/procfs.h"

static int read_number(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                       const char *file, uint64_t *value) {
    guard_cgroup_file(cgroup, level, file, scratch->path, sizeof scratch->path);
    return hp_procfs_read_u64(scratch->path, value);
}

static int read_stat(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch) {
    guard_cgroup_file(cgroup, level, "memory.stat", scratch->path, sizeof scratch->path);
    return hp_procfs_read(scratch->path, scratch->text, sizeof scratch->text) < 0 ? -1 : 0;
}

int guard_cgroup_v1_limits(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                           uint64_t *limit, uint64_t *hierarchical) {
    uint64_t value = 0;
    if (read_number(cgroup, level, scratch, "memory.limit_in_bytes", &value) != 0) {
        return -1;
    }
    *limit = value;
    *hierarchical = UINT64_MAX;
    if (read_stat(cgroup, level, scratch) == 0 &&
        hp_procfs_field(scratch->text, "hierarchical_memory_limit", &value) == 0) {
        *hierarchical = value;
    }
    return 0;
}

/* usage_in_bytes counts the level and all below it, as the total_ fields do; a level without hierarchy (very old
 * kernels) may lack them: then the plain field. */
static uint64_t field(const char *text, const char *total, const char *plain) {
    uint64_t value = 0;
    if (hp_procfs_field(text, total, &value) == 0 || hp_procfs_field(text, plain, &value) == 0) {
        return value;
    }
    return 0;
}

static uint64_t clean_cache(const char *stat) {
    uint64_t file = field(stat, "total_inactive_file", "inactive_file") + field(stat, "total_active_file", "active_file");
    uint64_t dirty = field(stat, "total_dirty", "dirty") + field(stat, "total_writeback", "writeback");
    return file > dirty ? file - dirty : 0;
}

int guard_cgroup_v1_usage(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                          uint64_t matters_from, uint64_t *usage) {
    uint64_t current = 0;
    if (read_number(cgroup, level, scratch, "memory.usage_in_bytes", &current) != 0) {
        return -1;
    }
    uint64_t cache = 0;
    if (current >= matters_from) {
        if (read_stat(cgroup, level, scratch) != 0) {
            return -1;
        }
        cache = clean_cache(scratch->text);
    }
    *usage = current > cache ? current - cache : 0;
    return 0;
}
