/*
 * Reads of the thread's own stack that cannot fault, whatever an unwind table claims: a word is read only from
 * a page that was shown to be readable.
 *
 * What the kernel or pthread_create gave the thread as its stack is trusted once its pages, from the lowest
 * frame seen up to the stack's fixed top, were probed in one piece; it is not unmapped while the thread lives.
 * Other stacks (fibres, alternate signal stacks) come and go: their pages are probed at every walk. Nothing
 * here takes a lock, as pthread_getattr_np would, or uses a descriptor.
 */
#ifndef HP_UNWIND_STACK_READER_H
#define HP_UNWIND_STACK_READER_H

#include <stdbool.h>
#include <stdint.h>

struct hp_stack_reader {
    uintptr_t low; /* readable now: [low, low + bytes) */
    uintptr_t bytes;
};

/* Marks the calling thread as the initial one, whose stack's top is the process's. From the constructor. */
void hp_stack_reader_init(void);

/* Begins reading the stack that `sp`, the calling thread's stack pointer, is in. */
void hp_stack_reader_begin(struct hp_stack_reader *reader, uintptr_t sp);

/* Makes the page of `address` readable, if it is. The slow way of hp_stack_reader_word(). */
bool hp_stack_reader_move(struct hp_stack_reader *reader, uintptr_t address);

/* Reads the aligned word at `address`. False when it can't be. */
static inline bool hp_stack_reader_word(struct hp_stack_reader *reader, uintptr_t address, uintptr_t *word) {
    if (address % sizeof *word != 0) {
        return false;
    }
    if (__builtin_expect(address - reader->low >= reader->bytes, 0) && !hp_stack_reader_move(reader, address)) {
        return false;
    }
    *word = *(const uintptr_t *)address;
    return true;
}

#endif
