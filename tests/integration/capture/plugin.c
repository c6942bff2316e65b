/* Loaded by the target. */
#include <stdlib.h>

void plugin_hold(void);

static __attribute__((noinline)) void *plugin_grab(size_t bytes) {
    static void *volatile held;
    held = malloc(bytes);
    return held;
}

void plugin_hold(void) {
    if (plugin_grab(300000) == NULL)
        abort();
}
