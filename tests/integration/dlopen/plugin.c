/* A small plugin. Its constructor, destructor and work allocate and free. PLUGIN is its number. */
#include <stdlib.h>
#include <string.h>

void *plugin_work(size_t n);
void *plugin_keep(size_t n);

static void *constructed;
static __thread char local[256]; /* dlopen gives each thread its own, at first touch */

__attribute__((constructor)) static void begin(void) {
    constructed = malloc(100 * PLUGIN);
}

__attribute__((destructor)) static void end(void) {
    free(constructed);
}

/* The same code in each plugin, but for the size of its stack frame. */
__attribute__((noinline)) void *plugin_keep(size_t n) {
    volatile char frame[1000 * PLUGIN];
    frame[0] = 1;
    local[0] = frame[0]; /* used */
    void *p = malloc(n);
    if (p != NULL) {
        memset(p, PLUGIN, n);
    }
    return p;
}

void *plugin_work(size_t n) {
    local[n % sizeof local] = 1;
    for (size_t i = 1; i < 20; i++) {
        free(realloc(plugin_keep(i * 10), i * n));
    }
    return plugin_keep(n);
}
