#include "heapprof/held.h"

#include <stdatomic.h>

#include "heapprof/base/parse.h"
#include "heapprof/base/procfs.h"

enum { PAGE = 4096 };

static _Atomic uint64_t held;

void hp_held_add(uint64_t bytes) {
    atomic_fetch_add_explicit(&held, bytes, memory_order_relaxed);
}

void hp_held_subtract(uint64_t bytes) {
    atomic_fetch_sub_explicit(&held, bytes, memory_order_relaxed);
}

/* proc_pid_statm(5): "size resident shared …", in pages; the shared ones are files'. */
uint64_t hp_held_untouched(void) {
    char text[128];
    uint64_t pages[3] = {0};
    if (hp_procfs_read("/proc/self/statm", text, sizeof text) < 0) {
        return 0;
    }
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        at += *at == ' ';
        if (hp_parse_u64(at, &pages[i], &at) != 0) {
            return 0;
        }
    }
    uint64_t anonymous = (pages[1] > pages[2] ? pages[1] - pages[2] : 0) * PAGE;
    uint64_t holds = atomic_load_explicit(&held, memory_order_relaxed);
    return holds > anonymous ? holds - anonymous : 0;
}
