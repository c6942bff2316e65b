/*
 * What each thread carries: one small block of static TLS (initial-exec: no allocation on first touch, there
 * until the thread's very end), correct when all zero.
 *
 * Muting. A thread is muted while heapprof works on its behalf and while the application has paused it: its
 * allocations pass unsampled and its countdown is frozen, not redrawn, so that what we allocate through
 * others (dlopen, pthread_create) does not skew the process's samples. Every lock of ours is held muted. A
 * signal handler that interrupts us finds hp_thread_is_inside() and takes no lock; what it frees meanwhile
 * that might be a sampled object is deferred until we are out again (recorder.c).
 */
#ifndef HP_INTAKE_THREAD_STATE_H
#define HP_INTAKE_THREAD_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hp_thread {
    uint64_t left;        /* bytes until the next sample; UINT64_MAX while muted. The hot path's only word. */
    uint64_t gap;         /* what `left` was drawn as */
    uint64_t frozen;      /* `left` while muted */
    uint64_t random;      /* the generator's state; 0: not seeded yet */
    uint32_t muted;       /* nesting depth, for both reasons */
    uint32_t paused;      /* nesting depth of the application's reason */
    uint32_t asking;      /* nesting depth of our own calls to jemalloc, in which no lock of ours is held */
    uint32_t keeps_arena; /* bool: the application has chosen this thread's arena (placement.h) */
    void *deferred;       /* objects freed while heapprof was at work, linked through their first word */
};

extern __thread struct hp_thread hp_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Mutes the calling thread; nests. The depth is raised first: a signal in between sees it. */
static inline void hp_thread_mute(struct hp_thread *t) {
    if (t->muted++ == 0) {
        atomic_signal_fence(memory_order_seq_cst);
        t->frozen = t->left;
        t->left = UINT64_MAX;
    }
    atomic_signal_fence(memory_order_seq_cst);
}

/* Undoes one hp_thread_mute(). */
static inline void hp_thread_unmute(struct hp_thread *t) {
    atomic_signal_fence(memory_order_seq_cst);
    if (t->muted == 1) {
        t->left = t->frozen;
        atomic_signal_fence(memory_order_seq_cst);
    }
    t->muted--;
    atomic_signal_fence(memory_order_seq_cst); /* who looks for deferred objects next must see a handler's */
}

/* Whether heapprof is at work on this thread further up its stack: locks of ours may be held, but for `asking`. */
static inline bool hp_thread_is_inside(const struct hp_thread *t) {
    return t->muted > t->paused;
}

#endif
