/*
 * What the growing program (grow.c) tells the witness (witness.c), in a file that both map: it outlives a
 * kill.
 *
 * `in_use` is the program's own count, the sum of what it asked for and has not freed: raised after malloc
 * has returned, lowered before free is called, so it is never above the truth and below it by one object at
 * most.
 */
#ifndef SURVIVAL_H
#define SURVIVAL_H

#include <stdatomic.h>
#include <stdint.h>

enum { SURVIVAL_SLOTS = 32 };

/* One thread's count. A process's is the sum of its slots. */
struct survival_slot {
    _Alignas(64) _Atomic int32_t pid; /* 0: not used */
    _Atomic uint64_t in_use;          /* bytes */
};

struct survival_shared {
    _Atomic int32_t pid;        /* of the program's first process; 0: it has not begun */
    _Atomic int32_t killed_pid; /* of the process the program saw killed; 0: its first one is meant */
    _Atomic uint32_t slots_taken;
    _Atomic uint64_t usage; /* of the cgroup, bytes; the witness writes it, some patterns steer by it */
    _Atomic uint64_t limit; /* of the cgroup, bytes */
    struct survival_slot slots[SURVIVAL_SLOTS];
};

#endif
