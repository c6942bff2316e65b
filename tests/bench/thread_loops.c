/*
 * Threads that allocate and free, each from many stacks of its own choosing: the pairs that they do in a
 * second, and in a second of CPU time, together; how often one of them had to wait for another; and the
 * memory that the process then has, while all of them live.
 *
 *   thread_loops THREADS MILLISECONDS      as many pairs as fit
 *   thread_loops THREADS 0 PAIRS           each thread as many
 */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

enum { SET = 64, BATCH = 64, LEVELS = 10, PATHS = 256, THREADS_MAX = 1024 };

struct worker {
    pthread_t thread;
    unsigned long seed;
    unsigned long pairs;
    void *set[SET];
};

static struct worker workers[THREADS_MAX];
static unsigned long pairs_wanted; /* 0: until is_over */
static atomic_bool is_over;
static pthread_barrier_t all;
static volatile unsigned calls;

static void do_batch(struct worker *worker) {
    for (int i = 0; i < BATCH; i++) {
        unsigned long random = bench_next_random(&worker->seed);
        void **slot = &worker->set[random % SET];
        free(*slot);
        *slot = malloc(16 + (random >> 32) % 1024);
    }
    worker->pairs += BATCH;
}

static void even(struct worker *worker, unsigned long path, int levels);
static void odd(struct worker *worker, unsigned long path, int levels);

/* The path's bits choose the functions on the stack. */
static void descend(struct worker *worker, unsigned long path, int levels) {
    if (levels == 0) {
        do_batch(worker);
    } else {
        ((path & 1) != 0 ? odd : even)(worker, path >> 1, levels - 1);
    }
    calls++; /* no tail call */
}

__attribute__((noinline)) static void even(struct worker *worker, unsigned long path, int levels) {
    descend(worker, path, levels);
    calls++;
}

__attribute__((noinline)) static void odd(struct worker *worker, unsigned long path, int levels) {
    descend(worker, path, levels);
    calls += 2; /* not the same code as even() */
}

static bool goes_on(const struct worker *worker) {
    return pairs_wanted != 0 ? worker->pairs < pairs_wanted
                             : !atomic_load_explicit(&is_over, memory_order_relaxed);
}

static void *work(void *arg) {
    struct worker *worker = arg;
    pthread_barrier_wait(&all);
    while (goes_on(worker)) {
        descend(worker, bench_next_random(&worker->seed) % PATHS, LEVELS);
    }
    pthread_barrier_wait(&all); /* worked */
    pthread_barrier_wait(&all); /* looked at */
    return NULL;
}

static unsigned long pairs_of(int threads) {
    unsigned long pairs = 0;
    for (int i = 0; i < threads; i++) {
        pairs += workers[i].pairs;
    }
    return pairs;
}

/* What the threads did since `before`, in `ns`. A thread that sleeps on a lock makes a voluntary switch. */
static void print_work(int threads, double ns, double cpu_ns, const struct rusage *before) {
    struct rusage after;
    double pairs = (double)pairs_of(threads);
    getrusage(RUSAGE_SELF, &after);
    printf("pairs_a_second=%.0f\npairs_a_cpu_second=%.0f\nwaits_a_million=%.1f\n", pairs / ns * 1e9,
           pairs / cpu_ns * 1e9, (double)(after.ru_nvcsw - before->ru_nvcsw) / pairs * 1e6);
}

int main(int argc, char **argv) {
    int threads = argc > 2 ? atoi(argv[1]) : 0;
    int milliseconds = argc > 2 ? atoi(argv[2]) : 0;
    pairs_wanted = argc > 3 && milliseconds == 0 ? strtoul(argv[3], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX || (milliseconds < 1 && pairs_wanted == 0)) {
        fprintf(stderr, "usage: thread_loops THREADS MILLISECONDS | THREADS 0 PAIRS\n");
        return 2;
    }
    pthread_barrier_init(&all, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        workers[i].seed = 88172645463325252U + (unsigned long)i * 7919;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "thread_loops: no more than %d threads\n", i);
            return 1;
        }
    }
    pthread_barrier_wait(&all);
    struct rusage before;
    getrusage(RUSAGE_SELF, &before);
    double start = bench_now_ns(CLOCK_MONOTONIC);
    double cpu_start = bench_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (milliseconds > 0) {
        (void)usleep((unsigned)milliseconds * 1000);
        atomic_store_explicit(&is_over, true, memory_order_relaxed);
    }
    pthread_barrier_wait(&all);
    double took = bench_now_ns(CLOCK_MONOTONIC) - start;
    print_work(threads, took, bench_now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start, &before);
    bench_print_memory();
    pthread_barrier_wait(&all);
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    return 0;
}
