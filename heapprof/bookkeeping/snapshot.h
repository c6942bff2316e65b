/*
 * The tables as they were at one moment, for a reader that must not allocate.
 *
 * Stacks, frames and modules are only ever appended, so a snapshot is three marks, not a copy: what lies
 * before them does not change but for the stacks' counters, which are read one stack at a time. Every frame
 * of a stack in the snapshot is in it, and every frame's module.
 */
#ifndef HP_BOOKKEEPING_SNAPSHOT_H
#define HP_BOOKKEEPING_SNAPSHOT_H

#include "heapprof/bookkeeping/frame_table.h"
#include "heapprof/bookkeeping/module_table.h"
#include "heapprof/bookkeeping/stack_table.h"

struct hp_snapshot {
    size_t stacks_end;
    size_t cursor;
    uint32_t frames;  /* frames 1..frames */
    uint32_t modules; /* modules 1..modules */
};

static inline void hp_snapshot_take(struct hp_snapshot *snapshot) {
    /* In this order: a stack is there after its frames, a frame after its module. */
    snapshot->stacks_end = hp_stack_table_end();
    snapshot->frames = hp_frame_table_count();
    snapshot->modules = hp_module_table_count();
    snapshot->cursor = 0;
}

/* The next stack; false behind the last one. */
static inline bool hp_snapshot_next_stack(struct hp_snapshot *snapshot, struct hp_stack_view *view) {
    return hp_stack_table_next(&snapshot->cursor, snapshot->stacks_end, view);
}

#endif
