/* intake/thread_state: nesting, and what a signal handler sees in between. */
#include "heapprof/intake/thread_state.h"
#include "tests/unit/cmocka_first.h"

static void test_nesting(void **state) {
    (void)state;
    struct hp_thread t = {.left = 77};
    hp_thread_mute(&t);
    assert_int_equal(t.left, UINT64_MAX);
    hp_thread_mute(&t);
    assert_int_equal(t.frozen, 77); /* the inner one does not freeze "muted" */
    hp_thread_unmute(&t);
    assert_int_equal(t.left, UINT64_MAX);
    hp_thread_unmute(&t);
    assert_int_equal(t.left, 77);
    assert_int_equal(t.muted, 0);
}

/* The application's pause mutes, but no lock of ours is held by it. */
static void test_paused_is_not_inside(void **state) {
    (void)state;
    struct hp_thread t = {0};
    assert_false(hp_thread_is_inside(&t));
    t.paused++;
    hp_thread_mute(&t);
    assert_false(hp_thread_is_inside(&t));
    hp_thread_mute(&t); /* heapprof itself, below the pause */
    assert_true(hp_thread_is_inside(&t));
    hp_thread_unmute(&t);
    assert_false(hp_thread_is_inside(&t));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_paused_is_not_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
