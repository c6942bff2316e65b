/*
 * The one lock of heapprof: a futex word with a rank.
 *
 * A pthread mutex may be interposed by others and is of no use in a forked child whose other threads held
 * it; this one is ours alone, a word that zero initialises, and is only ever held for a few dozen
 * instructions, never while unwinding, calling jemalloc, or calling the application.
 *
 * A thread takes locks in rising rank only. Debug builds check that and abort with a line on the spot.
 * Holding a lock, a thread must be muted (intake/thread_state.h), or a signal handler that allocates could
 * want the same lock.
 */
#ifndef HP_BASE_LOCK_H
#define HP_BASE_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* In the order in which they may nest. Shards of one table share a rank: a thread holds one at a time. */
enum hp_lock_rank {
    HP_RANK_GUARD = 1, /* the guard's readings and decisions */
    HP_RANK_CAPTURE,   /* one dump at a time */
    HP_RANK_HISTORY,   /* what became of the dumps */
    HP_RANK_STACKS,    /* a shard of the stack table */
    HP_RANK_FRAMES,    /* the frame and module tables */
    HP_RANK_LIVE,      /* a shard of the live set */
    HP_RANK_ARENA,     /* an arena's bump pointer */
};

/* state: 0 free, 1 held, 2 held and someone sleeps. */
struct hp_lock {
    _Atomic uint32_t state;
    uint32_t rank;
};

#define HP_LOCK_INIT(lock_rank) {.state = 0, .rank = (lock_rank)}

void hp_lock_wait(struct hp_lock *lock);
void hp_lock_wake(struct hp_lock *lock);
void hp_lock_check_take(const struct hp_lock *lock);
void hp_lock_check_release(const struct hp_lock *lock);

#ifdef NDEBUG
#define HP_LOCK_CHECK(call) ((void)0)
#else
#define HP_LOCK_CHECK(call) (call)
#endif

static inline void hp_lock_take_unranked(struct hp_lock *lock) {
    uint32_t free = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        hp_lock_wait(lock);
    }
}

static inline void hp_lock_release_unranked(struct hp_lock *lock) {
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2) {
        hp_lock_wake(lock);
    }
}

static inline void hp_lock_take(struct hp_lock *lock) {
    HP_LOCK_CHECK(hp_lock_check_take(lock));
    hp_lock_take_unranked(lock);
}

static inline void hp_lock_release(struct hp_lock *lock) {
    HP_LOCK_CHECK(hp_lock_check_release(lock));
    hp_lock_release_unranked(lock);
}

/* Takes the lock, or gives up after `timeout_ns`. Returns whether it is held. */
_Bool hp_lock_take_within(struct hp_lock *lock, int64_t timeout_ns);

/* In a forked child: the lock is free again, whoever held it in the parent. */
static inline void hp_lock_reset(struct hp_lock *lock) {
    atomic_store_explicit(&lock->state, 0, memory_order_relaxed);
}

#endif
