/* guard/pace: how soon to look again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guard/pace.h"

#define MIB (UINT64_C(1) << 20)
#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static void test_fast_growth_is_believed_at_once(void **state) {
    (void)state;
    struct guard_pace pace = {0};
    guard_pace_note(&pace, 0, SECOND);
    guard_pace_note(&pace, 60 * MIB, SECOND + 10 * MS); /* 6000 MiB/s */
    assert_in_range(pace.rate / MIB, 5999, 6001);
    assert_in_range(guard_pace_sleep(&pace, 120 * MIB, 0), 9 * MS, 10 * MS); /* half of 20 ms */
}

static void test_rate_decays(void **state) {
    (void)state;
    struct guard_pace pace = {0};
    guard_pace_note(&pace, 0, SECOND);
    guard_pace_note(&pace, 1000 * MIB, 2 * SECOND);
    guard_pace_note(&pace, 1000 * MIB, 7 * SECOND);
    assert_in_range(pace.rate / MIB, 499, 501);
    guard_pace_note(&pace, 900 * MIB, 700 * SECOND);
    assert_in_range(pace.rate / MIB, 0, 5);
}

static void test_charge_batches_are_no_flood(void **state) {
    (void)state;
    struct guard_pace pace = {0};
    guard_pace_note(&pace, 0, SECOND);
    uint64_t rate = pace.rate;
    guard_pace_note(&pace, 256 << 10, SECOND + 10000); /* 64 pages in 10 us */
    assert_int_equal(pace.rate, rate);
    guard_pace_note(&pace, 256 << 10, SECOND + 10 * MS); /* still counts, over the whole time */
    assert_true(pace.rate < rate);
}

static void test_sleep_is_clamped(void **state) {
    (void)state;
    const struct guard_pace idle = {.rate = 0};
    const struct guard_pace mad = {.rate = UINT64_C(1) << 60};
    assert_int_equal(guard_pace_sleep(&idle, UINT64_MAX, 0), GUARD_SLEEP_MAX_NS);
    assert_int_equal(guard_pace_sleep(&mad, 0, 0), GUARD_SLEEP_MIN_NS);
    assert_int_equal(guard_pace_sleep(&mad, 100 * MIB, 0), GUARD_SLEEP_MIN_NS);
    struct guard_pace pace = {0};
    guard_pace_note(&pace, 0, SECOND);
    guard_pace_note(&pace, UINT64_MAX, SECOND + MS); /* no overflow */
    assert_true(pace.rate > UINT64_C(1) << 59);
}

static void test_sudden_growth_after_rest_is_seen_in_time(void **state) {
    (void)state;
    const struct guard_pace idle = {.rate = 0};
    assert_int_equal(guard_pace_sleep(&idle, 200 * MIB, 199 * MIB), SECOND); /* it would have to allocate */
    assert_int_equal(guard_pace_sleep(&idle, 200 * MIB, 200 * MIB), 200 * SECOND / 2048);
    assert_int_equal(guard_pace_sleep(&idle, 1024 * MIB, UINT64_MAX), 500 * MS);
    assert_int_equal(guard_pace_sleep(&idle, 4096 * MIB, UINT64_MAX), SECOND);
    assert_int_equal(guard_pace_sleep(&idle, MIB, MIB), 80 * MS); /* idle near a threshold costs no more */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_growth_is_believed_at_once),
        cmocka_unit_test(test_rate_decays),
        cmocka_unit_test(test_charge_batches_are_no_flood),
        cmocka_unit_test(test_sleep_is_clamped),
        cmocka_unit_test(test_sudden_growth_after_rest_is_seen_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
