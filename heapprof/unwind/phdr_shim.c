#include "heapprof/unwind/phdr_shim.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/unwind/loader_view.h"

typedef int iterate_callback(struct dl_phdr_info *info, size_t size, void *data);
typedef int iterate_function(iterate_callback *callback, void *data);

static __thread bool answering __attribute__((tls_model("initial-exec")));
static _Atomic unsigned asked;
static _Atomic unsigned found;

void hp_phdr_shim_begin(void) {
    answering = true;
    atomic_signal_fence(memory_order_seq_cst);
}

void hp_phdr_shim_end(void) {
    atomic_signal_fence(memory_order_seq_cst);
    answering = false;
}

bool hp_phdr_shim_check(void (*unwind)(void)) {
    atomic_store(&asked, 0);
    atomic_store(&found, 0);
    hp_phdr_shim_begin();
    unwind();
    hp_phdr_shim_end();
    return atomic_load(&found) > 0 && atomic_load(&found) == atomic_load(&asked);
}

static int answer(iterate_callback *callback, void *data) {
    uintptr_t pc = *(const uintptr_t *)data;
    struct hp_loaded loaded;
    bool known = hp_loader_view_find(pc, &loaded);
    atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    if (!known) {
        return 0;
    }
    atomic_fetch_add_explicit(&found, 1, memory_order_relaxed);
    struct dl_phdr_info info = {
        .dlpi_addr = loaded.base,
        .dlpi_name = loaded.name,
        .dlpi_phdr = loaded.headers,
        .dlpi_phnum = (ElfW(Half))loaded.header_count,
    };
    return callback(&info, sizeof info, data);
}

/* Resolved at the first call that is not ours: dlsym's own locks are then the caller's to take. */
static iterate_function *next_iterate(void) {
    static _Atomic(iterate_function *) next;
    iterate_function *function = atomic_load_explicit(&next, memory_order_relaxed);
    if (function == NULL) {
        function = (iterate_function *)dlsym(RTLD_NEXT, "dl_iterate_phdr");
        atomic_store_explicit(&next, function, memory_order_relaxed);
    }
    return function;
}

__attribute__((visibility("default"))) int dl_iterate_phdr(iterate_callback *callback, void *data) {
    if (answering) {
        return answer(callback, data);
    }
    iterate_function *next = next_iterate();
    return next == NULL ? -1 : next(callback, data);
}
