/* bookkeeping/frame_table: numbers in order of first sight, one a program counter, up to the cap. */
#include "heapprof/bookkeeping/frame_table.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"

enum { CAP_BYTES = 640000, CAPACITY = CAP_BYTES / 16 }; /* more frames than the table has buckets */

static unsigned asked;
static uint32_t shift;

/* The callback finds modules of its own accord, by whatever it likes, this table included: no lock of the
 * table's is held meanwhile. */
static uint32_t module_of(uintptr_t pc) {
    asked++;
    return pc == 0xcafe ? hp_frame_table_add(0xbeef) : (uint32_t)(pc % 1000) + shift;
}

static int setup(void **state) {
    (void)state;
    return hp_frame_table_init(CAP_BYTES, module_of) ? 0 : -1;
}

static void test_numbers(void **state) {
    (void)state;
    assert_int_equal(hp_frame_table_count(), 0);
    assert_int_equal(hp_frame_table_add(5001), 1);
    assert_int_equal(hp_frame_table_add(UINTPTR_MAX), 2);
    assert_int_equal(hp_frame_table_add(0), 3);
    assert_int_equal(asked, 3);
    assert_int_equal(hp_frame_table_add(5001), 1);
    assert_int_equal(hp_frame_table_add(0), 3);
    assert_int_equal(asked, 5); /* by now another binary may be there */
    shift = 1;
    assert_int_equal(hp_frame_table_add(5001), 4); /* and then it is another frame */
    shift = 0;
    assert_int_equal(hp_frame_table_add(5001), 1);
    assert_int_equal(hp_frame_table_count(), 4);
    assert_int_equal(hp_frame_table_get(4)->module, 2);
    assert_true(hp_frame_table_get(1)->pc == 5001);
    assert_int_equal(hp_frame_table_get(1)->module, 1);
    assert_true(hp_frame_table_get(2)->pc == UINTPTR_MAX);
}

static void test_module_is_asked_for_without_a_lock(void **state) {
    (void)state;
    uint32_t number = hp_frame_table_add(0xcafe);
    assert_int_equal(number, 6);
    assert_int_equal(hp_frame_table_get(number)->module, 5);
    assert_true(hp_frame_table_get(5)->pc == 0xbeef);
}

/* P7 */
static int body_child_adds(void) {
    hp_frame_table_fork_child();
    CHILD_CHECK(hp_frame_table_add(0x123456) == 7);
    return 0;
}

static void test_fork(void **state) {
    (void)state;
    hp_frame_table_fork_prepare();
    child_must_succeed(body_child_adds);
    hp_frame_table_fork_parent();
    assert_int_equal(hp_frame_table_count(), 6);
}

/* Exactly as many as fit; then new ones get none, and the old ones keep theirs. */
static void test_cap(void **state) {
    (void)state;
    for (uint32_t n = 7; n <= CAPACITY; n++) {
        assert_int_equal(hp_frame_table_add(n * 64 + 1), n);
    }
    assert_int_equal(hp_frame_table_add(1), 0);
    assert_int_equal(hp_frame_table_count(), CAPACITY);
    for (uint32_t n = 7; n <= CAPACITY; n++) {
        assert_int_equal(hp_frame_table_add(n * 64 + 1), n);
        assert_int_equal(hp_frame_table_get(n)->module, (n * 64 + 1) % 1000);
    }
    assert_int_equal(hp_frame_table_add(5001), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), /* in this order: the table does not empty */
        cmocka_unit_test(test_module_is_asked_for_without_a_lock),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_cap),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
