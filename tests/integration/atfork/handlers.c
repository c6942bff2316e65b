/*
 * A library as many are: its constructor registers handlers for fork(). It is initialised before a preloaded
 * library, unless that one asks to be first; and the handlers that were registered first hold their locks longest.
 */
#include "handlers.h"

#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;

static void *allocate(void *arg) {
    for (int i = 0; i < 100; i++) {
        void *volatile object = malloc(5000);
        free(object);
    }
    return arg;
}

static void before(void) {
    pthread_mutex_lock(&handlers_lock);
}

static void after(void) {
    pthread_mutex_unlock(&handlers_lock);
}

/* Starts its worker again, and waits for it to be at work. */
static void after_in_child(void) {
    pthread_t worker;
    pthread_mutex_unlock(&handlers_lock);
    if (pthread_create(&worker, NULL, allocate, NULL) == 0) {
        pthread_join(worker, NULL);
    }
}

__attribute__((constructor)) static void begin(void) {
    pthread_atfork(before, after, after_in_child);
}
