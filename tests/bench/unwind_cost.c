/*
 * The first walk through frames that were never seen before, in us a frame: by heapprof's unwinder, and by
 * libunwind (unw_backtrace, which keeps a cache of its own; and a cursor, step by step). And the walk after
 * it, in ns.
 *
 * There are 4096 different functions; each stack is made of 64 of them that no stack had before. Medians.
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "bench.h"
#include "heapprof/unwind/unwinder.h"

enum { FUNCTIONS = 4096, CHAIN = 64, WAYS = 3, CHAINS = FUNCTIONS / CHAIN / WAYS, DEPTH_MAX = 128 };

enum way { OURS, BACKTRACE, CURSOR };

struct walk {
    enum way way;
    double first_us; /* a frame, of those that are new */
    double again_ns;
};

static volatile unsigned calls;

__attribute__((noinline)) static uint32_t take(uintptr_t *pcs) {
    struct hp_unwound end;
    return hp_unwinder_take(pcs, DEPTH_MAX, __builtin_return_address(0), &end);
}

static uint32_t step_through(void) {
    unw_context_t context;
    unw_cursor_t cursor;
    uint32_t depth = 0;
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0) {
        return 0;
    }
    while (unw_step(&cursor) > 0) {
        depth++;
    }
    return depth;
}

/* Walks the stack in one way; returns the time in ns, 0 when frames are missing. */
static double walk_once(enum way way) {
    uintptr_t pcs[DEPTH_MAX];
    void *theirs[DEPTH_MAX];
    uint32_t depth = 0;
    double start = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (way == OURS) {
        depth = take(pcs);
    } else if (way == BACKTRACE) {
        depth = (uint32_t)unw_backtrace(theirs, DEPTH_MAX);
    } else {
        depth = step_through();
    }
    double took = bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    return depth > CHAIN ? took : 0;
}

static void measure(struct walk *walk) {
    walk->first_us = walk_once(walk->way) / CHAIN / 1000;
    walk->again_ns = walk_once(walk->way) / CHAIN;
}

static void (*const functions[FUNCTIONS])(unsigned, unsigned, struct walk *);

/* The functions f00000 to f03333, numbered in base 4; their frames differ in size. */
#define FUNCTION(n)                                                                                          \
    __attribute__((noinline)) static void f##n(unsigned index, unsigned left, struct walk *walk) {           \
        volatile char frame[8 + 0x##n % 3 * 16];                                                             \
        frame[0] = 0;                                                                                        \
        if (left == 0) {                                                                                     \
            measure(walk);                                                                                   \
        } else {                                                                                             \
            functions[index + 1](index + 1, left - 1, walk);                                                 \
        }                                                                                                    \
        calls += 1u + (unsigned)frame[0];                                                                    \
    }
#define ENTRY(n) f##n,
#define FOUR(x, n) x(n##0) x(n##1) x(n##2) x(n##3)
#define FOUR_2(x, n) FOUR(x, n##0) FOUR(x, n##1) FOUR(x, n##2) FOUR(x, n##3)
#define FOUR_3(x, n) FOUR_2(x, n##0) FOUR_2(x, n##1) FOUR_2(x, n##2) FOUR_2(x, n##3)
#define FOUR_4(x, n) FOUR_3(x, n##0) FOUR_3(x, n##1) FOUR_3(x, n##2) FOUR_3(x, n##3)
#define FOUR_5(x, n) FOUR_4(x, n##0) FOUR_4(x, n##1) FOUR_4(x, n##2) FOUR_4(x, n##3)
#define ALL(x) FOUR_5(x, 0) FOUR_5(x, 1) FOUR_5(x, 2) FOUR_5(x, 3)

ALL(FUNCTION)
static void (*const functions[FUNCTIONS])(unsigned, unsigned, struct walk *) = {ALL(ENTRY)};

static int report(enum way way, const char *name, const struct walk *walks) {
    double first[CHAINS], again[CHAINS];
    for (int i = 0; i < CHAINS; i++) {
        first[i] = walks[i * WAYS + (int)way].first_us;
        again[i] = walks[i * WAYS + (int)way].again_ns;
        if (first[i] == 0 || again[i] == 0) {
            fprintf(stderr, "unwind_cost: %s does not see the whole stack\n", name);
            return 1;
        }
    }
    printf("%s_first_us=%.3f\n%s_again_ns=%.1f\n", name, bench_median(first, CHAINS), name,
           bench_median(again, CHAINS));
    return 0;
}

int main(void) {
    static struct walk walks[CHAINS * WAYS];
    if (!hp_unwinder_init()) {
        return 1;
    }
    for (unsigned i = 0; i < CHAINS * WAYS; i++) {
        walks[i].way = (enum way)(i % WAYS);
        functions[i * CHAIN](i * CHAIN, CHAIN - 1, &walks[i]);
    }
    return report(OURS, "ours", walks) | report(BACKTRACE, "backtrace", walks) |
           report(CURSOR, "cursor", walks);
}
