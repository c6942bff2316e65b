/*
 * Leaks small objects as fast as one thread can, touching each, until the kernel kills it. A quarter goes to a
 * second site, so that a profile that is right names leak_labels first and one that guesses does not.
 */
#include <stdlib.h>
#include <string.h>

static void *volatile keep;

__attribute__((noinline)) static void leak_labels(size_t bytes) {
    void **object = malloc(bytes);
    memset(object, 1, bytes);
    *object = keep;
    keep = object;
}

__attribute__((noinline)) static void leak_names(size_t bytes) {
    void **object = malloc(bytes);
    memset(object, 2, bytes);
    *object = keep;
    keep = object;
}

int main(void) {
    for (size_t i = 0;; i++) {
        leak_labels(48 + i % 7 * 16);
        if (i % 4 == 0) {
            leak_names(96);
        }
    }
}
