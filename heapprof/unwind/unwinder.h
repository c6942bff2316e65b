/*
 * The calling thread's stack.
 *
 * Frame by frame through the frame cache, and through the binaries' unwind tables for what the cache does not
 * know. It takes no lock, of ours or of anyone's, makes no descriptor, allocates nothing and reads only memory
 * that was shown to be readable: it may run anywhere malloc is called, below the dynamic loader, in a signal
 * handler, in a forked child.
 */
#ifndef HP_UNWIND_UNWINDER_H
#define HP_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

/* Maps the frame cache. Called once, from the constructor, on the initial thread. False when there is no
 * address space. */
bool hp_unwinder_init(void);

struct hp_unwound {
    bool truncated;
    uint64_t binaries; /* of which binaries the code on the stack is: after dlclose others may have its addresses */
};

/*
 * Takes the stack of the calling thread into pcs[0..max), leaf first: from the function that called the
 * allocator, whose return address is `caller`, outward; each is inside the calling instruction (return
 * address - 1; in an interrupted frame the very instruction). Our own frames, which lie before `caller`, are
 * left out. Returns the depth, at least 1. end->truncated tells that the stack's outermost frame was not reached:
 * there were more than `max`, or code without unwind tables that keeps no frame pointer either (where it seems to,
 * the frame pointer is followed). May change errno.
 */
uint32_t hp_unwinder_take(uintptr_t *pcs, uint32_t max, const void *caller, struct hp_unwound *end);

#endif
