/*
 * Threads that allocate and sample, for what heapprof needs for itself: each makes 8 MB of objects of 16..1039 bytes
 * in a few call paths, 256 of them alive at a time. Prints the anonymous resident memory of the process in KiB while
 * all of them are still there.
 *
 *   thread_heaps THREADS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, LIVE = 256, BYTES = 8 << 20, STACK = 256 << 10, PATHS = 8 };

static pthread_barrier_t all_done;
static pthread_barrier_t measured;
static volatile unsigned calls;

__attribute__((noinline)) static void *take(unsigned depth, size_t size) {
    void *object = depth == 0 ? malloc(size) : take(depth - 1, size);
    calls++; /* no tail call */
    return object;
}

static void *churn(void *number) {
    void *live[LIVE] = {NULL};
    unsigned random = (unsigned)(size_t)number + 1;
    for (size_t made = 0; made < BYTES;) {
        random = random * 1664525U + 1013904223U;
        size_t size = 16 + (random >> 8) % 1024;
        void **slot = &live[(random >> 20) % LIVE];
        free(*slot);
        *slot = take((random >> 4) % PATHS, size);
        if (*slot == NULL) {
            abort();
        }
        memset(*slot, 1, size);
        made += size;
    }
    pthread_barrier_wait(&all_done);
    pthread_barrier_wait(&measured);
    for (unsigned i = 0; i < LIVE; i++) {
        free(live[i]);
    }
    return NULL;
}

static long resident_kib(void) {
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "RssAnon: %ld", &kib);
    }
    if (status != NULL) {
        fclose(status);
    }
    return kib;
}

int main(int argc, char **argv) {
    static pthread_t threads[THREADS_MAX];
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    pthread_attr_t attributes;
    if (count == 0 || count > THREADS_MAX) {
        return 2;
    }
    pthread_barrier_init(&all_done, NULL, count + 1);
    pthread_barrier_init(&measured, NULL, count + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], &attributes, churn, (void *)(size_t)i) != 0) {
            perror("pthread_create");
            return 1;
        }
    }
    pthread_barrier_wait(&all_done);
    printf("%ld\n", resident_kib());
    pthread_barrier_wait(&measured);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
