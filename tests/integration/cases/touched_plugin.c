/* A plugin with thread-local memory, too much for the static block: libc allocates it for each thread that
 * touches it. */
#include <stdlib.h>

__attribute__((visibility("default"))) size_t plugin_touch(size_t n);

static __thread char large[20000];
static __thread size_t last = 1;

size_t plugin_touch(size_t n) {
    char *p = malloc(n + 1);
    large[n % sizeof large] = p != NULL;
    free(p);
    last = n + 1;
    return last;
}
