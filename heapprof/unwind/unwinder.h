/*
 * The calling thread's stack.
 *
 * By libunwind, loaded privately (RTLD_LOCAL): linked in, its _Unwind_* and backtrace would take the place of
 * the C++ runtime's. It must not be called with a lock of ours held.
 */
#ifndef HP_UNWIND_UNWINDER_H
#define HP_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

/* Loads and tries the unwinder. False, with a line on standard error, when it is not usable: stacks then have
 * the one frame that called the allocator. Called once, from the constructor: dlopen is not for later. */
bool hp_unwinder_init(void);

/*
 * Takes the stack of the calling thread into pcs[0..max), leaf first: from the function that called the
 * allocator, whose return address is `caller`, outward; each is inside the calling instruction (return
 * address - 1). Our own frames and the allocator's, which lie before `caller`, are left out. Returns the
 * depth, at least 1; *truncated tells whether callers were left out at the far end. Takes no lock of the
 * loader; allocates nothing. The caller is muted.
 */
uint32_t hp_unwinder_take(uintptr_t *pcs, uint32_t max, const void *caller, bool *truncated);

/*
 * Around fork(): prepare keeps threads from unwinding and waits, a bounded time, for those that do, because a
 * child that inherits a lock inside libunwind would hang at its first sample. If one does not come out, the
 * child goes on with stacks of one frame.
 */
void hp_unwinder_fork_prepare(void);
void hp_unwinder_fork_parent(void);
void hp_unwinder_fork_child(void);

#endif
