/* service PATH: allocates under functions of known names, and dumps to PATH. */
#include <heapprof/heapprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *volatile held;

__attribute__((noinline)) static void hold_the_memory(size_t bytes) {
    held = malloc(bytes);
}

__attribute__((noinline)) static void serve_request(void) {
    hold_the_memory(123456);
}

int main(int argc, char **argv) {
    if (argc != 2 || !heapprof_is_active()) {
        (void)fprintf(stderr, "heapprof %s is not active\n", heapprof_version());
        return 1;
    }
    serve_request();
    int error = heapprof_dump(argv[1]);
    if (error != 0) {
        (void)fprintf(stderr, "%s: %s\n", argv[1], strerror(error));
    }
    return error != 0;
}
