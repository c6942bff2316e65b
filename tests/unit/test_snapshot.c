/* bookkeeping/snapshot: three marks that hold together while the tables grow. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "heapprof/bookkeeping/snapshot.h"
#include "tests/unit/cmocka_first.h"

/* Many frames have a module of their own: the marks are taken while all three tables grow. */
static uint32_t module_of(uintptr_t pc) {
    char path[32];
    (void)snprintf(path, sizeof path, "/m/%lx", pc % 3000);
    pc %= 3000;
    struct hp_module module = {.start = pc, .end = pc + 1, .path = path};
    return hp_module_table_add(&module);
}

static int setup(void **state) {
    (void)state;
    return hp_module_table_init() && hp_frame_table_init(4 << 20, module_of) && hp_stack_table_init(16 << 20)
               ? 0
               : -1;
}

static uint32_t insert(uintptr_t n) {
    struct hp_stack_trace trace = {.depth = 2, .pcs = {0x1000000 + n, 0x2000000 + n}};
    uint32_t stack = hp_stack_table_find(&trace);
    hp_stack_table_add(stack, 1, n);
    return stack;
}

static unsigned count_stacks(struct hp_snapshot *snapshot) {
    struct hp_stack_view view;
    unsigned n = 0;
    while (hp_snapshot_next_stack(snapshot, &view)) {
        for (uint32_t i = 0; i < view.depth; i++) {
            assert_in_range(view.frames[i], 1, snapshot->frames);
            assert_in_range(hp_frame_table_get(view.frames[i])->module, 1, snapshot->modules);
        }
        n++;
    }
    return n;
}

static void test_later_stacks_are_not_in_it(void **state) {
    (void)state;
    struct hp_snapshot early;
    struct hp_snapshot late;
    (void)insert(1);
    hp_snapshot_take(&early);
    uint32_t second = insert(2);
    hp_snapshot_take(&late);
    assert_int_equal(early.frames, 2);
    assert_int_equal(early.modules, 2);
    assert_int_equal(count_stacks(&early), 2); /* the lost one is the first */
    assert_int_equal(count_stacks(&late), 3);
    /* Counters are the moment's in which they are read: no copy is made. */
    hp_stack_table_add(second, 1, 1000);
    late.cursor = 0;
    struct hp_stack_view view;
    while (hp_snapshot_next_stack(&late, &view)) {
    }
    assert_int_equal(view.counts.inuse_bytes, 1002);
}

static _Atomic bool done;

enum { INSERTED = 60000 };

static void *keep_inserting(void *nothing) {
    (void)nothing;
    for (uintptr_t n = 0; n < INSERTED; n++) {
        (void)insert(10 + n);
    }
    atomic_store(&done, true);
    return NULL;
}

/* Every frame of every stack in it is in it too, and every module of those, at whatever moment it is taken.
 * As many moments as possible: each time only the stacks that have come since are looked at. */
static void test_marks_hold_while_tables_grow(void **state) {
    (void)state;
    pthread_t thread;
    struct hp_snapshot snapshot;
    hp_snapshot_take(&snapshot);
    unsigned before = count_stacks(&snapshot);
    unsigned seen = 0;
    bool was_done = false;
    assert_int_equal(pthread_create(&thread, NULL, keep_inserting, NULL), 0);
    do {
        size_t reached = snapshot.stacks_end;
        was_done = atomic_load(&done);
        hp_snapshot_take(&snapshot);
        snapshot.cursor = reached;
        seen += count_stacks(&snapshot);
    } while (!was_done);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen, INSERTED);
    snapshot.cursor = 0;
    assert_int_equal(count_stacks(&snapshot), before + INSERTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_stacks_are_not_in_it),
        cmocka_unit_test(test_marks_hold_while_tables_grow),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
