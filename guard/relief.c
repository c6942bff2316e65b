#include "guard/relief.h"

#include <stdatomic.h>
#include <stddef.h>

#include "guard/state.h"
#include "guard/thread.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"

#define PATIENCE_NS INT64_C(1000000000)

static void relief_body(void);
static struct guard_thread thread = {
    .name = "heapprof-relief", .body = relief_body, .loss = "pressure callbacks are not called"};

static _Atomic bool is_expected;

/* Counts of calls. The thread is idle when they are equal; only then `crossing` is written. */
static _Atomic uint32_t asked;
static _Atomic uint32_t done;
static struct guard_crossing crossing;

/* Changes when the asker should look up: a call has ended, or somebody is in a hurry. */
static _Atomic uint32_t bell;
static _Atomic bool is_hurried;

static void ring(void) {
    atomic_fetch_add_explicit(&bell, 1, memory_order_release);
    hp_sys_futex_wake(&bell, 1);
}

static void relief_body(void) {
    for (;;) {
        uint32_t call = atomic_load_explicit(&asked, memory_order_acquire);
        if (guard_threads_are_over()) {
            return;
        }
        if (call == atomic_load_explicit(&done, memory_order_relaxed)) {
            hp_sys_futex_wait(&asked, call, -1);
            continue;
        }
        guard_state.host->pressure(&crossing);
        if (!guard_relief_is_self()) {
            return; /* in a child that a callback has forked */
        }
        atomic_store_explicit(&done, call, memory_order_release);
        ring();
    }
}

void guard_relief_expect(void) {
    atomic_store_explicit(&is_expected, true, memory_order_relaxed);
}

bool guard_relief_wants_start(void) {
    return atomic_load_explicit(&is_expected, memory_order_relaxed) && !guard_thread_is_there(&thread);
}

void guard_relief_start(void) {
    if (guard_relief_wants_start()) {
        (void)guard_thread_start(&thread);
    }
}

static bool is_idle(void) {
    return atomic_load_explicit(&done, memory_order_acquire) ==
           atomic_load_explicit(&asked, memory_order_relaxed);
}

static bool wait(int64_t patience) {
    int64_t deadline = hp_clock_ns() + patience;
    for (;;) {
        uint32_t heard = atomic_load_explicit(&bell, memory_order_acquire);
        if (is_idle()) {
            return true;
        }
        int64_t left = deadline - hp_clock_ns();
        if (left <= 0 || atomic_load_explicit(&is_hurried, memory_order_relaxed)) {
            return false;
        }
        hp_sys_futex_wait(&bell, heard, left);
    }
}

bool guard_relief_ask(const struct guard_crossing *what) {
    if (guard_state.host->pressure == NULL || !guard_thread_is_there(&thread) || !is_idle()) {
        return false;
    }
    int64_t half_gate = guard_gate_ns() / 2;
    bool is_pressed = what->is_last && half_gate > 0 && half_gate < PATIENCE_NS;
    crossing = *what;
    atomic_fetch_add_explicit(&asked, 1, memory_order_release);
    hp_sys_futex_wake(&asked, 1);
    bool ended = wait(is_pressed ? half_gate : PATIENCE_NS);
    if (!ended) {
        hp_log(HP_LOG_WARN, "a pressure callback takes too long; the dump does not wait for it");
    }
    return ended;
}

void guard_relief_take_time(void) {
    atomic_store_explicit(&is_hurried, false, memory_order_relaxed);
}

void guard_relief_hurry(void) {
    atomic_store_explicit(&is_hurried, true, memory_order_relaxed);
    ring();
}

bool guard_relief_is_self(void) {
    return guard_thread_is_self(&thread);
}

/* A call that nobody waits for: its thread ends before it makes it. */
void guard_relief_wake(void) {
    guard_relief_hurry();
    atomic_fetch_add_explicit(&asked, 1, memory_order_release);
    hp_sys_futex_wake(&asked, 1);
}

void guard_relief_join(int64_t deadline) {
    guard_thread_join(&thread, deadline);
}

void guard_relief_forget(void) {
    guard_thread_forget(&thread);
    atomic_store_explicit(&asked, 0, memory_order_relaxed);
    atomic_store_explicit(&done, 0, memory_order_relaxed);
}
