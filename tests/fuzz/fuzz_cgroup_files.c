/*
 * What the kernel says of a process's cgroup, as anybody could have arranged it: the texts of
 * /proc/self/cgroup, /proc/self/mountinfo and memory.stat, one after the other, with a '%' between them.
 */
#include <stdlib.h>
#include <string.h>

#include "guard/cgroup.h"
#include "heapprof/base/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

/* Each level is a folder of its own, the parent of the one before. */
static void check_levels(const struct guard_cgroup *cgroup) {
    must(cgroup->levels >= 1 && cgroup->levels <= GUARD_CGROUP_LEVELS);
    must(strlen(cgroup->path) == cgroup->length[0]);
    for (unsigned i = 0; i < cgroup->levels; i++) {
        char path[64];
        must(i == 0 || cgroup->length[i] < cgroup->length[i - 1]);
        must(i == 0 || cgroup->path[cgroup->length[i]] == '/');
        guard_cgroup_file(cgroup, i, "memory.max", path, sizeof path);
        must(memchr(path, '\0', sizeof path) != NULL);
    }
}

static void check_fields(const char *text) {
    static const char *const keys[] = {"inactive_file", "total_dirty", "VmRSS:", "MemTotal:"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint64_t value = 42;
        if (hp_procfs_field(text, keys[i], &value) != 0) {
            must(value == 42);
        } else {
            must(strstr(text, keys[i]) != NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct guard_cgroup cgroup;
    char *membership = malloc(size + 1);
    must(membership != NULL);
    memcpy(membership, data, size);
    membership[size] = '\0';
    char *mounts = membership + strcspn(membership, "%");
    mounts += *mounts == '%' ? (*mounts = '\0', 1) : 0;
    char *stat = mounts + strcspn(mounts, "%");
    stat += *stat == '%' ? (*stat = '\0', 1) : 0;

    bool is_member = guard_cgroup_parse_membership(&cgroup, membership);
    must(is_member == (cgroup.version != 0) && cgroup.version <= 2 && cgroup.levels == 0);
    if (is_member && guard_cgroup_parse_mounts(&cgroup, mounts)) {
        check_levels(&cgroup);
    }
    check_fields(stat);
    free(membership);
    return 0;
}
