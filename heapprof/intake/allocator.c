#include "heapprof/intake/allocator.h"

#include <stdint.h>

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define MALLCTL_ARENAS_ALL 4096 /* jemalloc(3): all arenas, in the place of an index */

void hp_allocator_purge(void) {
    (void)je_mallctl("arena." TEXT_OF(MALLCTL_ARENAS_ALL) ".purge", NULL, NULL, NULL, 0);
}

static size_t read_size(const char *name) {
    size_t value = 0;
    size_t bytes = sizeof value;
    return je_mallctl(name, &value, &bytes, NULL, 0) == 0 ? value : 0;
}

void hp_allocator_totals(size_t *allocated, size_t *resident) {
    uint64_t epoch = 1;
    (void)je_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch); /* statistics are as of the last epoch */
    *allocated = read_size("stats.allocated");
    *resident = read_size("stats.resident");
}
