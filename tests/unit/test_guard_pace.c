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

/* A usage every `step_ms`, MiB; what the last one says of the next 20 ms. */
static uint64_t trend_of(int64_t step_ms, const uint64_t *usages, unsigned count) {
    struct guard_trend trend = {.when = {0, 0}};
    uint64_t says = 0;
    for (unsigned i = 0; i < count; i++) {
        says = guard_trend_note(&trend, usages[i] * MIB, SECOND + i * step_ms * MS, 20 * MS);
    }
    return says / MIB;
}

static void test_trend(void **state) {
    (void)state;
    static const struct {
        int64_t step_ms;
        uint64_t least;
        uint64_t most;
        unsigned count;
        uint64_t usages[12];
    } rows[] = {
        {1, 0, 0, 1, {500}},                                                       /* one says nothing */
        {1, 0, 0, 12, {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}},                       /* rest */
        {1, 5, 5, 12, {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 14}},                      /* a batch is what it is */
        {1, 55, 55, 12, {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55}},           /* never scaled up */
        {2, 50, 100, 12, {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}},       /* 5 MiB a ms */
        {10, 10, 20, 12, {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}},       /* 1 MiB a ms */
        {1000, 0, 0, 12, {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}},       /* 10 MiB a second */
        {10, 0, 0, 12, {90, 80, 70, 60, 50, 40, 30, 20, 10, 9, 8, 7}},             /* falls */
        {10, 0, 0, 12, {0, 50, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}}, /* over */
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t says = trend_of(rows[i].step_ms, rows[i].usages, rows[i].count);
        if (says < rows[i].least || says > rows[i].most) {
            fail_msg("row %u says %lu", i, (unsigned long)says);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_growth_is_believed_at_once),
        cmocka_unit_test(test_rate_decays),
        cmocka_unit_test(test_charge_batches_are_no_flood),
        cmocka_unit_test(test_sleep_is_clamped),
        cmocka_unit_test(test_sudden_growth_after_rest_is_seen_in_time),
        cmocka_unit_test(test_trend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
