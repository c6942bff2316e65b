/*
 * What threads that allocate and sample at the same time hinder each other: each makes the given number of pairs of
 * malloc and free, 16..1039 bytes over a working set of its own, all through one call path. Prints millions of pairs
 * a second, of all threads together, and ns of processor time a pair.
 *
 *   thread_scaling THREADS [PAIRS, in millions, of all threads together]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 256, SET = 256 };

static pthread_barrier_t begin;
static long pairs_each;

static double seconds(clockid_t clock) {
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *work(void *number) {
    void *set[SET] = {NULL};
    unsigned random = (unsigned)(size_t)number + 1;
    pthread_barrier_wait(&begin);
    for (long i = 0; i < pairs_each; i++) {
        random = random * 1664525U + 1013904223U;
        void **slot = &set[(random >> 10) % SET];
        free(*slot);
        *slot = malloc(16 + (random >> 18) % 1024);
    }
    for (unsigned i = 0; i < SET; i++) {
        free(set[i]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    static pthread_t threads[THREADS_MAX];
    int count = argc > 1 ? atoi(argv[1]) : 1;
    double pairs = (argc > 2 ? atof(argv[2]) : 8) * 1e6;
    if (count < 1 || count > THREADS_MAX || pairs < count) {
        return 2;
    }
    pairs_each = (long)(pairs / count);
    pthread_barrier_init(&begin, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(size_t)i) != 0) {
            perror("pthread_create");
            return 1;
        }
    }
    double processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double start = seconds(CLOCK_MONOTONIC);
    pthread_barrier_wait(&begin);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    double elapsed = seconds(CLOCK_MONOTONIC) - start;
    processor = seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
    double made = (double)pairs_each * count;
    printf("%.2f %.2f\n", made / elapsed * 1e-6, processor / made * 1e9);
    return 0;
}
