/* tools/sampling_error: against known cases, and against sampling as it is done. */
#include <math.h>
#include <stdlib.h>

#include "tools/live/sampling_error.h"
#include "tests/unit/cmocka_first.h"

enum { OBJECTS, BYTES };

static struct hp_sampling_error error_of(int64_t period, const int64_t (*values)[2], size_t count) {
    struct hp_sample *samples = calloc(count, sizeof *samples);
    assert_non_null(samples);
    for (size_t i = 0; i < count; i++)
        samples[i].values = values[i];
    const struct hp_profile profile = {.samples = samples, .n_samples = count, .period = period};
    struct hp_sampling_error error = hp_sampling_error_of(&profile, OBJECTS, BYTES);
    free(samples);
    return error;
}

static void expect_near(double value, double expected, double part) {
    if (fabs(value - expected) > part * expected)
        fail_msg("%g, not %g", value, expected);
}

/* A million objects of 100 bytes, a sample each 64 KiB: 1526 samples, an error of 1 / sqrt(1526). */
static void small_objects_follow_the_root_of_their_samples(void **state) {
    (void)state;
    const int64_t values[][2] = {{600000, 60000000}, {400000, 40000000}};
    struct hp_sampling_error error = error_of(65536, values, 2);
    expect_near(error.samples, 1526, 0.02);
    expect_near(error.relative, 0.0256, 0.02);
}

static void large_objects_are_known_exactly(void **state) {
    (void)state;
    const int64_t values[][2] = {{3, 3LL << 30}};
    struct hp_sampling_error error = error_of(65536, values, 1);
    expect_near(error.samples, 3, 1e-6);
    assert_true(error.relative < 1e-6);
}

static void a_period_of_one_is_exact(void **state) {
    (void)state;
    const int64_t values[][2] = {{5, 80}};
    struct hp_sampling_error error = error_of(1, values, 1);
    expect_near(error.samples, 5, 1e-9);
    assert_true(error.relative == 0);
}

static void nothing_has_no_error(void **state) {
    (void)state;
    const int64_t values[][2] = {{0, 0}};
    assert_true(error_of(65536, values, 1).relative == 0);
    assert_true(error_of(65536, values, 0).samples == 0);
}

/* What went counts as what came. */
static void signs_do_not_cancel(void **state) {
    (void)state;
    const int64_t growing[][2] = {{100, 10000}, {100, 10000}}, both[][2] = {{100, 10000}, {-100, -10000}};
    struct hp_sampling_error error = error_of(65536, both, 2);
    expect_near(error.relative, error_of(65536, growing, 2).relative, 1e-9);
    assert_true(error.relative > HP_SAMPLING_TRUSTED);
}

static double uniform(void) {
    return ((double)random() + 0.5) / ((double)RAND_MAX + 1);
}

/* 4000 objects of 300 bytes and 100 of 20000, each sampled or not by a coin of its own, again and again: the
 * spread of the totals is what was predicted from the true counts. */
static void predicts_the_spread_of_many_trials(void **state) {
    (void)state;
    enum { TRIALS = 2000, PERIOD = 16384 };
    static const int64_t truth[][2] = {{4000, 1200000}, {100, 2000000}};
    double sum = 0, squares = 0, total = 3200000;
    srandom(20261201);
    for (int trial = 0; trial < TRIALS; trial++) {
        double found = 0;
        for (int kind = 0; kind < 2; kind++) {
            double size = (double)truth[kind][BYTES] / (double)truth[kind][OBJECTS];
            double p = 1 - exp(-(size + 1) / PERIOD);
            for (int64_t i = 0; i < truth[kind][OBJECTS]; i++)
                found += uniform() < p ? size / p : 0;
        }
        sum += found;
        squares += found * found;
    }
    double mean = sum / TRIALS, deviation = sqrt(squares / TRIALS - mean * mean);
    expect_near(mean, total, 0.01);
    expect_near(error_of(PERIOD, truth, 2).relative, deviation / total, 0.08);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_objects_follow_the_root_of_their_samples),
        cmocka_unit_test(large_objects_are_known_exactly),
        cmocka_unit_test(a_period_of_one_is_exact),
        cmocka_unit_test(nothing_has_no_error),
        cmocka_unit_test(signs_do_not_cancel),
        cmocka_unit_test(predicts_the_spread_of_many_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
