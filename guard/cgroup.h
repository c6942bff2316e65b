/*
 * Where this process's memory is counted: its cgroup's folder and those of its ancestors.
 *
 * /proc/self/cgroup names the cgroup within its hierarchy (cgroups(7)); /proc/self/mountinfo says where that
 * hierarchy is mounted and which part of it (proc_pid_mountinfo(5)). Both are relative to the reader's cgroup
 * namespace. The parsers are pure; nothing here takes a lock, allocates, or asks whether a folder exists.
 */
#ifndef GUARD_CGROUP_H
#define GUARD_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUARD_CGROUP_LEVELS = 16, GUARD_CGROUP_PATH = 960 };

struct guard_cgroup {
    unsigned version; /* of the hierarchy that has the memory controller: 1 or 2; 0: none found */
    unsigned levels;  /* how many folders are known: the leaf is level 0, each next one its parent */
    uint16_t length[GUARD_CGROUP_LEVELS]; /* level i's folder is the first length[i] bytes of path */
    char path[GUARD_CGROUP_PATH];         /* the leaf's folder */
};

/* Reads the text of /proc/self/cgroup: sets `version` and leaves the name within the hierarchy in `path`. On
 * a hybrid host the memory controller's own line wins over "0::". False when no line counts memory. */
bool guard_cgroup_parse_membership(struct guard_cgroup *cgroup, const char *text);

/* Reads the text of /proc/self/mountinfo and turns the name in `path` into folders. False, with no levels,
 * when the hierarchy is not mounted where this process could see itself or an ancestor. */
bool guard_cgroup_parse_mounts(struct guard_cgroup *cgroup, const char *text);

/* Both from the real files, through `text`, a buffer of `cap` bytes (mountinfo may be long; what does not fit
 * is not seen). -1 with errno set when one could not be read, *cgroup then unchanged in meaning (0 levels).
 */
int guard_cgroup_find(struct guard_cgroup *cgroup, char *text, size_t cap);

/* Writes the path of `file` in level's folder to `path`. */
void guard_cgroup_file(const struct guard_cgroup *cgroup, unsigned level, const char *file, char *path,
                       size_t cap);

#endif
