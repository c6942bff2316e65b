#include "tests/unit/guard_tree.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapprof/base/procfs.h"

static char root[64];
static bool is_there; /* the guard's thread may go on reading `root`: it is not emptied */

/* The guard's children have threads of their own; ThreadSanitizer would have them die. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "die_after_fork=0";
}

static void fail(const char *what) {
    perror(what);
    abort();
}

void guard_tree_remove(void) {
    char command[128];
    if (is_there) {
        (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
        if (system(command) != 0) {
            fail(command);
        }
        is_there = false;
    }
}

void guard_tree_make(void) {
    guard_tree_remove();
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(root, sizeof root, "%.40s/guard.XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(root) == NULL) {
        fail(root);
    }
    is_there = true;
    hp_procfs_set_root(root);
    guard_tree_write("/proc/meminfo",
                     "MemTotal:       16777216 kB\nMemFree: 1 kB\nSwapTotal:             0 kB\n");
    guard_tree_statm(0, 0, 0);
}

static void make_folders(char *path) {
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
}

void guard_tree_write(const char *path, const char *text) {
    char full[1024];
    char other[1100];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    (void)snprintf(other, sizeof other, "%s.new", full);
    make_folders(full);
    int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    size_t len = strlen(text);
    if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd) != 0 || rename(other, full) != 0) {
        fail(full);
    }
}

void guard_tree_number(const char *path, uint64_t value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%lu\n", (unsigned long)value);
    guard_tree_write(path, text);
}

void guard_tree_unlink(const char *path) {
    char full[1024];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    if (unlink(full) != 0) {
        fail(full);
    }
}

void guard_tree_v2(const char *name) {
    char line[512];
    (void)snprintf(line, sizeof line, "0::/%s\n", name);
    guard_tree_write("/proc/self/cgroup", line);
    guard_tree_write("/proc/self/mountinfo",
                     "22 1 0:21 / / rw - overlay overlay rw\n"
                     "30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
}

void guard_tree_v1(const char *name) {
    char line[512];
    (void)snprintf(line, sizeof line, "9:cpu,cpuacct:/%s\n4:memory:/%s\n", name, name);
    guard_tree_write("/proc/self/cgroup", line);
    guard_tree_write("/proc/self/mountinfo",
                     "22 1 0:21 / / rw - overlay overlay rw\n"
                     "31 22 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                     "32 22 0:29 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n");
}

void guard_tree_statm(uint64_t resident, uint64_t mapped, uint64_t data) {
    unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    char text[128];
    (void)snprintf(text, sizeof text, "%lu %lu 0 9 0 %lu 0\n", mapped / page, resident / page, data / page);
    guard_tree_write("/proc/self/statm", text);
}
