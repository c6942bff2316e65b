/*
 * Call frame information: how to get from a function to its caller, out of the tables that compilers emit for
 * exceptions (.eh_frame; DWARF 5, section 6.4; Linux Standard Base, "Exception Frames").
 *
 * Every binary's tables are mapped with it, read-only; nothing is copied or allocated here, and no lock is
 * taken. Corrupt tables give "not found": every read stays inside the binary's mapping.
 */
#ifndef HP_UNWIND_CFI_H
#define HP_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/unwind/loader_view.h"

/* How the caller's value of one register is found. */
enum hp_cfi_kind {
    HP_CFI_SAME,        /* unchanged */
    HP_CFI_UNDEFINED,   /* gone; of the program counter: there is no caller */
    HP_CFI_AT_CFA,      /* in memory at CFA + offset */
    HP_CFI_CFA_PLUS,    /* CFA + offset itself */
    HP_CFI_REGISTER,    /* register + offset (the CFA's usual rule) */
    HP_CFI_EXPRESSION,  /* in memory at the address that an expression gives */
    HP_CFI_VALUE,       /* the value that an expression gives */
};

struct hp_cfi_rule {
    enum hp_cfi_kind kind;
    uint32_t reg; /* HP_CFI_REGISTER */
    int64_t offset;
    const uint8_t *expression; /* a DWARF expression inside the binary's mapping */
    size_t expression_bytes;
};

/* The rules at one place in the code. */
struct hp_cfi_row {
    struct hp_cfi_rule cfa; /* canonical frame address: the stack pointer before the call */
    struct hp_cfi_rule pc;
    struct hp_cfi_rule fp;
    struct hp_cfi_rule base;
    struct hp_cfi_rule sp; /* HP_CFI_SAME: the CFA, as always but in signal frames */
    bool is_signal_frame;  /* the caller was interrupted, not calling: its pc is exact */
};

/* The rules for the code at `pc` in `binary`. False when its tables do not cover it. */
bool hp_cfi_find(const struct hp_loaded *binary, uintptr_t pc, struct hp_cfi_row *row);

#endif
