#include "heapprof/unwind/stack_reader.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heapprof/unwind/machine.h"

#define PAGE ((uintptr_t)4096)

/*
 * How far below what is trusted the stack pointer may be for what lies between to be probed and trusted, too: the
 * own stack, grown since the last sample. Not far: on a fibre's stack somewhere below it, that would trust memory
 * that comes and goes. Walks from further down probe each page that they read.
 */
enum { FIRST_PAGES_MAX = 16, MORE_PAGES_MAX = 8 };

extern void *__libc_stack_end; /* ld.so's: the initial thread's stack ends above it */

static __thread struct {
    uintptr_t low; /* [low, top) is this thread's own stack, and readable; 0: not looked at yet */
    bool is_initial;
} own __attribute__((tls_model("initial-exec")));

void hp_stack_reader_init(void) {
    own.is_initial = true;
}

static uintptr_t own_top(void) {
    return own.is_initial ? (uintptr_t)__libc_stack_end : hp_machine_thread_pointer();
}

/* Whether a word of the page can be read: the kernel copies the signal set before it refuses the unknown
 * `how` (EINVAL), and fails (EFAULT) when it can't. Changes nothing. A filter's refusal (EPERM) is no answer. */
static bool is_readable(uintptr_t page) {
    enum { NO_SUCH_HOW = 1000, KERNEL_SIGSET_BYTES = 8 };
    return syscall(SYS_rt_sigprocmask, NO_SUCH_HOW, page, NULL, KERNEL_SIGSET_BYTES) != 0 && errno == EINVAL;
}

/* Extends what is trusted of the own stack down to `sp`. False when that is some other stack. */
static bool trust(uintptr_t sp, uintptr_t top) {
    uintptr_t from = sp & ~(PAGE - 1);
    uintptr_t to = own.low != 0 ? own.low : top;
    if ((to - from) / PAGE > (own.low != 0 ? MORE_PAGES_MAX : FIRST_PAGES_MAX)) {
        return false;
    }
    for (uintptr_t page = from; page < to; page += PAGE) {
        if (!is_readable(page)) {
            return false;
        }
    }
    own.low = from;
    return true;
}

void hp_stack_reader_begin(struct hp_stack_reader *reader, uintptr_t sp) {
    uintptr_t top = own_top();
    if (sp < top && ((own.low != 0 && sp >= own.low) || trust(sp, top))) {
        reader->low = own.low;
        reader->bytes = (top & ~(sizeof(uintptr_t) - 1)) - own.low;
        return;
    }
    reader->low = sp & ~(PAGE - 1); /* we are running on it */
    reader->bytes = PAGE;
}

__attribute__((noinline)) bool hp_stack_reader_move(struct hp_stack_reader *reader, uintptr_t address) {
    uintptr_t top = own_top();
    if (own.low != 0 && address >= own.low && address < top) { /* back from an alternate signal stack */
        reader->low = own.low;
        reader->bytes = (top & ~(sizeof(uintptr_t) - 1)) - own.low;
        return true;
    }
    uintptr_t page = address & ~(PAGE - 1);
    if (!is_readable(page)) {
        return false;
    }
    if (page == reader->low + reader->bytes) { /* the next page outward */
        reader->bytes += PAGE;
        return true;
    }
    reader->low = page;
    reader->bytes = PAGE;
    return true;
}
