#include "guard/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heapprof/base/arena.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"

#define SECOND INT64_C(1000000000)

enum { NONE, STARTING, RUNNING, FAILED };

/* What a dump and the application's callbacks may use of the stack. The C library takes the static TLS of all
 * loaded libraries off the same memory, and does not say how much that is: so it is measured. */
enum { STACK_ROOM = 64 * 1024, STACK_TRIED_MAX = 8 * 1024 * 1024 };

static _Atomic int state;
static _Atomic int64_t retry_at; /* while FAILED */

/* Written by the thread that has set STARTING, and by the new one before it says that it runs. */
static unsigned failures;
static char *stack;                /* above the page that faults; NULL: none yet */
static _Atomic size_t stack_bytes; /* to ask for, or of `stack` */

static __thread bool is_self __attribute__((tls_model("initial-exec")));

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t first_stack_bytes(void) {
    long least = sysconf(_SC_THREAD_STACK_MIN);
    size_t bytes = (least > 0 ? (size_t)least : 16384) + STACK_ROOM + STACK_ROOM / 4;
    return (bytes + page_bytes() - 1) & ~(page_bytes() - 1);
}

static bool map_stack(void) {
    if (stack != NULL) {
        return true;
    }
    size_t bytes = atomic_load_explicit(&stack_bytes, memory_order_relaxed);
    char *pages = hp_pages_map_present(page_bytes() + bytes);
    if (pages == NULL) {
        return false;
    }
    (void)syscall(SYS_mprotect, pages, page_bytes(), PROT_NONE);
    stack = pages + page_bytes();
    return true;
}

/* The stack is too small for what the process loads: the next one is twice as big. This one is given up,
 * since its thread may still stand on it. */
static void outgrow_stack(void) {
    size_t bytes = atomic_load_explicit(&stack_bytes, memory_order_relaxed);
    stack = NULL;
    atomic_store_explicit(&stack_bytes, bytes * 2, memory_order_relaxed);
}

static void *thread_main(void *body) {
    if ((size_t)((char *)__builtin_frame_address(0) - stack) < STACK_ROOM) {
        outgrow_stack();
        atomic_store_explicit(&state, NONE, memory_order_release);
        return NULL;
    }
    is_self = true;
    (void)syscall(SYS_prctl, PR_SET_NAME, "heapprof-guard", 0, 0, 0);
    void (*run)(void) = NULL;
    memcpy(&run, &body, sizeof run);
    run();
    return NULL;
}

static int create(void (*body)(void)) {
    void *argument = NULL;
    memcpy(&argument, &body, sizeof argument); /* ISO C casts no function to an object's pointer */
    pthread_attr_t attributes;
    pthread_t thread;
    int rc = pthread_attr_init(&attributes);
    if (rc != 0) {
        return rc;
    }
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    rc = pthread_attr_setstack(&attributes, stack, atomic_load_explicit(&stack_bytes, memory_order_relaxed));
    if (rc == 0) {
        rc = pthread_create(&thread, &attributes, thread_main, argument);
    }
    (void)pthread_attr_destroy(&attributes);
    return rc;
}

static int create_with_stack(void (*body)(void)) {
    if (atomic_load_explicit(&stack_bytes, memory_order_relaxed) == 0) {
        atomic_store_explicit(&stack_bytes, first_stack_bytes(), memory_order_relaxed);
    }
    while (map_stack()) {
        int rc = create(body);
        if (rc != EINVAL || atomic_load_explicit(&stack_bytes, memory_order_relaxed) >= STACK_TRIED_MAX) {
            return rc;
        }
        outgrow_stack();
    }
    return ENOMEM;
}

static bool may_start(void) {
    int is = atomic_load_explicit(&state, memory_order_acquire);
    if (is == FAILED && hp_clock_ns() < atomic_load_explicit(&retry_at, memory_order_relaxed)) {
        return false;
    }
    return (is == NONE || is == FAILED) &&
           atomic_compare_exchange_strong_explicit(&state, &is, STARTING, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void note_failure(int rc) {
    if (failures == 0) {
        hp_log(HP_LOG_WARN, "the guard's thread can't be made (%s); the limit is watched at allocations only",
               strerrordesc_np(rc));
    }
    int64_t pause = SECOND << (failures < 6 ? failures : 6);
    failures++;
    atomic_store_explicit(&retry_at, hp_clock_ns() + pause, memory_order_relaxed);
    atomic_store_explicit(&state, FAILED, memory_order_release);
}

bool guard_thread_start(void (*body)(void)) {
    if (!may_start()) {
        return guard_thread_is_there();
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits it */
    int rc = create_with_stack(body);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        note_failure(rc);
        return false;
    }
    int starting = STARTING; /* unless the thread has found its stack too small already */
    atomic_compare_exchange_strong_explicit(&state, &starting, RUNNING, memory_order_acq_rel,
                                            memory_order_relaxed);
    return true;
}

bool guard_thread_is_there(void) {
    int is = atomic_load_explicit(&state, memory_order_acquire);
    return is == STARTING || is == RUNNING;
}

bool guard_thread_is_self(void) {
    return is_self;
}

void guard_thread_forget(void) {
    if (is_self) {
        stack = NULL; /* a callback of the application forked on it: the child's only thread stands there */
        is_self = false;
    }
    failures = 0;
    atomic_store_explicit(&state, NONE, memory_order_release);
}
