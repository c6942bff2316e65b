/*
 * The distinct stacks and what each one has allocated and holds: the profile's samples.
 *
 * A stack is inserted once and stays. Counters are in the estimate's own units: weights for objects
 * (base/weight.h), bytes for bytes; each addition is matched by an equal subtraction, so live counts
 * never go below zero and end at exactly zero.
 *
 * Bounded: a stack that does not fit is counted on the one "lost" stack, so totals stay true.
 *
 * All functions: any thread, muted; no allocation through malloc; short critical sections, sharded by hash.
 */
#ifndef HP_BOOKKEEPING_STACK_TABLE_H
#define HP_BOOKKEEPING_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_STACK_DEPTH_MAX = 128 };

/* A stack as it was taken: leaf first. */
struct hp_stack_trace {
    uint32_t depth;
    bool truncated; /* there were more callers than fit */
    uint64_t binaries; /* tells stacks of the same addresses apart when other binaries have come there */
    uintptr_t pcs[HP_STACK_DEPTH_MAX];
};

struct hp_stack_counts {
    uint64_t alloc_objects;
    uint64_t alloc_bytes;
    uint64_t inuse_objects;
    uint64_t inuse_bytes;
};

/* The stack on which everything is counted that found no room. */
enum { HP_STACK_LOST = 1 };

/* Maps the table, its records bounded by `cap_bytes`. False when there is no address space. */
bool hp_stack_table_init(size_t cap_bytes);

/* The reference of the stack, inserted when it is new; HP_STACK_LOST when it finds no room. Never 0. */
uint32_t hp_stack_table_find(const struct hp_stack_trace *trace);

/* Counts an allocation on a stack, or the end of one. */
void hp_stack_table_add(uint32_t stack, uint64_t objects, uint64_t bytes);
void hp_stack_table_subtract(uint32_t stack, uint64_t objects, uint64_t bytes);

/* An object of the stack changed its size in place. */
void hp_stack_table_resize(uint32_t stack, uint64_t bytes_before, uint64_t bytes_after);

/* How many distinct stacks there are, the one that is lost aside. */
uint64_t hp_stack_table_count(void);

/* One stack as a reader sees it; `frames` (numbers of the frame table) is the table's own. */
struct hp_stack_view {
    const uint32_t *frames; /* leaf first */
    uint32_t depth;
    bool truncated;
    bool lost; /* the stack HP_STACK_LOST: no frames */
    struct hp_stack_counts counts;
};

/* Where the stacks end now: what is inserted later lies behind. */
size_t hp_stack_table_end(void);

/* Reads the stack at *cursor, which begins as 0, and moves it on. False at `end`. Each stack's counts belong
 * together; stacks are read one after the other while the application runs on. */
bool hp_stack_table_next(size_t *cursor, size_t end, struct hp_stack_view *view);

void hp_stack_table_fork_prepare(void);
void hp_stack_table_fork_parent(void);
void hp_stack_table_fork_child(void);

#endif
