/* guard/watch: what it makes of usages that change, over a fake tree and with a time of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "guard/watch.h"
#include "tests/unit/guard_tree.h"

#define MIB (UINT64_C(1) << 20)
#define MS INT64_C(1000000)
#define LEAF "/sys/fs/cgroup/a"

static struct hp_options options;
static struct guard_watch watch;
static int64_t now;

static int set_up(void **state) {
    (void)state;
    guard_tree_make();
    guard_tree_v2("a");
    guard_tree_write(LEAF "/memory.max", "134217728\n");
    hp_options_default(&options);
    watch = (struct guard_watch){0};
    guard_watch_init(&watch, &options);
    now = 1000 * MS;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    guard_tree_remove();
    return 0;
}

static void set_usage(uint64_t charged, uint64_t cache) {
    char stat[128];
    (void)snprintf(stat, sizeof stat, "inactive_file %lu\nactive_file 0\n", (unsigned long)(cache * MIB));
    guard_tree_write(LEAF "/memory.stat", stat);
    guard_tree_number(LEAF "/memory.current", charged * MIB);
}

/* A look after `ms`, with so many MiB charged, of which `cache` are of clean files. */
static bool look(int64_t ms, uint64_t charged, uint64_t cache, struct guard_find *find) {
    now += ms * MS;
    set_usage(charged, cache);
    guard_watch_refresh(&watch, true, now);
    return guard_watch_look(&watch, 0, 1, now, find);
}

/* 128 MiB and more of file pages come at 2 GiB/s, with a heap of 20 MiB that does not change. */
static void test_P17_a_file_that_is_read_fast(void **state) {
    (void)state;
    struct guard_find find;
    for (int64_t step = 1; step <= 8; step++) { /* of the looks' distances */
        watch = (struct guard_watch){0};
        guard_watch_init(&watch, &options);
        assert_false(look(1000, 20, 0, &find));
        for (uint64_t cache = 0; cache <= 107; cache += (uint64_t)step * 2) {
            assert_false(look(step, 20 + cache, cache, &find));
        }
        for (int i = 0; i < 50; i++) { /* full: the oldest pages go as new ones come */
            assert_false(look(step, 127, 107, &find));
        }
    }
}

/* The same growth of what the process holds itself is foreseen before the last threshold, far below the
 * first. */
static void test_a_heap_that_grows_as_fast(void **state) {
    (void)state;
    struct guard_find find = {0};
    uint64_t usage = 20;
    assert_false(look(1000, usage, 0, &find));
    while (usage < 128 && !look(2, usage, 0, &find)) {
        usage += 4;
    }
    assert_true(find.crossing.is_predicted);
    assert_true(find.crossing.is_last);
    assert_true(usage < 102); /* the first threshold, 80 % of 128 MiB, is at 102.4 */
}

/* A cache that was there before, or goes, is neither growth nor its end. */
static void test_a_heap_that_grows_beside_a_cache(void **state) {
    (void)state;
    struct guard_find find = {0};
    uint64_t heap = 5;
    assert_false(look(1000, heap + 60, 60, &find)); /* 65 MiB: below what is read exactly */
    assert_false(look(1000, heap + 90, 90, &find)); /* 95: all of it cache */
    assert_false(look(2, heap + 91, 91, &find));
    while (heap < 60) { /* the heap takes the place of the cache */
        heap += 4;
        assert_false(look(20, 120, 120 - heap, &find));
    }
    assert_false(look(1000, 100, 40, &find));
    assert_true(look(2, 110, 4, &find));
    assert_int_equal(find.crossing.reading.usage, 106 * MIB);
}

/* A prediction is not held up by pages of files that have come meanwhile. */
static void test_relief_is_judged_without_the_cache(void **state) {
    (void)state;
    struct guard_find find = {0};
    set_usage(40, 0);
    guard_watch_refresh(&watch, true, now);
    assert_true(guard_watch_look(&watch, 90 * MIB, 1, now, &find));
    assert_true(find.crossing.is_predicted);
    set_usage(60, 40);
    assert_true(guard_watch_is_relieved(&watch, &find));
    assert_int_equal(find.crossing.reading.usage, 20 * MIB);
    set_usage(60, 0);
    assert_false(guard_watch_is_relieved(&watch, &find));
}

/* Alone it may hand out half of the way to 80 % (102.4 MiB) before it looks again; workers that were forked
 * just now and have not touched anything yet would go all of the way meanwhile (G18). */
static void test_G18_relatives_look_often(void **state) {
    (void)state;
    struct guard_find find;
    guard_tree_statm(20 * MIB, 40 * MIB, 30 * MIB);
    assert_false(look(1000, 22, 0, &find));
    assert_in_range(guard_watch_allowance(&watch), 40 * MIB, 41 * MIB);
    watch.has_relatives = true;
    assert_int_equal(guard_watch_allowance(&watch), 2 * MIB);
    assert_false(look(1000, 100, 0, &find)); /* near the threshold, and of five: less */
    assert_true(guard_watch_allowance(&watch) < MIB / 2);
}

/* So would others, whoever they are. */
static void test_a_crowd_looks_often(void **state) {
    (void)state;
    struct guard_find find;
    guard_tree_statm(20 * MIB, 40 * MIB, 30 * MIB);
    assert_false(look(1000, 42, 0, &find));
    assert_int_equal(guard_watch_allowance(&watch), 2 * MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_P17_a_file_that_is_read_fast, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_heap_that_grows_as_fast, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_heap_that_grows_beside_a_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_relief_is_judged_without_the_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_G18_relatives_look_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_crowd_looks_often, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("guard/watch", tests, NULL, NULL);
}
