/* base/rng: the published generator, and numbers whose logarithm exists. */
#include <math.h>

#include "heapprof/base/rng.h"
#include "tests/unit/cmocka_first.h"

/* The first outputs of splitmix64 from seed 1234567, as Rosetta Code lists them. */
static void test_is_splitmix64(void **state) {
    (void)state;
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),  UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821),
    };
    uint64_t seed = 1234567;
    for (size_t i = 0; i < ROWS(expected); i++) {
        assert_true(hp_rng_next(&seed) == expected[i]);
    }
}

/* mix(0) is 0, so the state before "minus the step" draws the smallest number there is. */
static void test_unit_is_never_zero(void **state) {
    (void)state;
    uint64_t seed = 0 - UINT64_C(0x9e3779b97f4a7c15);
    double u = hp_rng_unit(&seed);
    assert_true(u == 0x1p-53);
    assert_true(isfinite(log(u)));
}

/* A fixed seed; 100 cells: chi-square has 99 degrees of freedom, mean 99, sigma sqrt(198) = 14.1. */
static void test_unit_is_uniform(void **state) {
    (void)state;
    enum { CELLS = 100, N = 1000000 };
    static int cell[CELLS];
    uint64_t seed = 42;
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double u = hp_rng_unit(&seed);
        assert_true(u > 0 && u <= 1);
        sum += u;
        cell[(int)(u * CELLS) % CELLS]++;
    }
    double chi = 0;
    for (int i = 0; i < CELLS; i++) {
        double d = cell[i] - (double)N / CELLS;
        chi += d * d / ((double)N / CELLS);
    }
    assert_true(fabs(chi - 99) < 3 * 14.1);
    assert_true(fabs(sum / N - 0.5) < 3 * sqrt(1.0 / 12 / N));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_splitmix64),
        cmocka_unit_test(test_unit_is_never_zero),
        cmocka_unit_test(test_unit_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
