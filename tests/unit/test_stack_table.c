/* bookkeeping/stack_table: one reference a stack, counts that come back to zero, nothing lost at the caps.
 * P22. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "heapprof/base/rng.h"
#include "heapprof/bookkeeping/frame_table.h"
#include "heapprof/bookkeeping/stack_table.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"

/* Room for more stacks than the table has buckets (65536), so that chains are walked. */
enum { CAP_BYTES = 12 << 20, FRAMES = 20000 };

static uint32_t no_module(uintptr_t pc) {
    (void)pc;
    return 0;
}

static int setup(void **state) {
    (void)state;
    return hp_frame_table_init(FRAMES * 16, no_module) && hp_stack_table_init(CAP_BYTES) ? 0 : -1;
}

/* A stack of `depth` frames; stacks of different `n` differ in their leaf. */
static struct hp_stack_trace trace_of(uint32_t depth, uintptr_t n) {
    struct hp_stack_trace trace;
    memset(&trace, 0xa5, sizeof trace); /* what lies behind the depth means nothing */
    trace.depth = depth;
    trace.truncated = false;
    for (uint32_t i = 0; i < depth; i++) {
        trace.pcs[i] = 0x1000 + i;
    }
    if (depth > 0) {
        trace.pcs[0] = 0x10000 + n;
    }
    return trace;
}

static uint32_t find(struct hp_stack_trace trace) {
    return hp_stack_table_find(&trace);
}

/* The view whose leaf is that of trace_of(·, n). */
static bool view_of(uintptr_t n, struct hp_stack_view *view) {
    size_t cursor = 0;
    while (hp_stack_table_next(&cursor, hp_stack_table_end(), view)) {
        if (view->depth > 0 && hp_frame_table_get(view->frames[0])->pc == 0x10000 + n) {
            return true;
        }
    }
    return false;
}

static struct hp_stack_counts sum_of_all(void) {
    struct hp_stack_counts sum = {0};
    struct hp_stack_view view;
    size_t cursor = 0;
    while (hp_stack_table_next(&cursor, hp_stack_table_end(), &view)) {
        sum.alloc_objects += view.counts.alloc_objects;
        sum.alloc_bytes += view.counts.alloc_bytes;
        sum.inuse_objects += view.counts.inuse_objects;
        sum.inuse_bytes += view.counts.inuse_bytes;
    }
    return sum;
}

static void test_lost_stack_is_there_from_the_start(void **state) {
    (void)state;
    struct hp_stack_view view;
    size_t cursor = 0;
    assert_true(hp_stack_table_next(&cursor, hp_stack_table_end(), &view));
    assert_true(view.lost);
    assert_int_equal(view.depth, 0);
    assert_int_equal(view.counts.alloc_objects, 0);
    assert_false(hp_stack_table_next(&cursor, hp_stack_table_end(), &view));
}

static void test_what_makes_a_stack(void **state) {
    (void)state;
    struct hp_stack_trace stacks[7];
    uint32_t references[ROWS(stacks)];
    stacks[0] = trace_of(3, 1);
    stacks[1] = trace_of(3, 2);
    stacks[2] = trace_of(2, 1); /* a prefix */
    stacks[3] = trace_of(3, 1);
    stacks[3].truncated = true;
    stacks[4] = trace_of(3, 1); /* the same frames, another order */
    stacks[4].pcs[1] = stacks[0].pcs[2];
    stacks[4].pcs[2] = stacks[0].pcs[1];
    stacks[5] = trace_of(HP_STACK_DEPTH_MAX, 3);
    stacks[6] = trace_of(0, 0); /* a stack that nothing is known of is not a lost one */
    for (size_t i = 0; i < ROWS(stacks); i++) {
        references[i] = hp_stack_table_find(&stacks[i]);
        assert_int_not_equal(references[i], 0);
        assert_int_not_equal(references[i], HP_STACK_LOST);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(references[i], references[k]);
        }
    }
    size_t end = hp_stack_table_end();
    for (size_t i = 0; i < ROWS(stacks); i++) {
        assert_int_equal(hp_stack_table_find(&stacks[i]), references[i]);
    }
    assert_int_equal(hp_stack_table_end(), end);
}

static void test_views_show_what_was_put_in(void **state) {
    (void)state;
    struct hp_stack_trace trace = trace_of(HP_STACK_DEPTH_MAX, 4);
    trace.truncated = true;
    uint32_t stack = hp_stack_table_find(&trace);
    hp_stack_table_add(stack, 3, 300);
    hp_stack_table_add(stack, 1, 50);
    hp_stack_table_subtract(stack, 3, 300);
    struct hp_stack_view view;
    assert_true(view_of(4, &view));
    assert_int_equal(view.depth, HP_STACK_DEPTH_MAX);
    assert_true(view.truncated);
    assert_false(view.lost);
    for (uint32_t i = 0; i < view.depth; i++) {
        assert_true(hp_frame_table_get(view.frames[i])->pc == trace.pcs[i]);
    }
    assert_int_equal(view.counts.alloc_objects, 4);
    assert_int_equal(view.counts.alloc_bytes, 350);
    assert_int_equal(view.counts.inuse_objects, 1);
    assert_int_equal(view.counts.inuse_bytes, 50);
}

/* Growth in place is an allocation of the difference; shrinking gives back what is in use and no history. */
static void test_resize(void **state) {
    (void)state;
    uint32_t stack = find(trace_of(2, 5));
    struct hp_stack_view view;
    hp_stack_table_add(stack, 1, 100);
    hp_stack_table_resize(stack, 100, 250);
    hp_stack_table_resize(stack, 250, 40);
    assert_true(view_of(5, &view));
    assert_int_equal(view.counts.alloc_objects, 1);
    assert_int_equal(view.counts.alloc_bytes, 250);
    assert_int_equal(view.counts.inuse_bytes, 40);
    hp_stack_table_subtract(stack, 1, 40);
    assert_true(view_of(5, &view));
    assert_int_equal(view.counts.inuse_objects, 0);
    assert_int_equal(view.counts.inuse_bytes, 0);
}

/* P22: random objects on 100 stacks, freed in another order: never below zero, at the end exactly zero, and
 * the history is the sum. */
static void test_p22_counts_end_at_zero(void **state) {
    (void)state;
    enum { N = 20000, STACKS = 100 };
    static uint64_t weight[N];
    static uint64_t bytes[N];
    uint32_t stacks[STACKS];
    uint64_t random = 22;
    struct hp_stack_counts before = sum_of_all();
    uint64_t all_bytes = 0;
    for (unsigned i = 0; i < STACKS; i++) {
        stacks[i] = find(trace_of(5, 100 + i));
    }
    for (int i = 0; i < N; i++) {
        weight[i] = 65536 + hp_rng_next(&random) % 10000000;
        bytes[i] = hp_rng_next(&random) % 100000;
        all_bytes += bytes[i];
        hp_stack_table_add(stacks[i % STACKS], weight[i], bytes[i]);
    }
    assert_int_equal(sum_of_all().inuse_bytes - before.inuse_bytes, all_bytes);
    for (int i = 0; i < N; i++) {
        int k = i * 7919 % N;
        hp_stack_table_subtract(stacks[k % STACKS], weight[k], bytes[k]);
        if (i % 1000 == 0) {
            assert_true((int64_t)(sum_of_all().inuse_objects - before.inuse_objects) >= 0);
            assert_true((int64_t)(sum_of_all().inuse_bytes - before.inuse_bytes) >= 0);
        }
    }
    struct hp_stack_counts after = sum_of_all();
    assert_int_equal(after.inuse_objects, before.inuse_objects);
    assert_int_equal(after.inuse_bytes, before.inuse_bytes);
    assert_int_equal(after.alloc_bytes - before.alloc_bytes, all_bytes);
}

/* A reader beside four writers: what lies before the mark is whole, and each stack's counts belong together
 * (every object here has 7 bytes). */
enum { WRITERS = 4, EACH = 3000 };
static _Atomic int writing;

static void *write_stacks(void *first) {
    for (uintptr_t i = 0; i < EACH; i++) {
        uint32_t stack = find(trace_of(6, *(const uintptr_t *)first + i / 2));
        hp_stack_table_add(stack, 1, 7);
        if (i % 3 == 0) {
            hp_stack_table_subtract(stack, 1, 7);
        }
    }
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static unsigned read_all(uintptr_t from) {
    struct hp_stack_view view;
    size_t cursor = 0;
    size_t end = hp_stack_table_end();
    uint32_t frames = hp_frame_table_count();
    unsigned seen = 0;
    while (hp_stack_table_next(&cursor, end, &view)) {
        for (uint32_t i = 0; i < view.depth; i++) {
            assert_in_range(view.frames[i], 1, frames);
        }
        if (view.depth == 6 && hp_frame_table_get(view.frames[0])->pc >= 0x10000 + from) {
            assert_true(hp_frame_table_get(view.frames[5])->pc == 0x1005);
            assert_true(view.counts.alloc_bytes == 7 * view.counts.alloc_objects);
            assert_true(view.counts.inuse_bytes == 7 * view.counts.inuse_objects);
            assert_true(view.counts.inuse_objects <= view.counts.alloc_objects);
            seen++;
        }
    }
    assert_int_equal(cursor, end);
    return seen;
}

static void test_views_beside_writers(void **state) {
    (void)state;
    pthread_t threads[WRITERS];
    uintptr_t first[WRITERS];
    const uintptr_t from = 1000;
    atomic_store(&writing, WRITERS);
    for (uintptr_t i = 0; i < WRITERS; i++) {
        first[i] = from + i * EACH / 4; /* they overlap: two threads find the same new stack at once */
        assert_int_equal(pthread_create(&threads[i], NULL, write_stacks, &first[i]), 0);
    }
    do {
        (void)read_all(from);
    } while (atomic_load(&writing) > 0);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    /* EACH/2 different ones a writer, each writer EACH/4 further on; none twice. */
    assert_int_equal(read_all(from), EACH / 2 + (WRITERS - 1) * EACH / 4);
}

/* P7 */
static int body_child_counts(void) {
    hp_stack_table_fork_child();
    hp_frame_table_fork_child();
    for (uintptr_t n = 0; n < 1000; n++) { /* enough for every shard */
        uint32_t stack = find(trace_of(3, 8000 + n));
        CHILD_CHECK(stack > HP_STACK_LOST);
        hp_stack_table_add(stack, 1, 1);
    }
    return 0;
}

static void test_fork(void **state) {
    (void)state;
    size_t end = hp_stack_table_end();
    hp_stack_table_fork_prepare();
    hp_frame_table_fork_prepare();
    child_must_succeed(body_child_counts);
    hp_frame_table_fork_parent();
    hp_stack_table_fork_parent();
    assert_int_equal(hp_stack_table_end(), end);
    hp_stack_table_add(HP_STACK_LOST, 0, 0);
}

/* There is room for stacks, but not for a frame: in a child, because no table empties. */
static int body_full_frame_table(void) {
    while (hp_frame_table_add(0x900000 + hp_frame_table_count()) != 0) {
    }
    size_t end = hp_stack_table_end();
    CHILD_CHECK(find(trace_of(3, 0x777777)) == HP_STACK_LOST);
    CHILD_CHECK(find(trace_of(3, 1)) > HP_STACK_LOST); /* known */
    CHILD_CHECK(hp_stack_table_end() == end);
    CHILD_CHECK(find(trace_of(4, 2)) > HP_STACK_LOST); /* a new one of known frames */
    return 0;
}

static void test_full_frame_table(void **state) {
    (void)state;
    child_must_succeed(body_full_frame_table);
}

/* Two leaves make as many stacks as there are pairs: the region fills before the frames do. */
static struct hp_stack_trace pair(uintptr_t n) {
    struct hp_stack_trace trace = trace_of(2, n % 4000);
    trace.pcs[1] = 0x20000 + n / 4000;
    return trace;
}

/* The region is full: what is known stays known, the rest is counted on the lost stack, and the total is
 * true. */
static void test_full_region(void **state) {
    (void)state;
    enum { N = 300000 };
    struct hp_stack_counts before = sum_of_all();
    uint32_t lost = 0;
    for (uintptr_t n = 0; n < N; n++) {
        uint32_t stack = find(pair(n));
        assert_int_not_equal(stack, 0);
        assert_true(lost == 0 || stack == HP_STACK_LOST); /* of one size: none fits any more */
        lost += stack == HP_STACK_LOST;
        hp_stack_table_add(stack, 2, 3);
    }
    uint32_t kept = N - lost;
    assert_in_range(kept, 100000, CAP_BYTES / (2 * 4 + 40)); /* a record has counts, hash, links, frames */
    struct hp_stack_counts after = sum_of_all();
    assert_int_equal(after.alloc_objects - before.alloc_objects, 2 * N);
    assert_int_equal(after.alloc_bytes - before.alloc_bytes, 3 * N);
    struct hp_stack_view view;
    size_t cursor = 0;
    assert_true(hp_stack_table_next(&cursor, hp_stack_table_end(), &view));
    assert_true(view.lost);
    assert_int_equal(view.counts.alloc_objects, 2 * lost);
    assert_in_range(hp_stack_table_end(), 0, CAP_BYTES);
    for (uintptr_t n = 0; n < kept; n += 997) {
        assert_int_not_equal(find(pair(n)), HP_STACK_LOST);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_stack_is_there_from_the_start), /* first; the last one fills the table */
        cmocka_unit_test(test_what_makes_a_stack),
        cmocka_unit_test(test_views_show_what_was_put_in),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_p22_counts_end_at_zero),
        cmocka_unit_test(test_views_beside_writers),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_full_frame_table),
        cmocka_unit_test(test_full_region),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
