#include "heapprof/intake/allocator.h"

#include <errno.h>
#include <stdint.h>

#include "heapprof/base/arena.h"
#include "heapprof/intake/thread_state.h"

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define MALLCTL_ARENAS_ALL 4096 /* jemalloc(3): all arenas, in the place of an index */

/* An arena's first block and a cache's, with what it takes to align them: 6 MiB were seen. */
#define ENTRY_BYTES ((size_t)16 << 20)

static __thread bool has_entered __attribute__((tls_model("initial-exec")));

/* Whether the thread has allocated for the application: its countdown was drawn, or is over for good. */
static bool has_allocated(const struct hp_thread *t) {
    return t->random != 0 || (t->muted == 0 && t->left != 0);
}

bool hp_allocator_enter(void) {
    int saved = errno;
    if (!has_entered && (has_allocated(&hp_thread) || hp_pages_have_room(ENTRY_BYTES))) {
        je_free(je_malloc(1));
        has_entered = true;
    }
    errno = saved;
    return has_entered;
}

void hp_allocator_purge(void) {
    if (!hp_allocator_enter()) {
        return;
    }
    (void)je_mallctl("arena." TEXT_OF(MALLCTL_ARENAS_ALL) ".purge", NULL, NULL, NULL, 0);
}

static size_t read_size(const char *name) {
    size_t value = 0;
    size_t bytes = sizeof value;
    return je_mallctl(name, &value, &bytes, NULL, 0) == 0 ? value : 0;
}

void hp_allocator_totals(size_t *allocated, size_t *resident) {
    uint64_t epoch = 1;
    *allocated = 0;
    *resident = 0;
    if (!hp_allocator_enter()) {
        return;
    }
    (void)je_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch); /* statistics are as of the last epoch */
    *allocated = read_size("stats.allocated");
    *resident = read_size("stats.resident");
}
