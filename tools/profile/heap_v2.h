/*
 * jemalloc's own heap dumps, `heap_v2`: text, a line of addresses and a line of counters for each stack, then
 * the process's memory map. Made into a profile as heapprof writes it: values scaled to estimates of the
 * whole, frames inside the call, jemalloc's own frames left out where they can be told by their library.
 */
#ifndef HP_TOOLS_HEAP_V2_H
#define HP_TOOLS_HEAP_V2_H

#include <stddef.h>
#include <stdint.h>

#include "tools/base/error.h"
#include "tools/profile/profile.h"

/*
 * Reads the dump in data[0..size). It has inuse_objects and inuse_space, and before them alloc_objects and
 * alloc_space if it was taken with prof_accum. Build ids are those of the files that have the mappings' names
 * on this machine now. NULL: `error` says what is wrong, with the line. The caller frees it with
 * hp_profile_free; it takes at most 512 MiB. Stacks may come more than once.
 */
struct hp_profile *hp_heap_v2_parse(const uint8_t *data, size_t size, struct hp_error *error);

/*
 * The factor from what was sampled to what there was, for a stack with `count` sampled objects of `bytes`
 * bytes in all, at a mean distance of `period` bytes. 1 without objects or bytes.
 */
double hp_heap_v2_scale(uint64_t count, uint64_t bytes, uint64_t period);

#endif
