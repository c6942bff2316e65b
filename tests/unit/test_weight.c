/* base/weight: fixed-point sums that come back to zero. */
#include "heapprof/base/rng.h"
#include "heapprof/base/weight.h"
#include "tests/unit/cmocka_first.h"

#define ONE UINT64_C(65536) /* 16 binary places; what the code calls HP_WEIGHT_ONE */

static void test_rounding(void **state) {
    (void)state;
    assert_int_equal(HP_WEIGHT_ONE, ONE);
    static const struct {
        uint64_t weight;
        uint64_t objects;
    } rows[] = {
        {0, 0},
        {ONE / 2 - 1, 0},
        {ONE / 2, 1},
        {ONE, 1},
        {ONE + ONE / 2 - 1, 1},
        {ONE + ONE / 2, 2},
        {1000 * ONE, 1000},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        assert_int_equal(hp_weight_objects(rows[i].weight), rows[i].objects);
    }
}

static void test_bytes(void **state) {
    (void)state;
    assert_int_equal(hp_weight_bytes(ONE, 0), 0);
    assert_int_equal(hp_weight_bytes(ONE, 12345), 12345);
    assert_int_equal(hp_weight_bytes(ONE * 3 / 2, 10), 15);
    assert_int_equal(hp_weight_bytes(ONE * 3 / 2, 3), 5); /* 4.5 */
    assert_int_equal(hp_weight_bytes(ONE / 3, 1), 0);     /* 0.33 */
    /* A byte that stands for 2^30 of them, and an object of 2^47 bytes: more than 64 bits in between. */
    assert_int_equal(hp_weight_bytes(ONE << 30, 1), UINT64_C(1) << 30);
    assert_int_equal(hp_weight_bytes(ONE, UINT64_C(1) << 47), UINT64_C(1) << 47);
    assert_int_equal(hp_weight_bytes(ONE << 10, UINT64_C(1) << 47), UINT64_C(1) << 57);
}

/* P22: what is added and taken away in another order ends at exactly nothing, and is never below it. */
static void test_sums_return_to_zero(void **state) {
    (void)state;
    enum { N = 10000 };
    static uint64_t weight[N];
    static uint64_t size[N];
    uint64_t random = 1;
    uint64_t objects = 0;
    uint64_t bytes = 0;
    for (int i = 0; i < N; i++) {
        weight[i] = ONE + hp_rng_next(&random) % (ONE << 20);
        size[i] = hp_rng_next(&random) % 1000000;
        objects += weight[i];
        bytes += hp_weight_bytes(weight[i], size[i]);
    }
    for (int i = 0; i < N; i++) {
        int k = i * 7919 % N; /* a permutation: 7919 is prime and no factor of N */
        assert_true(objects >= weight[k]);
        assert_true(bytes >= hp_weight_bytes(weight[k], size[k]));
        objects -= weight[k];
        bytes -= hp_weight_bytes(weight[k], size[k]);
    }
    assert_int_equal(objects, 0);
    assert_int_equal(bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_sums_return_to_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
