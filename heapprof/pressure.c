#include "heapprof/pressure.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { CALLBACKS_MAX = 8 };

/* A slot is claimed, filled, and then shown by its callback. */
static struct {
    _Atomic(heapprof_pressure *) callback;
    void *context;
} slots[CALLBACKS_MAX];
static _Atomic unsigned claimed;

int hp_pressure_add(heapprof_pressure *callback, void *context) {
    unsigned mine = atomic_fetch_add(&claimed, 1);
    if (mine >= CALLBACKS_MAX) {
        atomic_store(&claimed, CALLBACKS_MAX);
        return ENOSPC;
    }
    slots[mine].context = context;
    atomic_store_explicit(&slots[mine].callback, callback, memory_order_release);
    guard_expect_pressure();
    return 0;
}

void hp_pressure_call(const struct guard_crossing *crossing) {
    struct heapprof_memory memory = {.usage = crossing->reading.usage, .limit = crossing->reading.limit};
    _Static_assert(sizeof memory.source == sizeof crossing->reading.source, "one text, two structs");
    memcpy(memory.source, crossing->reading.source, sizeof memory.source);
    for (unsigned i = 0; i < CALLBACKS_MAX; i++) {
        heapprof_pressure *callback = atomic_load_explicit(&slots[i].callback, memory_order_acquire);
        if (callback != NULL) {
            callback(&memory, crossing->threshold, slots[i].context);
        }
    }
}
