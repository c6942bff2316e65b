/* What both versions' sources share: reading a file of a level. */
#include "guard/usage.h"

#include "heapprof/base/procfs.h"

int guard_cgroup_number(const struct guard_cgroup *cgroup, unsigned level, const char *file,
                        struct guard_scratch *scratch, uint64_t *value) {
    guard_cgroup_file(cgroup, level, file, scratch->path, sizeof scratch->path);
    return hp_procfs_read_u64(scratch->path, value);
}

int guard_cgroup_stat(const struct guard_cgroup *cgroup, unsigned level, struct guard_scratch *scratch) {
    guard_cgroup_file(cgroup, level, "memory.stat", scratch->path, sizeof scratch->path);
    return hp_procfs_read(scratch->path, scratch->text, sizeof scratch->text) < 0 ? -1 : 0;
}
