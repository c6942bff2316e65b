/*
 * Many live objects: the memory that the process has with them, and what a malloc and a free cost among so
 * many, in ns of CPU time. The objects are linked to each other: nothing else grows with their number.
 *
 *   live_objects COUNT BYTES
 */
#include "bench.h"

struct object {
    struct object *next;
};

int main(int argc, char **argv) {
    long count = argc == 3 ? atol(argv[1]) : 0;
    size_t bytes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (count < 1 || bytes < sizeof(struct object)) {
        fprintf(stderr, "usage: live_objects COUNT BYTES\n");
        return 2;
    }
    struct object *all = NULL;
    double start = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < count; i++) {
        struct object *one = malloc(bytes);
        if (one == NULL) {
            fprintf(stderr, "live_objects: no memory for more than %ld\n", i);
            return 1;
        }
        memset(one, 1, bytes);
        one->next = all;
        all = one;
    }
    double made = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    bench_print_memory();
    double freeing = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    while (all != NULL) {
        struct object *next = all->next;
        free(all);
        all = next;
    }
    double freed = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    printf("malloc_ns=%.2f\nfree_ns=%.2f\n", (made - start) / (double)count,
           (freed - freeing) / (double)count);
    return 0;
}
