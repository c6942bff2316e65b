/* guard/histogram and guard/track: percentiles against sorted values, and time against the number of
 * readings. */
#include <stdlib.h>
#include <string.h>

#include "guard/track.h"
#include "tests/unit/cmocka_first.h"

#define MIB (UINT64_C(1) << 20)
#define MS INT64_C(1000000)

static struct guard_histogram histogram;
static struct guard_track track;

static int empty(void **state) {
    (void)state;
    memset(&histogram, 0, sizeof histogram);
    memset(&track, 0, sizeof track);
    return 0;
}

static void assert_near(uint64_t actual, uint64_t expected) {
    uint64_t distance = actual > expected ? actual - expected : expected - actual;
    if (distance > expected / 64 + 4096) {
        fail_msg("%lu is too far from %lu", actual, expected);
    }
}

static void test_nothing(void **state) {
    (void)state;
    assert_int_equal(guard_histogram_value(&histogram, 500), 0);
    assert_int_equal(guard_track_value(&track, 999), 0);
}

/* Each value alone comes back as itself, within the bucket's half: around every power of two, and at the
 * ends. */
static void test_every_magnitude(void **state) {
    for (unsigned bits = 0; bits < 48; bits++) {
        for (int off = -1; off <= 1; off++) {
            uint64_t value = (UINT64_C(1) << bits) + (uint64_t)(int64_t)off;
            (void)empty(state);
            guard_histogram_add(&histogram, value, 1);
            assert_near(guard_histogram_value(&histogram, 1), value);
            assert_near(guard_histogram_value(&histogram, 1000), value);
        }
    }
    (void)empty(state);
    guard_histogram_add(&histogram, UINT64_MAX, 1);
    assert_near(guard_histogram_value(&histogram, 500), (UINT64_C(1) << 48) - (UINT64_C(1) << 42));
}

/* Buckets follow one another: a greater value never gives a smaller middle. */
static void test_order(void **state) {
    uint64_t before = 0;
    for (uint64_t value = 0; value < UINT64_C(1) << 47; value += value / 100 + 1000) {
        (void)empty(state);
        guard_histogram_add(&histogram, value, 7);
        uint64_t now = guard_histogram_value(&histogram, 500);
        assert_true(now >= before);
        before = now;
    }
}

static int by_value(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Against the definition on sorted values. */
static void test_percentiles(void **state) {
    (void)state;
    enum { COUNT = 10000 };
    static uint64_t values[COUNT];
    static const unsigned ranks[] = {1, 10, 500, 900, 990, 999, 1000};
    srand(1);
    for (int i = 0; i < COUNT; i++) {
        uint64_t octave = UINT64_C(1) << (20 + rand() % 12);
        values[i] = octave + (uint64_t)rand() % octave;
        guard_histogram_add(&histogram, values[i], 3);
    }
    qsort(values, COUNT, sizeof values[0], by_value);
    for (size_t i = 0; i < ROWS(ranks); i++) {
        assert_near(guard_histogram_value(&histogram, ranks[i]), values[ranks[i] * COUNT / 1000 - 1]);
    }
}

/* A weight counts as so many values. */
static void test_weights(void **state) {
    (void)state;
    guard_histogram_add(&histogram, 10 * MIB, 899);
    guard_histogram_add(&histogram, 100 * MIB, 101);
    assert_near(guard_histogram_value(&histogram, 899), 10 * MIB);
    assert_near(guard_histogram_value(&histogram, 900), 100 * MIB);
    guard_histogram_add(&histogram, 50 * MIB, UINT64_MAX / 2); /* 292 years */
    assert_near(guard_histogram_value(&histogram, 1), 50 * MIB);
    assert_near(guard_histogram_value(&histogram, 999), 50 * MIB);
}

/* 9 s at 20 MiB, read each second, and 1 s at 100, read each millisecond: a tenth of the time, however often.
 */
static void test_readings_count_for_time(void **state) {
    (void)state;
    int64_t now = MS;
    for (int i = 0; i <= 9; i++, now += 1000 * MS) {
        guard_track_note(&track, 20 * MIB, now);
    }
    now -= 1000 * MS;
    for (int i = 0; i < 1000; i++) {
        guard_track_note(&track, 100 * MIB, now += MS);
    }
    assert_near(guard_track_value(&track, 500), 20 * MIB);
    assert_near(guard_track_value(&track, 898), 20 * MIB);
    assert_near(guard_track_value(&track, 902), 100 * MIB);
    assert_int_equal(track.peak, 100 * MIB);
    assert_int_equal(track.histogram.total, 10000 * MS);
}

/* A steady climb from 0 to 100 MiB, read at times that have nothing to do with each other: its median is 50.
 */
static void test_a_climb_read_unevenly(void **state) {
    (void)state;
    int64_t now = 1;
    srand(2);
    while (now < 10000 * MS) {
        guard_track_note(&track, (uint64_t)now * 100 * MIB / (uint64_t)(10000 * MS), now);
        now += now < 5000 * MS ? 1 + rand() % (400 * MS) : 1 + rand() % (4 * MS);
    }
    uint64_t median = guard_track_value(&track, 500);
    assert_true(median > 47 * MIB && median < 53 * MIB);
    uint64_t high = guard_track_value(&track, 900);
    assert_true(high > 88 * MIB && high < 92 * MIB);
}

/* A clock that stands, or goes back by a race of two readers, does no harm. */
static void test_no_time_between(void **state) {
    (void)state;
    guard_track_note(&track, 10 * MIB, 100 * MS);
    guard_track_note(&track, 30 * MIB, 100 * MS);
    guard_track_note(&track, 40 * MIB, 99 * MS);
    assert_int_equal(track.histogram.total, 0);
    assert_int_equal(track.peak, 40 * MIB);
    guard_track_note(&track, 10 * MIB, 200 * MS);
    assert_near(guard_track_value(&track, 999), 10 * MIB);
}

/* The middle of a bucket may lie above all that was in it; the peak does not. */
static void test_never_above_the_peak(void **state) {
    (void)state;
    guard_track_note(&track, 64 * MIB, MS);
    guard_track_note(&track, 64 * MIB, 2 * MS);
    assert_int_equal(guard_track_value(&track, 999), 64 * MIB);
}

#define TEST(name) cmocka_unit_test_setup(name, empty)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nothing),
        TEST(test_every_magnitude),
        TEST(test_order),
        TEST(test_percentiles),
        TEST(test_weights),
        TEST(test_readings_count_for_time),
        TEST(test_a_climb_read_unevenly),
        TEST(test_no_time_between),
        TEST(test_never_above_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
