#include "heapprof/unwind/unwinder.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"
#include "heapprof/unwind/phdr_shim.h"

/* More than the frames between the application and unw_backtrace; they are cut off the result. */
enum { OWN_FRAMES_MAX = 12, DEPTH_MAX = 128, FORK_PATIENCE_MS = 1000 };

typedef int backtrace_function(void **buffer, int size);

static backtrace_function *backtrace_of_libunwind;

/* Unwinding threads, so that fork() can wait for none. Raised before `closed` is looked at. */
static _Atomic uint32_t inside;
static _Atomic bool closed;

static void try_once(void) {
    void *pcs[OWN_FRAMES_MAX];
    (void)backtrace_of_libunwind(pcs, OWN_FRAMES_MAX);
}

bool hp_unwinder_init(void) {
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        hp_log(HP_LOG_WARN, "libunwind.so.8 can't be loaded (%s); stacks will have one frame", dlerror());
        return false;
    }
    backtrace_of_libunwind = (backtrace_function *)dlsym(library, "unw_backtrace");
    if (backtrace_of_libunwind == NULL || !hp_phdr_shim_check(try_once)) {
        backtrace_of_libunwind = NULL;
        hp_log(HP_LOG_WARN, "this libunwind.so.8 is not one that can be used without the loader's lock; "
                            "stacks will have one frame");
        return false;
    }
    return true;
}

static bool enter(void) {
    atomic_fetch_add(&inside, 1);
    if (!atomic_load(&closed)) {
        return true;
    }
    atomic_fetch_sub(&inside, 1);
    return false;
}

static uint32_t backtrace(void **pcs, int max) {
    if (backtrace_of_libunwind == NULL || !enter()) {
        return 0;
    }
    hp_phdr_shim_begin();
    int depth = backtrace_of_libunwind(pcs, max);
    hp_phdr_shim_end();
    atomic_fetch_sub(&inside, 1);
    return depth > 0 ? (uint32_t)depth : 0;
}

/* The first frame of the application: the one that returns to `caller`. `depth` when there is none. */
static uint32_t first_of_application(void *const *found, uint32_t depth, const void *caller) {
    uint32_t first = 0;
    while (first < depth && found[first] != caller) {
        first++;
    }
    return first;
}

uint32_t hp_unwinder_take(uintptr_t *pcs, uint32_t max, const void *caller, bool *truncated) {
    void *found[DEPTH_MAX + OWN_FRAMES_MAX + 1];
    uint32_t room = max < DEPTH_MAX ? max : DEPTH_MAX;
    uint32_t depth = backtrace(found, (int)(room + OWN_FRAMES_MAX + 1));
    uint32_t first = first_of_application(found, depth, caller);
    if (first == depth) { /* no unwinder, a fork under way, or lost inside our own frames */
        pcs[0] = (uintptr_t)caller - 1;
        *truncated = true;
        return 1;
    }
    uint32_t taken = 0;
    for (uint32_t i = first; i < depth && taken < room && found[i] != NULL; i++) {
        pcs[taken++] = (uintptr_t)found[i] - 1;
    }
    *truncated = first + taken < depth && found[first + taken] != NULL;
    return taken;
}

void hp_unwinder_fork_prepare(void) {
    atomic_store(&closed, true);
    int64_t deadline = hp_clock_ns() + FORK_PATIENCE_MS * INT64_C(1000000);
    for (uint32_t n = atomic_load(&inside); n != 0 && hp_clock_ns() < deadline; n = atomic_load(&inside)) {
        hp_sys_futex_wait(&inside, n, 100000); /* no one wakes it: it is a short sleep */
    }
}

void hp_unwinder_fork_parent(void) {
    atomic_store(&closed, false);
}

void hp_unwinder_fork_child(void) {
    if (atomic_load(&inside) != 0) {
        backtrace_of_libunwind = NULL;
        atomic_store(&inside, 0);
    }
    atomic_store(&closed, false);
}
