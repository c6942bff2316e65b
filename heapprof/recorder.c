#include "heapprof/recorder.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "guard/guard.h"
#include "heapprof/base/weight.h"
#include "heapprof/bookkeeping/live_set.h"
#include "heapprof/bookkeeping/stack_table.h"
#include "heapprof/control/control_socket.h"
#include "heapprof/frame_module.h"
#include "heapprof/held.h"
#include "heapprof/intake/placement.h"
#include "heapprof/intake/sampler.h"
#include "heapprof/intake/thread_state.h"
#include "heapprof/unwind/unwinder.h"

/* Fresh memory of this size has not been touched when jemalloc hands it out. */
enum { UNTOUCHED_BYTES = 256 << 10 };
#define ADDRESS_SPACE_BYTES (UINT64_C(1) << 56)

static _Atomic int state; /* 0: not ready yet, 1: recording, 2: off for good */
enum { STATE_EARLY, STATE_ON, STATE_OFF };

static _Atomic uint64_t taken_samples;
static _Atomic uint64_t ended_samples;
static _Atomic uint64_t lost_samples;
static _Atomic uint64_t lost_bytes;
static _Atomic uint64_t truncated_stacks;

void hp_recorder_enable(void) {
    atomic_store_explicit(&state, STATE_ON, memory_order_release);
}

void hp_recorder_disable(void) {
    atomic_store_explicit(&state, STATE_OFF, memory_order_release);
}

bool hp_recorder_is_enabled(void) {
    return atomic_load_explicit(&state, memory_order_acquire) == STATE_ON;
}

void hp_recorder_loss(struct hp_loss *loss) {
    loss->samples = atomic_load_explicit(&lost_samples, memory_order_relaxed);
    loss->bytes = atomic_load_explicit(&lost_bytes, memory_order_relaxed);
    loss->truncated = atomic_load_explicit(&truncated_stacks, memory_order_relaxed);
}

void hp_recorder_samples(uint64_t *taken, uint64_t *alive) {
    uint64_t ended = atomic_load_explicit(&ended_samples, memory_order_relaxed); /* first: never more than taken */
    *taken = atomic_load_explicit(&taken_samples, memory_order_relaxed);
    *alive = *taken - ended;
}

/* Whether this thread may record now. A thread that comes by once heapprof is off never comes again. */
static bool may_record(struct hp_thread *t) {
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now == STATE_OFF) {
        t->left = UINT64_MAX;
    }
    return now == STATE_ON && t->muted == 0;
}

static void forget(const struct hp_live *live) {
    uint64_t bytes = hp_weight_bytes(live->weight, live->size);
    hp_stack_table_subtract(live->stack, live->weight, bytes);
    hp_held_subtract(bytes);
    atomic_fetch_add_explicit(&ended_samples, 1, memory_order_relaxed);
}

/* Frees what was deferred while we were at work. */
static void free_deferred(struct hp_thread *t) {
    void *object = __atomic_exchange_n(&t->deferred, NULL, __ATOMIC_RELAXED);
    while (object != NULL) {
        void *next = NULL;
        memcpy(&next, object, sizeof next);
        if (hp_recorder_free(object) != HP_FREE_DEFERRED) {
            hp_placement_free(object);
        }
        object = next;
    }
}

static void leave(struct hp_thread *t) {
    hp_thread_unmute(t);
    if (__builtin_expect(t->deferred != NULL, 0) && !hp_thread_is_inside(t)) {
        free_deferred(t);
    }
}

void hp_recorder_leave(void) {
    leave(&hp_thread);
}

/* The list is this thread's own, but a signal handler may add to it between any two steps. */
static void defer(struct hp_thread *t, void *object) {
    void *head = t->deferred;
    do {
        memcpy(object, &head, sizeof head);
    } while (!__atomic_compare_exchange_n(&t->deferred, &head, object, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* One sample in the making. */
struct sample {
    size_t size;
    uint64_t weight;
    uint32_t entry; /* reserved in the live set */
    uint32_t stack;
};

/* The guard's thread and the listener begin with the first sample, but not from below the dynamic loader, whose locks
 * pthread_create would want: the next sample will do. */
static void start_threads(const struct hp_stack_trace *trace) {
    if (!guard_wants_start() && !hp_control_wants_start()) {
        return;
    }
    for (uint32_t i = 0; i < trace->depth; i++) {
        if (hp_frame_module_is_loader(trace->pcs[i])) {
            return;
        }
    }
    guard_start();
    hp_control_start();
}

static void count_loss(size_t size) {
    atomic_fetch_add_explicit(&lost_samples, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&lost_bytes, hp_weight_bytes(hp_sampler_weight(size), size), memory_order_relaxed);
}

/* Everything that can fail, before the object is allocated. */
static bool sample_begin(struct sample *sample, const struct hp_thread *t, size_t size, const void *caller) {
    sample->entry = hp_live_set_reserve((unsigned)((uintptr_t)t >> 12));
    if (sample->entry == 0) {
        count_loss(size);
        return false;
    }
    struct hp_stack_trace trace;
    struct hp_unwound end;
    trace.depth = hp_unwinder_take(trace.pcs, HP_STACK_DEPTH_MAX, caller, &end);
    trace.truncated = end.truncated;
    trace.binaries = end.binaries;
    if (trace.truncated) {
        atomic_fetch_add_explicit(&truncated_stacks, 1, memory_order_relaxed);
    }
    sample->stack = hp_stack_table_find(&trace);
    sample->size = size;
    sample->weight = hp_sampler_weight(size);
    if (sample->stack == HP_STACK_LOST) {
        count_loss(size);
    }
    start_threads(&trace);
    return true;
}

static void sample_commit(const struct sample *sample, void *object) {
    struct hp_live live = {
        .object = (uintptr_t)object, .size = sample->size, .weight = sample->weight, .stack = sample->stack};
    struct hp_live stale;
    uint64_t bytes = hp_weight_bytes(live.weight, live.size);
    hp_stack_table_add(live.stack, live.weight, bytes);
    hp_held_add(bytes);
    atomic_fetch_add_explicit(&taken_samples, 1, memory_order_relaxed);
    if (hp_live_set_insert(sample->entry, &live, &stale)) {
        forget(&stale);
    }
}

/* Decides the countdown for an allocation of `size` bytes, and how many bytes the thread has allocated since
 * the last time. */
static bool expire(struct hp_thread *t, size_t size, uint64_t *bytes) {
    *bytes = t->gap - t->left + size;
    return hp_sampler_expire(t, size);
}

/* Lets the guard look, after the object exists (the dump shall name it) and before it is touched. A size that
 * no address space holds was refused. */
static void account(uint64_t bytes, size_t size) {
    if (size >= ADDRESS_SPACE_BYTES || !guard_account(bytes)) {
        return;
    }
    uint64_t pending = 0;
    if (size >= UNTOUCHED_BYTES) { /* it, and perhaps more like it, from before the last reading */
        uint64_t untouched = hp_held_untouched();
        pending = untouched > size ? untouched : size;
    }
    guard_check(pending);
}

__attribute__((noinline, cold)) void *hp_recorder_alloc(size_t size, int flags, const void *caller) {
    struct hp_thread *t = &hp_thread;
    uint64_t bytes = 0;
    if (!may_record(t) || !expire(t, size, &bytes)) {
        return NULL;
    }
    int saved_errno = errno;
    void *object = NULL;
    struct sample sample;
    hp_thread_mute(t);
    if (sample_begin(&sample, t, size, caller)) {
        t->asking++;
        object = hp_placement_alloc(size == 0 ? 1 : size, flags);
        t->asking--;
        if (object != NULL) {
            sample_commit(&sample, object);
        } else {
            hp_live_set_release(sample.entry);
        }
    }
    account(bytes, size);
    leave(t);
    errno = saved_errno;
    return object;
}

enum hp_free hp_recorder_free(void *object) {
    struct hp_thread *t = &hp_thread;
    if (!hp_live_set_may_hold(object)) {
        return HP_FREE_ORDINARY;
    }
    if (hp_thread_is_inside(t)) {
        defer(t, object);
        return HP_FREE_DEFERRED;
    }
    int saved_errno = errno;
    struct hp_live live;
    hp_thread_mute(t);
    uint32_t entry = hp_live_set_remove(object, &live);
    if (entry != 0) {
        forget(&live);
        hp_live_set_release(entry);
    }
    leave(t);
    errno = saved_errno;
    return entry != 0 ? HP_FREE_SAMPLED : HP_FREE_ORDINARY;
}

/* Inside heapprof no lock may be taken: a perhaps sampled object is copied, and freed later. */
static void *realloc_inside(struct hp_thread *t, void *object, size_t size, int flags) {
    void *copy = NULL;
    if (size != 0) {
        copy = je_mallocx(size, flags);
        if (copy == NULL) {
            errno = ENOMEM;
            return NULL;
        }
        size_t old = je_malloc_usable_size(object);
        memcpy(copy, object, old < size ? old : size);
    }
    defer(t, object);
    return copy;
}

static void *realloc_sampled(struct hp_thread *t, void *object, size_t size, int flags, const void *caller) {
    struct sample sample;
    if (!sample_begin(&sample, t, size, caller)) {
        return NULL;
    }
    t->asking++;
    void *moved = hp_placement_realloc(object, size, flags);
    t->asking--;
    if (moved != NULL) {
        sample_commit(&sample, moved);
    } else {
        hp_live_set_release(sample.entry);
    }
    return moved;
}

__attribute__((noinline)) void *hp_recorder_realloc(void *object, size_t size, int flags, hp_reallocate *ordinary,
                                                    const void *caller) {
    struct hp_thread *t = &hp_thread;
    bool may_be_sampled = hp_placement_may_be_sampled(object) && hp_live_set_may_hold(object);
    if (may_be_sampled && hp_thread_is_inside(t)) {
        return realloc_inside(t, object, size, flags);
    }
    uint64_t bytes = 0;
    bool sampled = !hp_sampler_passes(size) && may_record(t) && expire(t, size, &bytes) && size != 0;
    if (!may_be_sampled && !sampled) {
        return ordinary(object, size, flags);
    }
    int saved_errno = errno;
    struct hp_live old;
    hp_thread_mute(t);
    if (sampled) {
        account(bytes, size); /* before the copy, which touches the new memory while the old is still there */
    }
    uint32_t entry = may_be_sampled ? hp_live_set_remove(object, &old) : 0;
    void *moved = sampled ? realloc_sampled(t, object, size, flags, caller) : NULL;
    if (moved == NULL) {
        errno = saved_errno;
        t->asking++;
        moved = ordinary(object, size, flags);
        t->asking--;
        saved_errno = errno;
    }
    if (entry != 0 && moved == NULL && size != 0) { /* it failed: the object is as it was */
        struct hp_live stale;
        (void)hp_live_set_insert(entry, &old, &stale);
    } else if (entry != 0) {
        forget(&old);
        hp_live_set_release(entry);
    }
    leave(t);
    errno = saved_errno;
    return moved;
}

/* In a signal handler that has interrupted us, locks of ours may be held that a dump needs: then none is made.
 * Nothing deferred is freed afterwards, as it is elsewhere: that would ask jemalloc for locks it may hold. */
void hp_recorder_out_of_memory(size_t bytes) {
    struct hp_thread *t = &hp_thread;
    bool may_hold_lock = hp_thread_is_inside(t) && t->asking == 0;
    if (may_hold_lock || atomic_load_explicit(&state, memory_order_acquire) != STATE_ON) {
        return;
    }
    int saved_errno = errno;
    hp_thread_mute(t);
    guard_out_of_memory(bytes);
    hp_thread_unmute(t);
    errno = saved_errno;
}

/* An object in place keeps its chance of having been sampled, so its weight stands for its new size too. */
void hp_recorder_resize(void *object, size_t size) {
    struct hp_thread *t = &hp_thread;
    if (!hp_live_set_may_hold(object) || hp_thread_is_inside(t)) {
        return;
    }
    int saved_errno = errno;
    struct hp_live before;
    hp_thread_mute(t);
    if (hp_live_set_resize(object, size, &before)) {
        uint64_t bytes_before = hp_weight_bytes(before.weight, before.size);
        uint64_t bytes_after = hp_weight_bytes(before.weight, size);
        hp_stack_table_resize(before.stack, bytes_before, bytes_after);
        hp_held_add(bytes_after - bytes_before); /* modulo 2^64, when it shrinks */
    }
    leave(t);
    errno = saved_errno;
}

void hp_recorder_fork_child(void) {
    struct hp_thread *t = &hp_thread;
    t->random = 0;
    t->gap = 0;
    *(t->muted == 0 ? &t->left : &t->frozen) = 0;
}
