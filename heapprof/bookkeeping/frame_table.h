/*
 * The distinct program counters of all stacks, numbered from 1 in the order of their first sight: stacks hold
 * 4-byte numbers instead of 8-byte addresses, and a dump writes locations without a table of its own.
 *
 * Bounded. Adding: any thread, muted. Reading a frame that a number was handed out for needs no lock.
 */
#ifndef HP_BOOKKEEPING_FRAME_TABLE_H
#define HP_BOOKKEEPING_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_frame {
    uintptr_t pc;    /* inside the calling instruction: return address - 1 */
    uint32_t module; /* the module table's id; 0: none */
    uint32_t next;   /* the table's own */
};

/* Maps the table. `module_of` tells the module of a program counter that is on the caller's stack (so it
 * can't be unloaded meanwhile); it is called without a lock. False when there is no address space. */
bool hp_frame_table_init(size_t cap_bytes, uint32_t (*module_of)(uintptr_t pc));

/* The number of `pc`, added when it is new; 0 when the table is full. */
uint32_t hp_frame_table_add(uintptr_t pc);

/* Numbers 1..count are valid. */
uint32_t hp_frame_table_count(void);

extern struct hp_frame *hp_frame_table __attribute__((visibility("hidden"))); /* the table's own */

static inline const struct hp_frame *hp_frame_table_get(uint32_t number) {
    return &hp_frame_table[number - 1];
}

void hp_frame_table_fork_prepare(void);
void hp_frame_table_fork_parent(void);
void hp_frame_table_fork_child(void);

#endif
