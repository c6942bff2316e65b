/*
 * Memory for heapprof's own tables: mapped from the kernel, never from malloc, never given back.
 *
 * An arena is a bump pointer over chunks with a cap. What it hands out is zeroed, aligned to 16 bytes and
 * stays where it is for the life of the process, so that readers need no lock to keep a pointer.
 */
#ifndef HP_BASE_ARENA_H
#define HP_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/base/lock.h"

struct hp_arena {
    struct hp_lock lock;
    uintptr_t next; /* guarded by lock, as all below */
    uintptr_t end;
    size_t chunk_bytes;
    size_t room; /* bytes that may still be mapped */
};

/* An arena that maps `chunk_bytes` (a multiple of the page size) at a time and `cap_bytes` at the most. */
void hp_arena_init(struct hp_arena *arena, size_t chunk_bytes, size_t cap_bytes);

/* `bytes` of zeroed memory, or NULL when the cap is reached or the kernel has none; `bytes` must not exceed
 * the chunk. Any thread; the caller is muted. May change errno. */
void *hp_arena_take(struct hp_arena *arena, size_t bytes);

/* Whole zeroed pages outside any arena, for fixed tables; NULL when there are none. Untouched pages cost
 * address space only. */
void *hp_pages_map(size_t bytes);

/* The same, with every page already present: what a dump uses must not fault when memory is out. */
void *hp_pages_map_present(size_t bytes);

/* Makes pages present again, and this process's own: after fork() the first write to each takes a new one. */
void hp_pages_touch(void *pages, size_t bytes);

/*
 * A table that only grows, from its start on: its pages are opened as they are reached. So it costs what is
 * used also where pages that nobody has touched count: in a process that has called mlockall(), and for the
 * kernel's commit limit (vm.overcommit_memory=2).
 */
struct hp_row {
    char *start;
    size_t bytes;
    size_t open; /* so many may be used */
};

/* Maps a row. False when there is no address space. */
bool hp_row_map(struct hp_row *row, size_t bytes);

/* Opens the row up to `end`, zeroed; false behind its end, or when the kernel refuses. One thread at a time;
 * may change errno. */
bool hp_row_reach(struct hp_row *row, size_t end);

/* Whether `bytes` more of address space could be mapped now. Any thread; may change errno. */
bool hp_pages_have_room(size_t bytes);

/* Bytes of address space that heapprof has mapped for itself in this process. */
size_t hp_pages_total(void);

#endif
