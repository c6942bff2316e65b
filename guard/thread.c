#include "guard/thread.h"

#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heapprof/base/arena.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"

#define SECOND INT64_C(1000000000)
#define JOIN_PAUSE_NS INT64_C(100000)

enum { NONE, STARTING, RUNNING, FAILED };

/* What a dump and the application's callbacks may use of the stack. The C library takes the static TLS of all
 * loaded libraries off the same memory, and does not say how much that is: so it is measured. */
enum { STACK_ROOM = 64 * 1024, STACK_TRIED_MAX = 8 * 1024 * 1024 };

static _Atomic bool is_over; /* no thread of ours any more */

/* Which of them this is. */
static __thread const struct guard_thread *self __attribute__((tls_model("initial-exec")));

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t first_stack_bytes(void) {
    long least = sysconf(_SC_THREAD_STACK_MIN);
    size_t bytes = (least > 0 ? (size_t)least : 16384) + STACK_ROOM + STACK_ROOM / 4;
    return (bytes + page_bytes() - 1) & ~(page_bytes() - 1);
}

static bool map_stack(struct guard_thread *t) {
    size_t bytes = atomic_load_explicit(&t->stack_bytes, memory_order_relaxed);
    if (t->stack != NULL) { /* in a forked child: the parent's pages so far */
        hp_pages_touch(t->stack, bytes);
        return true;
    }
    char *pages =
        t->is_lean ? hp_pages_map(page_bytes() + bytes) : hp_pages_map_present(page_bytes() + bytes);
    if (pages == NULL) {
        return false;
    }
    (void)syscall(SYS_mprotect, pages, page_bytes(), PROT_NONE);
    t->stack = pages + page_bytes();
    return true;
}

/* The stack is too small for what the process loads: the next one is twice as big. This one is given up,
 * since its thread may still stand on it. */
static void outgrow_stack(struct guard_thread *t) {
    size_t bytes = atomic_load_explicit(&t->stack_bytes, memory_order_relaxed);
    t->stack = NULL;
    atomic_store_explicit(&t->stack_bytes, bytes * 2, memory_order_relaxed);
}

static void *thread_main(void *argument) {
    struct guard_thread *t = argument;
    if ((size_t)((char *)__builtin_frame_address(0) - t->stack) < STACK_ROOM) {
        outgrow_stack(t);
        (void)pthread_detach(pthread_self());
        atomic_store_explicit(&t->state, NONE, memory_order_release);
        return NULL;
    }
    self = t;
    (void)syscall(SYS_prctl, PR_SET_NAME, t->name, 0, 0, 0);
    t->body();
    return NULL;
}

static int create(struct guard_thread *t) {
    pthread_attr_t attributes;
    int rc = pthread_attr_init(&attributes);
    if (rc != 0) {
        return rc;
    }
    rc = pthread_attr_setstack(&attributes, t->stack,
                               atomic_load_explicit(&t->stack_bytes, memory_order_relaxed));
    if (rc == 0) {
        rc = pthread_create(&t->handle, &attributes, thread_main, t);
    }
    (void)pthread_attr_destroy(&attributes);
    return rc;
}

static int create_with_stack(struct guard_thread *t) {
    if (atomic_load_explicit(&t->stack_bytes, memory_order_relaxed) == 0) {
        atomic_store_explicit(&t->stack_bytes, first_stack_bytes(), memory_order_relaxed);
    }
    while (map_stack(t)) {
        int rc = create(t);
        if (rc != EINVAL || atomic_load_explicit(&t->stack_bytes, memory_order_relaxed) >= STACK_TRIED_MAX) {
            return rc;
        }
        outgrow_stack(t);
    }
    return ENOMEM;
}

static bool may_start(struct guard_thread *t) {
    int is = atomic_load_explicit(&t->state, memory_order_acquire);
    if (guard_threads_are_over()) {
        return false;
    }
    if (is == FAILED && hp_clock_ns() < atomic_load_explicit(&t->retry_at, memory_order_relaxed)) {
        return false;
    }
    return (is == NONE || is == FAILED) &&
           atomic_compare_exchange_strong_explicit(&t->state, &is, STARTING, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void note_failure(struct guard_thread *t, int rc) {
    if (t->failures == 0) {
        hp_log(HP_LOG_WARN, "the thread %s can't be made (%s); %s", t->name, strerrordesc_np(rc), t->loss);
    }
    int64_t pause = SECOND << (t->failures < 6 ? t->failures : 6);
    t->failures++;
    atomic_store_explicit(&t->retry_at, hp_clock_ns() + pause, memory_order_relaxed);
    atomic_store_explicit(&t->state, FAILED, memory_order_release);
}

bool guard_thread_start(struct guard_thread *t) {
    if (!may_start(t)) {
        return guard_thread_is_there(t);
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits it */
    int rc = create_with_stack(t);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        note_failure(t, rc);
        return false;
    }
    int starting = STARTING; /* unless the thread has found its stack too small already */
    atomic_compare_exchange_strong_explicit(&t->state, &starting, RUNNING, memory_order_acq_rel,
                                            memory_order_relaxed);
    return true;
}

bool guard_thread_is_there(const struct guard_thread *t) {
    int is = atomic_load_explicit(&t->state, memory_order_acquire);
    return is == STARTING || is == RUNNING;
}

bool guard_thread_is_self(const struct guard_thread *t) {
    return self == t;
}

void guard_threads_close(void) {
    atomic_store(&is_over, true);
}

void guard_threads_open(void) {
    atomic_store(&is_over, false);
}

bool guard_threads_are_over(void) {
    return atomic_load_explicit(&is_over, memory_order_acquire);
}

void guard_thread_join(struct guard_thread *t, int64_t deadline) {
    while (atomic_load_explicit(&t->state, memory_order_acquire) == STARTING && hp_clock_ns() < deadline) {
        hp_sys_sleep(JOIN_PAUSE_NS);
    }
    if (atomic_load_explicit(&t->state, memory_order_acquire) != RUNNING) {
        return;
    }
    struct timespec until = {.tv_sec = deadline / SECOND, .tv_nsec = deadline % SECOND};
    if (pthread_clockjoin_np(t->handle, NULL, CLOCK_MONOTONIC, &until) == 0) {
        atomic_store_explicit(&t->state, NONE, memory_order_release);
    }
}

void guard_thread_forget(struct guard_thread *t) {
    if (self == t) {
        t->stack =
            NULL; /* a callback of the application forked on it: the child's only thread stands there */
        self = NULL;
    }
    t->failures = 0;
    atomic_store_explicit(&t->state, NONE, memory_order_release);
}

/* One call: unshare(2) is denied in containers that allow this one, and would first copy the table. */
bool guard_thread_leave_descriptors(void) {
    if (syscall(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE) != 0) {
        return false;
    }
    hp_log_find_standard_error();
    return true;
}
