/*
 * A fake /proc and /sys in a temporary folder, as the guard's sources read them. One tree a process.
 * A failure to build it ends the test program.
 */
#ifndef TESTS_GUARD_TREE_H
#define TESTS_GUARD_TREE_H

#include <stdint.h>

/* Makes an empty tree, in place of the last one, with 16 GiB of memory and no swap, and points hp_procfs at
 * it. */
void guard_tree_make(void);
void guard_tree_remove(void);

/* Writes a file, folders included, in one step as far as a reader can tell. */
void guard_tree_write(const char *path, const char *text);
void guard_tree_number(const char *path, uint64_t value);
void guard_tree_unlink(const char *path);

/* A process of a v2 cgroup /sys/fs/cgroup/<name>, or of a v1 one /sys/fs/cgroup/memory/<name>. */
void guard_tree_v2(const char *name);
void guard_tree_v1(const char *name);

/* This process's RSS, mapped and data bytes, rounded down to pages. */
void guard_tree_statm(uint64_t resident, uint64_t mapped, uint64_t data);

#endif
