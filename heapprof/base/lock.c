#include "heapprof/base/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/sys.h"

/* Spins a little first: the sections are shorter than a system call. */
enum { SPINS = 64 };

static bool try_take(struct hp_lock *lock, uint32_t as) {
    uint32_t free = 0;
    return atomic_compare_exchange_weak_explicit(&lock->state, &free, as, memory_order_acquire,
                                                 memory_order_relaxed);
}

static bool spin(struct hp_lock *lock) {
    for (int i = 0; i < SPINS; i++) {
        if (try_take(lock, 1)) {
            return true;
        }
        atomic_signal_fence(memory_order_seq_cst);
    }
    return false;
}

__attribute__((noinline)) void hp_lock_wait(struct hp_lock *lock) {
    if (spin(lock)) {
        return;
    }
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
        hp_sys_futex_wait(&lock->state, 2, -1);
    }
}

__attribute__((noinline)) void hp_lock_wake(struct hp_lock *lock) {
    hp_sys_futex_wake(&lock->state, 1);
}

bool hp_lock_take_within(struct hp_lock *lock, int64_t timeout_ns) {
    HP_LOCK_CHECK(hp_lock_check_take(lock));
    if (spin(lock)) {
        return true;
    }
    int64_t deadline = hp_clock_ns() + timeout_ns;
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
        int64_t left = deadline - hp_clock_ns();
        if (left <= 0) {
            HP_LOCK_CHECK(hp_lock_check_release(lock));
            return false;
        }
        hp_sys_futex_wait(&lock->state, 2, left);
    }
    return true;
}

/* Bit r: this thread holds a lock of rank r. */
static __thread uint32_t held_ranks __attribute__((tls_model("initial-exec")));

static void die(const char *what) {
    (void)hp_sys_write(2, what, strlen(what));
    abort();
}

void hp_lock_check_take(const struct hp_lock *lock) {
    if (held_ranks >> lock->rank != 0) {
        die("heapprof: lock taken out of order\n");
    }
    held_ranks |= 1U << lock->rank;
}

void hp_lock_check_release(const struct hp_lock *lock) {
    if ((held_ranks >> lock->rank & 1U) == 0) {
        die("heapprof: lock released that is not held\n");
    }
    held_ranks &= ~(1U << lock->rank);
}
