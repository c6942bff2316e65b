/*
 * The machine, as an unwinder sees it: which registers it follows, and how to read them. The one place that
 * knows x86-64 (System V ABI, DWARF register numbers of its figure 3.36).
 */
#ifndef HP_UNWIND_MACHINE_H
#define HP_UNWIND_MACHINE_H

#include <stdint.h>

#ifndef __x86_64__
#error "heapprof's unwinder knows x86-64 only: add this machine's registers here"
#endif

/* DWARF's numbers of the registers that are followed: those that frames are found by. BASE (rbx) is what the
 * loader's lazy-binding trampoline bases its frame on, and some hand-written code that realigns its stack. */
enum hp_register { HP_REGISTER_BASE = 3, HP_REGISTER_FP = 6, HP_REGISTER_SP = 7, HP_REGISTER_PC = 16 };

/* A frame. */
struct hp_registers {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t base;
};

/* The calling function's own registers. */
static inline __attribute__((always_inline)) void hp_machine_registers(struct hp_registers *r) {
    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
                     : "=&a"(r->pc), "=&c"(r->sp), "=&d"(r->fp), "=&S"(r->base)); /* not into what is read */
}

/* Where glibc keeps the calling thread's control block: at the top of a thread's stack, above all its
 * frames (the initial thread's is elsewhere). */
static inline uintptr_t hp_machine_thread_pointer(void) {
    return (uintptr_t)__builtin_thread_pointer();
}

#endif
