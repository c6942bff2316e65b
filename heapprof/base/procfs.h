/*
 * Small files of the kernel, under a root that tests can set.
 *
 * Each read opens the file anew: no descriptor of ours is there for an application that closes all of its
 * own, and a cgroup that was moved or replaced is seen.
 */
#ifndef HP_BASE_PROCFS_H
#define HP_BASE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Prepends `root` to every path from now on; "" for the real one. `root` must live on. For tests only. */
void hp_procfs_set_root(const char *root);

/* From now on what is asked of /proc/self is read of the calling thread: the former is about the main thread, and empty
 * when that has ended before the others. Not always, since threads may be in cgroups of their own. */
void hp_procfs_read_by_thread(bool by_thread);

/* Opens the file at the absolute `path`, as hp_sys_open() does. */
int hp_procfs_open(const char *path, int flags);

/* Reads the file at the absolute `path` into `buf`, at most cap - 1 bytes, and ends them with a NUL.
 * Returns how many, or -1 with errno set. Any thread; no allocation; not a cancellation point. */
ssize_t hp_procfs_read(const char *path, char *buf, size_t cap);

/* Reads a file that holds one number, in decimal; "max" gives UINT64_MAX. 0, or -1 with errno set (EINVAL:
 * not a number). */
int hp_procfs_read_u64(const char *path, uint64_t *value);

/* In `text`, finds the line that starts with `key` and reads the number behind it, blanks skipped. 0, or -1
 * when there is none. */
int hp_procfs_field(const char *text, const char *key, uint64_t *value);

#endif
