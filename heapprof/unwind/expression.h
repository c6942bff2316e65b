/*
 * DWARF expressions (DWARF 5, 2.5), as unwind tables use them: signal frames, PLT entries, functions that
 * realign their stack.
 */
#ifndef HP_UNWIND_EXPRESSION_H
#define HP_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/unwind/machine.h"
#include "heapprof/unwind/stack_reader.h"

/* Evaluates the expression of `bytes` bytes at `code`, with `*initial` on its stack first unless that is NULL.
 * Memory is read through `reader`. False when it can't be: an unknown operation, a register that is not
 * followed, unreadable memory, too long. Takes no lock, allocates nothing. */
bool hp_expression_evaluate(const uint8_t *code, size_t bytes, const struct hp_registers *registers,
                            const uintptr_t *initial, struct hp_stack_reader *reader, uintptr_t *value);

#endif
