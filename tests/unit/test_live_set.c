/* bookkeeping/live_set: what is put in comes out, at the cap and across threads too. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "heapprof/base/arena.h"
#include "heapprof/bookkeeping/live_set.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"

/* 4 chunks of 64 KiB, 32 bytes an entry, and the very first one is never handed out. */
enum { CAP_BYTES = 256 << 10, CAPACITY = CAP_BYTES / 32 - 1 };

/* Of 1500 samples expected: 2^11 buckets. Addresses 2^23 apart (2^11 pages) fall into one. */
enum { EXPECTED = 1500 };
#define SAME_BUCKET (UINT64_C(1) << 23)
#define BASE UINT64_C(0x7f0000000000)

static const void *object_at(uint64_t n) {
    return (const void *)(uintptr_t)(BASE + n);
}

static void put(uint64_t n, uint64_t size) {
    struct hp_live stale;
    uint32_t entry = hp_live_set_reserve(0);
    assert_int_not_equal(entry, 0);
    struct hp_live live = {.object = BASE + n, .size = size, .weight = size + 1, .stack = (uint32_t)size + 2};
    assert_false(hp_live_set_insert(entry, &live, &stale));
}

static void take_out(uint64_t n, uint64_t size) {
    struct hp_live live = {0};
    uint32_t entry = hp_live_set_remove(object_at(n), &live);
    assert_int_not_equal(entry, 0);
    assert_int_equal(live.object, BASE + n);
    assert_int_equal(live.size, size);
    assert_int_equal(live.weight, size + 1);
    assert_int_equal(live.stack, size + 2);
    hp_live_set_release(entry);
}

/* How many entries can be had now; all are given back. */
static uint32_t available(void) {
    static uint32_t entries[2 * CAPACITY];
    uint32_t n = 0;
    while (n < ROWS(entries) && (entries[n] = hp_live_set_reserve(n)) != 0) {
        n++;
    }
    for (uint32_t i = 0; i < n; i++) {
        hp_live_set_release(entries[i]);
    }
    return n;
}

/* An early free, before the constructor, asks too. */
static void test_safe_before_init(void **state) {
    (void)state;
    assert_false(hp_live_set_may_hold(object_at(0)));
    assert_true(hp_live_set_init(CAP_BYTES, EXPECTED));
    assert_false(hp_live_set_may_hold(object_at(0)));
}

static void test_insert_and_remove(void **state) {
    (void)state;
    struct hp_live live;
    put(0, 10);
    put(4096, 20);
    assert_true(hp_live_set_may_hold(object_at(0)));
    take_out(0, 10);
    assert_false(hp_live_set_may_hold(object_at(0)));
    assert_int_equal(hp_live_set_remove(object_at(0), &live), 0); /* not twice */
    take_out(4096, 20);
    assert_int_equal(hp_live_set_remove(object_at(8192), &live), 0); /* never there */
}

/* The objects of a page, as the dense arena packs them: of 64 bytes, hardly any two in one bucket. */
static void test_dense_objects_spread(void **state) {
    (void)state;
    static unsigned in_bucket[HP_LIVE_BUCKETS_MAX];
    unsigned used = 0;
    for (uint64_t i = 0; i < 1024; i++) {
        used += in_bucket[hp_live_set_bucket(object_at(i * 64))]++ == 0;
    }
    assert_in_range(used, 700, 1024); /* at random it would be 2048 (1 - exp(-1/2)) = 806 */
}

/* Five in one bucket, taken out from the head, the middle and the tail. */
static void test_one_bucket(void **state) {
    (void)state;
    static const unsigned order[] = {2, 4, 0, 1, 3};
    struct hp_live live;
    for (unsigned i = 0; i < 5; i++) {
        put(i * SAME_BUCKET, i);
    }
    for (unsigned i = 0; i < 5; i++) {
        take_out(order[i] * SAME_BUCKET, order[i]);
        assert_int_equal(hp_live_set_remove(object_at(order[i] * SAME_BUCKET), &live), 0);
    }
    assert_false(hp_live_set_may_hold(object_at(0)));
}

/* arena.i.reset gives memory back behind our back: the address comes again, the old entry goes and is not
 * lost. */
static void test_same_address_again(void **state) {
    (void)state;
    uint32_t before = available();
    put(0, 1);
    put(SAME_BUCKET, 2);
    uint32_t entry = hp_live_set_reserve(7);
    struct hp_live live = {.object = BASE, .size = 30, .weight = 31, .stack = 32};
    struct hp_live stale = {0};
    assert_true(hp_live_set_insert(entry, &live, &stale));
    assert_int_equal(stale.object, BASE);
    assert_int_equal(stale.size, 1);
    assert_int_equal(stale.weight, 2);
    assert_int_equal(stale.stack, 3);
    take_out(0, 30);
    take_out(SAME_BUCKET, 2);
    assert_int_equal(available(), before);
}

static void test_resize(void **state) {
    (void)state;
    struct hp_live before = {0};
    put(0, 10);
    put(SAME_BUCKET, 11);
    assert_true(hp_live_set_resize(object_at(0), 99, &before));
    assert_int_equal(before.size, 10);
    assert_int_equal(before.stack, 12);
    assert_false(hp_live_set_resize(object_at(2 * SAME_BUCKET), 5, &before));
    struct hp_live live;
    uint32_t entry = hp_live_set_remove(object_at(0), &live);
    assert_int_equal(live.size, 99);
    assert_int_equal(live.weight, 11); /* what it stands for was decided when it was sampled */
    hp_live_set_release(entry);
    take_out(SAME_BUCKET, 11);
}

/* realloc that fails: out before, in again with the same entry. */
static void test_entry_goes_back_in(void **state) {
    (void)state;
    uint32_t before = available();
    struct hp_live live;
    struct hp_live stale;
    put(0, 10);
    uint32_t entry = hp_live_set_remove(object_at(0), &live);
    assert_false(hp_live_set_insert(entry, &live, &stale));
    take_out(0, 10);
    assert_int_equal(available(), before);
}

/* What one thread allocates another one frees: N objects through a window of 64. */
enum { N = 200000, WINDOW = 64 };
static _Atomic uint64_t made;
static _Atomic uint64_t freed;

static void *consume(void *failed) {
    for (uint64_t i = 0; i < N; i++) {
        while (atomic_load(&made) <= i) {
            (void)sched_yield();
        }
        struct hp_live live;
        uint32_t entry = hp_live_set_remove(object_at(i % (2 * WINDOW) * 4096), &live);
        if (entry == 0 || live.size != i) {
            *(bool *)failed = true;
        } else {
            hp_live_set_release(entry);
        }
        atomic_store(&freed, i + 1);
    }
    return NULL;
}

/* The producer's shard gets its entries back, so that it never needs more than it has: not one chunk more. */
static void test_producer_and_consumer_do_not_drain(void **state) {
    (void)state;
    pthread_t consumer;
    bool failed = false;
    struct hp_live stale;
    hp_live_set_release(hp_live_set_reserve(3));
    size_t mapped = hp_pages_total();
    assert_int_equal(pthread_create(&consumer, NULL, consume, &failed), 0);
    for (uint64_t i = 0; i < N; i++) {
        while (i - atomic_load(&freed) >= WINDOW) {
            (void)sched_yield();
        }
        uint32_t entry = hp_live_set_reserve(3);
        assert_int_not_equal(entry, 0);
        struct hp_live live = {.object = BASE + i % (2 * WINDOW) * 4096, .size = i, .weight = 1, .stack = 1};
        assert_false(hp_live_set_insert(entry, &live, &stale));
        atomic_store(&made, i + 1);
    }
    assert_int_equal(pthread_join(consumer, NULL), 0);
    assert_false(failed);
    assert_in_range(hp_pages_total(), mapped, mapped + (64 << 10));
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Exactly the cap, each entry once; then none for any thread; one given back is to be had by any other. */
static void test_full(void **state) {
    (void)state;
    static uint32_t entries[CAPACITY + 1];
    uint32_t n = 0;
    while (n <= CAPACITY && (entries[n] = hp_live_set_reserve(n % 5)) != 0) {
        n++;
    }
    assert_int_equal(n, CAPACITY);
    for (unsigned hint = 0; hint < 200; hint++) {
        assert_int_equal(hp_live_set_reserve(hint), 0);
    }
    qsort(entries, n, sizeof *entries, compare);
    for (uint32_t i = 1; i < n; i++) {
        assert_int_not_equal(entries[i], entries[i - 1]);
    }
    hp_live_set_release(entries[17]);
    assert_int_equal(hp_live_set_reserve(63), entries[17]);
    for (uint32_t i = 0; i < n; i++) {
        hp_live_set_release(entries[i]);
    }
}

/* A full set still takes each entry's object, finds it and lets it go: the whole of it, twice. */
static void test_filled_with_objects(void **state) {
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < CAPACITY; i++) {
            put(i * 4096 * 3, i);
        }
        assert_int_equal(hp_live_set_reserve(1), 0);
        for (uint64_t i = CAPACITY; i-- > 0;) {
            take_out(i * 4096 * 3, i);
        }
    }
    assert_int_equal(available(), CAPACITY);
}

/* P7: all locks are held at the fork, as another thread might hold any; the child's are free. */
static int body_child_uses_the_set(void) {
    hp_live_set_fork_child();
    uint32_t entry = hp_live_set_reserve(9);
    struct hp_live live = {.object = BASE, .size = 1};
    struct hp_live stale;
    CHILD_CHECK(entry != 0 && !hp_live_set_insert(entry, &live, &stale));
    CHILD_CHECK(hp_live_set_remove(object_at(0), &live) == entry);
    for (unsigned hint = 0; hint < 64; hint++) {
        CHILD_CHECK(hp_live_set_reserve(hint) != 0);
    }
    return 0;
}

static void test_fork(void **state) {
    (void)state;
    hp_live_set_fork_prepare();
    child_must_succeed(body_child_uses_the_set);
    hp_live_set_fork_parent();
    assert_int_equal(available(), CAPACITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_safe_before_init), /* first: it makes the set for all */
        cmocka_unit_test(test_insert_and_remove),
        cmocka_unit_test(test_dense_objects_spread),
        cmocka_unit_test(test_one_bucket),
        cmocka_unit_test(test_producer_and_consumer_do_not_drain), /* before anything fills the set */
        cmocka_unit_test(test_same_address_again),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_entry_goes_back_in),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_filled_with_objects),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
