/*
 * The code that many profiles name, each frame once: what profile_merge makes its locations of.
 *
 * A binary is known by its build id, else by its file name; a frame by its binary and the offset in that
 * file, so that address space randomization does not matter, and by its lines. Two frames of a binary with a
 * build id that differ only in that one has no symbols are the same: it gets the other's. Strings and lines
 * are copied into the pool. Not thread-safe.
 */
#ifndef HP_TOOLS_MERGE_CODE_H
#define HP_TOOLS_MERGE_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/base/pool.h"
#include "tools/profile/profile.h"

struct hp_merge_code;

/* Never NULL. The pool must outlive what hp_merge_code_finish fills; hp_merge_code_free frees the rest. */
struct hp_merge_code *hp_merge_code_new(struct hp_pool *pool);

/* Turns to another profile. The first mapping of the first one that has any is the result's main binary.
 * False: the pool is full. */
bool hp_merge_code_begin(struct hp_merge_code *code, const struct hp_profile *profile);

/* The number, from 0, of a location of this profile, new or known; SIZE_MAX when the pool is full. */
size_t hp_merge_code_location(struct hp_merge_code *code, const struct hp_location *location);

/* Gives the profile its mappings, and its locations in the order of their numbers. False: the pool is full.
 */
bool hp_merge_code_finish(struct hp_merge_code *code, struct hp_profile *profile);

/* NULL is fine. */
void hp_merge_code_free(struct hp_merge_code *code);

#endif
