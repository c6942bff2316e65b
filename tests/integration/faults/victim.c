/*
 * victim [COUNT]: allocates in small pieces, in a thread too; then, between two marks, so many (default: 3)
 * pieces of 20 MiB, which crosses its limit. What malloc refuses it does without. Prints "done" and ends
 * with 42.
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"
#include "mark.h"

enum { PIECE = 20 << 20, PIECES_MAX = 10 };

static char *pieces[PIECES_MAX];
static pthread_barrier_t meeting;

static __attribute__((noinline)) void *small_ones(void *unused) {
    char *kept[100] = {NULL};
    for (size_t i = 0; i < 5000; i++) {
        char **place = &kept[i % 100];
        char *moved = realloc(*place, 1 + i * 7 % 3000);
        if (moved != NULL) {
            moved[0] = 1;
            *place = moved;
        }
    }
    for (int i = 0; i < 100; i++) {
        free(kept[i]);
    }
    return unused;
}

/* Lives on while the main thread grows, with its arena of jemalloc's: no other thread shall find that free.
 */
static void *live_on(void *unused) {
    small_ones(NULL);
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    return unused;
}

static __attribute__((noinline)) void grow(int count) {
    for (int i = 0; i < count && i < PIECES_MAX; i++) {
        pieces[i] = malloc(PIECE);
        if (pieces[i] != NULL) {
            memset(pieces[i], i, PIECE);
        }
    }
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 3;
    pthread_t thread;
    alarm(40);
    small_ones(NULL);
    CHECK(pthread_barrier_init(&meeting, NULL, 2) == 0);
    bool has_thread = pthread_create(&thread, NULL, live_on, NULL) == 0;
    if (has_thread) {
        pthread_barrier_wait(&meeting);
    }
    mark();
    grow(count);
    mark();
    for (int i = 0; i < count && i < PIECES_MAX; i++) {
        CHECK(pieces[i] == NULL || pieces[i][PIECE - 1] == (char)i);
        free(pieces[i]);
    }
    if (has_thread) {
        pthread_barrier_wait(&meeting);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    small_ones(NULL);
    CHECK(write(1, "done\n", 5) == 5);
    return 42;
}
