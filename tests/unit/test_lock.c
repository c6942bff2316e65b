/* base/lock: exclusion, waiting, giving up, and (in Debug builds) the order of ranks. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/lock.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"

#define MS INT64_C(1000000)

static struct hp_lock lock = HP_LOCK_INIT(HP_RANK_STACKS);
static uint64_t counter; /* guarded by lock and by nothing else */

static void *count(void *rounds) {
    for (int i = 0; i < *(const int *)rounds; i++) {
        bool timed = i % 3 == 0;
        if (timed) {
            while (!hp_lock_take_within(&lock, MS)) {
            }
        } else {
            hp_lock_take(&lock);
        }
        counter++;
        hp_lock_release(&lock);
    }
    return NULL;
}

static void test_mutual_exclusion(void **state) {
    (void)state;
    enum { THREADS = 6 };
    int rounds = 100000;
    pthread_t threads[THREADS];
    counter = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count, &rounds), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(counter, (uint64_t)THREADS * (uint64_t)rounds);
    assert_int_equal(atomic_load(&lock.state), 0);
}

/* The thread that is told to give up shares no lock with this one, so it runs elsewhere (ranks). */
static void *give_up(void *took) {
    int64_t start = hp_clock_ns();
    bool held = hp_lock_take_within(&lock, 20 * MS);
    *(int64_t *)took = held ? -1 : hp_clock_ns() - start;
    /* Not held, so not counted as held: a lower rank may be taken. */
    struct hp_lock lower = HP_LOCK_INIT(HP_RANK_GUARD);
    hp_lock_take(&lower);
    hp_lock_release(&lower);
    return NULL;
}

static void test_take_within_gives_up(void **state) {
    (void)state;
    pthread_t thread;
    int64_t took = 0;
    hp_lock_take(&lock);
    assert_int_equal(pthread_create(&thread, NULL, give_up, &took), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    hp_lock_release(&lock);
    assert_true(took >= 20 * MS);
    assert_true(took < 10000 * MS);
    assert_int_equal(atomic_load(&lock.state), 0);
    assert_true(hp_lock_take_within(&lock, 0));
    hp_lock_release(&lock);
}

static void *wait_long(void *got) {
    *(bool *)got = hp_lock_take_within(&lock, 60000 * MS);
    hp_lock_release(&lock);
    return NULL;
}

static void *wait_forever(void *got) {
    hp_lock_take(&lock);
    *(bool *)got = true;
    hp_lock_release(&lock);
    return NULL;
}

/* All waiters announce themselves (state 2) and may sleep in the kernel; one release each gets them all. */
static void test_sleepers_are_woken(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bool got[THREADS] = {false};
    hp_lock_take(&lock);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, i % 2 == 0 ? wait_long : wait_forever, &got[i]),
                         0);
    }
    while (atomic_load(&lock.state) != 2) {
        (void)sched_yield();
    }
    hp_lock_release(&lock);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(got[i]);
    }
    assert_int_equal(atomic_load(&lock.state), 0);
}

static void test_reset_frees(void **state) {
    (void)state;
    struct hp_lock l = HP_LOCK_INIT(HP_RANK_ARENA);
    hp_lock_take_unranked(&l);
    hp_lock_reset(&l);
    hp_lock_take_unranked(&l);
    hp_lock_release_unranked(&l);
    assert_int_equal(atomic_load(&l.state), 0);
}

static struct hp_lock low = HP_LOCK_INIT(HP_RANK_CAPTURE);
static struct hp_lock high = HP_LOCK_INIT(HP_RANK_ARENA);
static struct hp_lock high_too = HP_LOCK_INIT(HP_RANK_ARENA);

static int body_rising(void) {
    hp_lock_take(&low);
    hp_lock_take(&high);
    hp_lock_release(&low); /* in any order */
    hp_lock_release(&high);
    hp_lock_take(&low);
    hp_lock_release(&low);
    return 0;
}

static int body_falling(void) {
    hp_lock_take(&high);
    hp_lock_take(&low);
    return 0;
}

static int body_falling_within(void) {
    hp_lock_take(&high);
    return hp_lock_take_within(&low, MS) ? 0 : 1;
}

static int body_same_rank(void) {
    hp_lock_take(&high);
    hp_lock_take(&high_too);
    return 0;
}

static int body_not_held(void) {
    hp_lock_release(&low);
    return 0;
}

static const struct {
    const char *what;
    int (*body)(void);
    const char *said; /* NULL: lives */
} rank_rows[] = {
    {"rising", body_rising, NULL},
    {"falling", body_falling, "heapprof: lock taken out of order\n"},
    {"falling, with a time", body_falling_within, "heapprof: lock taken out of order\n"},
    {"two of a rank", body_same_rank, "heapprof: lock taken out of order\n"},
    {"not held", body_not_held, "heapprof: lock released that is not held\n"},
};

static void test_ranks(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(rank_rows); i++) {
        struct child_end end;
        child_run(rank_rows[i].body, &end);
#ifdef NDEBUG
        bool dies = false; /* what is shipped does not check */
#else
        bool dies = rank_rows[i].said != NULL;
#endif
        if (dies && (end.signal != SIGABRT || strcmp(end.said, rank_rows[i].said) != 0)) {
            fail_msg("%s: signal %d, said \"%s\"", rank_rows[i].what, end.signal, end.said);
        } else if (!dies && end.status != 0) {
            fail_msg("%s: status %d, said \"%s\"", rank_rows[i].what, end.status, end.said);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutual_exclusion),
        cmocka_unit_test(test_take_within_gives_up),
        cmocka_unit_test(test_sleepers_are_woken),
        cmocka_unit_test(test_reset_frees),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
