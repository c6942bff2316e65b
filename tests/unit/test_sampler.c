/* intake/sampler: the distribution it draws from, and that its weights undo it without bias. P19. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#include "heapprof/base/rng.h"
#include "heapprof/base/weight.h"
#include "heapprof/intake/sampler.h"
#include "tests/unit/cmocka_first.h"

/*
 * All draws come from a seed that is fixed, so a test that passes will pass again; "3 sigma" is how far the
 * sum may lie from its expectation, the sigma worked out beside it from first principles: a byte is a trial
 * of probability q = 1 - exp(-1/R), an object of s bytes is s + 1 of them.
 */
enum { R = 4096 };

static uint64_t sampled;
static double objects; /* what the samples stand for */
static double bytes;

static void begin(uint64_t period, uint64_t seed) {
    hp_sampler_init(period);
    hp_thread = (struct hp_thread){.random = seed};
    (void)hp_sampler_expire(&hp_thread, 0); /* draws the first distance */
    sampled = 0;
    objects = 0;
    bytes = 0;
}

static void allocate(size_t size) {
    if (!hp_sampler_passes(size) && hp_sampler_expire(&hp_thread, size)) {
        double weight = (double)hp_sampler_weight(size) / 65536;
        sampled++;
        objects += weight;
        bytes += weight * (double)size;
    }
}

static double p_of(size_t size, double period) {
    return 1 - exp(-((double)size + 1) / period);
}

static void check(const char *what, double got, double expected, double sigma) {
    if (fabs(got - expected) > 3 * sigma) {
        fail_msg("%s: %.3f, expected %.3f, sigma %.3f", what, got, expected, sigma);
    }
}

/* A whole number of failed trials before the first success: mean (1-q)/q, variance (1-q)/q². */
static void test_gaps_are_geometric(void **state) {
    (void)state;
    enum { N = 400000 };
    begin(R, 1);
    double sum = 0;
    double squares = 0;
    uint64_t small = 0;
    for (int i = 0; i < N; i++) {
        (void)hp_sampler_expire(&hp_thread, 0);
        double gap = (double)hp_thread.gap;
        assert_true(gap <= 20.0 * R);
        assert_int_equal(hp_thread.left, hp_thread.gap);
        sum += gap;
        squares += gap * gap;
        small += hp_thread.gap < R / 4;
    }
    double q = 1 - exp(-1.0 / R);
    double mean = (1 - q) / q;
    double deviation = sqrt(1 - q) / q;
    check("mean", sum / N, mean, deviation / sqrt(N));
    /* The fourth central moment of an exponential is 9 sigma⁴. */
    double variance = squares / N - (sum / N) * (sum / N);
    check("variance", variance, deviation * deviation, deviation * deviation * sqrt(8.0 / N));
    double p = 1 - exp(-0.25);
    check("below R/4", (double)small, N * p, sqrt(N * p * (1 - p)));
}

/* The smallest number the generator has (see test_rng.c) asks for 36.7 means; 20 are the most. */
static void test_gap_is_capped(void **state) {
    (void)state;
    begin(R, 1);
    hp_thread.random = 0 - UINT64_C(0x9e3779b97f4a7c15);
    (void)hp_sampler_expire(&hp_thread, 0);
    assert_int_equal(hp_thread.gap, 20 * R);
}

static void test_probability_by_size(void **state) {
    (void)state;
    static const struct {
        size_t size;
        int n;
    } rows[] = {{0, 8000000}, {1, 8000000}, {100, 2000000}, {R / 2, 400000}, {R, 400000}, {10 * R, 400000}};
    for (size_t i = 0; i < ROWS(rows); i++) {
        begin(R, 100 + i);
        for (int k = 0; k < rows[i].n; k++) {
            allocate(rows[i].size);
        }
        double p = p_of(rows[i].size, R);
        check("samples", (double)sampled, rows[i].n * p, sqrt(rows[i].n * p * (1 - p)) + 1e-9);
        /* A sample stands for 1/p objects: its variance is n (1-p)/p. */
        check("objects", objects, rows[i].n, sqrt(rows[i].n * (1 - p) / p) + 1e-5 * rows[i].n);
    }
}

/* P19: 100,000 objects of exactly R, which the naive "sampled for certain, yet scaled" overstates by 58 %. */
static void test_p19_objects_of_the_period(void **state) {
    (void)state;
    enum { N = 100000 };
    begin(R, 19);
    for (int i = 0; i < N; i++) {
        allocate(R);
    }
    double p = p_of(R, R);
    double sigma = sqrt(N * (1 - p) / p); /* 242: 0.24 % */
    check("objects", objects, N, sigma);
    check("bytes", bytes, (double)N * R, sigma * R);
}

/* Sizes of all magnitudes in one sum: what scaling by an average size afterwards gets wrong. */
static void test_mixed_sizes_are_unbiased(void **state) {
    (void)state;
    enum { N = 3000000 };
    uint64_t random = 7;
    double true_bytes = 0;
    double object_variance = 0;
    double byte_variance = 0;
    begin(R, 8);
    for (int i = 0; i < N; i++) {
        uint64_t bits = hp_rng_next(&random);
        size_t size =
            (size_t)((bits >> 8) & ((UINT64_C(1) << (bits % 18)) - 1)); /* 0 to 128 KiB, small ones most */
        allocate(size);
        double p = p_of(size, R);
        true_bytes += (double)size;
        object_variance += (1 - p) / p;
        byte_variance += (1 - p) / p * (double)size * (double)size;
    }
    check("objects", objects, N, sqrt(object_variance));
    check("bytes", bytes, true_bytes, sqrt(byte_variance));
}

/* Every allocation, with weight one: counts are exact, of objects without a byte too. */
static void test_period_of_one_is_exact(void **state) {
    (void)state;
    begin(1, 3);
    double true_bytes = 0;
    for (size_t size = 0; size < 10000; size++) {
        allocate(size % 100);
        true_bytes += (double)(size % 100);
    }
    assert_int_equal(sampled, 10000);
    assert_true(objects == 10000.0);
    assert_true(bytes == true_bytes);
    assert_int_equal(hp_sampler_weight(0), HP_WEIGHT_ONE);
    assert_int_equal(hp_sampler_weight(SIZE_MAX), HP_WEIGHT_ONE);
}

/* By hand: 1/(1-e^-1) = 1.58198, 1/(1-e^-0.5) = 2.54149; with s + 1 = R and R/2. Large ones stand for one. */
static void test_weights(void **state) {
    (void)state;
    hp_sampler_init(R);
    assert_int_equal(hp_sampler_weight(R - 1), 103676);     /* 1.58198 * 65536 */
    assert_int_equal(hp_sampler_weight(R / 2 - 1), 166559); /* 2.54149 * 65536 */
    assert_int_equal(hp_sampler_weight(SIZE_MAX), HP_WEIGHT_ONE);
    assert_int_equal(hp_sampler_weight(100 * R), HP_WEIGHT_ONE);
    hp_sampler_init(
        UINT64_C(1) << 30); /* the longest period there is: an empty object stands for 2^30 + 1/2 */
    assert_in_range(hp_sampler_weight(0), (UINT64_C(1) << 46) + 32767, (UINT64_C(1) << 46) + 32769);
}

/* A countdown of zero is a new thread's: its first allocation is not sampled for that. */
static void *first_allocations(void *count) {
    static const struct hp_thread zero;
    assert_memory_equal(&hp_thread, &zero, sizeof zero);
    enum { N = 20000 };
    for (int i = 0; i < N; i++) {
        hp_thread = zero;
        bool passed = hp_sampler_passes(R / 2);
        assert_false(passed);
        if (hp_sampler_expire(&hp_thread, R / 2)) {
            (*(uint64_t *)count)++;
            assert_int_equal(hp_thread.left, hp_thread.gap);
        } else {
            assert_int_equal(hp_thread.left, hp_thread.gap - R / 2 - 1);
        }
    }
    return NULL;
}

/* Seeded by the clock, so not the same each time: 5 sigma, wrong once in 1.7 million runs. */
static void test_first_allocation_of_a_thread(void **state) {
    (void)state;
    pthread_t thread;
    uint64_t count = 0;
    hp_sampler_init(R);
    assert_int_equal(pthread_create(&thread, NULL, first_allocations, &count), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    double p = p_of(R / 2, R);
    assert_true(fabs((double)count - 20000 * p) < 5 * sqrt(20000 * p * (1 - p)));
}

/* Two threads (two seeds) do not sample in step. */
static void test_seeds_differ(void **state) {
    (void)state;
    hp_sampler_init(R);
    hp_thread = (struct hp_thread){0};
    (void)hp_sampler_expire(&hp_thread, 0);
    uint64_t first = hp_thread.random;
    hp_thread = (struct hp_thread){0};
    (void)hp_sampler_expire(&hp_thread, 0);
    assert_true(hp_thread.random != first);
}

/* What heapprof allocates through others passes unseen and does not move the countdown. */
static void test_muted_countdown_is_frozen(void **state) {
    (void)state;
    begin(R, 5);
    hp_thread.left = 1000;
    hp_thread_mute(&hp_thread);
    hp_thread_mute(&hp_thread);
    for (int i = 0; i < 1000; i++) {
        assert_true(hp_sampler_passes((size_t)1 << 40));
    }
    hp_thread_unmute(&hp_thread);
    assert_true(hp_sampler_passes(5000));
    hp_thread_unmute(&hp_thread);
    assert_int_equal(hp_thread.left, 1000);
    /* The boundary: a distance of 1000 is passed by 999 bytes and the place of the object itself. */
    assert_false(hp_sampler_passes(1000));
    assert_true(hp_sampler_passes(999));
    assert_int_equal(hp_thread.left, 0);
    assert_false(hp_sampler_passes(0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaps_are_geometric),
        cmocka_unit_test(test_gap_is_capped),
        cmocka_unit_test(test_probability_by_size),
        cmocka_unit_test(test_p19_objects_of_the_period),
        cmocka_unit_test(test_mixed_sizes_are_unbiased),
        cmocka_unit_test(test_period_of_one_is_exact),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_first_allocation_of_a_thread),
        cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_muted_countdown_is_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
