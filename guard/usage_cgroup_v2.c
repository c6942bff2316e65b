#include "guard/usage.h"

#include "heapprof/base/procfs.h"

static int read_number(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                       const char *file, uint64_t *value) {
    guard_cgroup_file(cgroup, level, file, scratch->path, sizeof scratch->path);
    return hp_procfs_read_u64(scratch->path, value);
}

int guard_cgroup_v2_limits(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                           uint64_t *max, uint64_t *high) {
    uint64_t value = 0;
    if (read_number(cgroup, level, scratch, "memory.max", &value) != 0) {
        return -1;
    }
    *max = value;
    *high = read_number(cgroup, level, scratch, "memory.high", &value) == 0 ? value : UINT64_MAX;
    return 0;
}

static uint64_t field(const char *text, const char *key) {
    uint64_t value = 0;
    return hp_procfs_field(text, key, &value) == 0 ? value : 0;
}

/* The kernel drops clean file pages, active ones too, before it kills; dirty ones must be written first. tmpfs is
 * on the anonymous lists, so not in these. */
static uint64_t clean_cache(const char *stat) {
    uint64_t file = field(stat, "inactive_file") + field(stat, "active_file");
    uint64_t dirty = field(stat, "file_dirty") + field(stat, "file_writeback");
    return file > dirty ? file - dirty : 0;
}

int guard_cgroup_v2_usage(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch,
                          uint64_t matters_from, uint64_t *usage) {
    uint64_t current = 0;
    if (read_number(cgroup, level, scratch, "memory.current", &current) != 0) {
        return -1;
    }
    uint64_t cache = 0;
    if (current >= matters_from) {
        guard_cgroup_file(cgroup, level, "memory.stat", scratch->path, sizeof scratch->path);
        if (hp_procfs_read(scratch->path, scratch->text, sizeof scratch->text) < 0) {
            return -1;
        }
        cache = clean_cache(scratch->text);
    }
    *usage = current > cache ? current - cache : 0;
    return 0;
}
