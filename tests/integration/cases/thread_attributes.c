/*
 * thread_attributes SECONDS: threads ask libc for each other's attributes, again and again:
 * pthread_getattr_np holds the lock of the thread it is about while it allocates (P4). Meanwhile others begin
 * and end, and allocate.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { ASKERS = 4 };

static pthread_t askers[ASKERS];
static pthread_barrier_t all_there;
static time_t until;
static _Atomic unsigned long answers;

static void ask_about(pthread_t thread) {
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t bytes = 0;
    CHECK(pthread_getattr_np(thread, &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &stack, &bytes) == 0 && bytes > 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    free(malloc(bytes % 5000));
    answers++;
}

static void *ask(void *me) {
    pthread_barrier_wait(&all_there);
    for (unsigned i = 0; time(NULL) < until; i++) {
        ask_about(pthread_self());
        ask_about(askers[(i + (unsigned)(uintptr_t)me) % ASKERS]);
    }
    pthread_barrier_wait(&all_there); /* nobody ends while others ask about it */
    return NULL;
}

static void *begin_and_end(void *unused) {
    ask_about(pthread_self());
    return unused;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    alarm(50);
    until = time(NULL) + atoi(argv[1]);
    CHECK(pthread_barrier_init(&all_there, NULL, ASKERS + 1) == 0);
    for (int i = 0; i < ASKERS; i++) {
        CHECK(pthread_create(&askers[i], NULL, ask, (void *)(uintptr_t)i) == 0);
    }
    pthread_barrier_wait(&all_there);
    while (time(NULL) < until) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, begin_and_end, NULL) == 0 && pthread_join(thread, NULL) == 0);
        ask_about(pthread_self()); /* the main thread's: libc reads /proc/self/maps */
    }
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < ASKERS; i++) {
        CHECK(pthread_join(askers[i], NULL) == 0);
    }
    CHECK(answers > 100);
    return 0;
}
