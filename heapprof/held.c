#include "heapprof/held.h"

#include <stdatomic.h>

#include "heapprof/base/parse.h"
#include "heapprof/base/procfs.h"
#include "heapprof/base/rng.h"

enum { PAGE = 4096 };

/* Each sample writes here, and hardly anything reads: so that threads do not pass one cache line around, each has
 * one of several sums, which only together mean something (modulo 2^64). */
enum { SUMS = 16 };
static struct {
    _Atomic uint64_t bytes;
} __attribute__((aligned(64))) sums[SUMS];

/* What lies on the stack differs between threads, by more than a page. */
static _Atomic uint64_t *own_sum(void) {
    return &sums[hp_rng_mix((uintptr_t)__builtin_frame_address(0) >> 16) % SUMS].bytes;
}

void hp_held_add(uint64_t bytes) {
    atomic_fetch_add_explicit(own_sum(), bytes, memory_order_relaxed);
}

void hp_held_subtract(uint64_t bytes) {
    atomic_fetch_sub_explicit(own_sum(), bytes, memory_order_relaxed);
}

static uint64_t all_held(void) {
    uint64_t held = 0;
    for (unsigned i = 0; i < SUMS; i++) {
        held += atomic_load_explicit(&sums[i].bytes, memory_order_relaxed);
    }
    return held < INT64_MAX ? held : 0; /* what was subtracted in between may not have been added yet */
}

/* proc_pid_statm(5): "size resident shared …", in pages; the shared ones are files'. */
uint64_t hp_held_untouched(void) {
    char text[128];
    uint64_t pages[3] = {0};
    if (hp_procfs_read("/proc/self/statm", text, sizeof text) < 0) {
        return 0;
    }
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        at += *at == ' ';
        if (hp_parse_u64(at, &pages[i], &at) != 0) {
            return 0;
        }
    }
    uint64_t anonymous = (pages[1] > pages[2] ? pages[1] - pages[2] : 0) * PAGE;
    uint64_t holds = all_held();
    return holds > anonymous ? holds - anonymous : 0;
}
