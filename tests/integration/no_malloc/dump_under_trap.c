/*
 * Allocates from a few call sites, under a library that aborts at a malloc inside a dump.
 *
 *   dump_under_trap limit MIB     leaks MIB mebibytes, so that a limit below fires
 *   dump_under_trap api PATH      dumps to PATH by heapprof_dump()
 */
#define HEAPPROF_OPTIONAL
#include "heapprof/heapprof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 10 };

__attribute__((noinline)) static void *leak_block(void) {
    char *block = malloc(BLOCK);
    if (block != NULL) {
        memset(block, 1, BLOCK);
    }
    return block;
}

/* On two threads: one is caught at the gate while the other's crossing is dumped. */
static void *leak(void *mebibytes) {
    void *last = NULL;
    for (long left = *(const long *)mebibytes * (1 << 20) / BLOCK / 2; left > 0; left--) {
        last = leak_block();
    }
    return last;
}

static int leak_to_limit(long mebibytes) {
    pthread_t other;
    if (pthread_create(&other, NULL, leak, &mebibytes) != 0) {
        return 1;
    }
    (void)leak(&mebibytes);
    return pthread_join(other, NULL);
}

static int dump_by_api(const char *path) {
    if (!heapprof_is_linked() || !heapprof_is_active()) {
        (void)fprintf(stderr, "heapprof is not active\n");
        return 1;
    }
    if (leak_block() == NULL) {
        return 1;
    }
    int error = heapprof_dump(path);
    if (error != 0) {
        (void)fprintf(stderr, "heapprof_dump: %s\n", strerror(error));
    }
    return error != 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "limit") == 0) {
        return leak_to_limit(atol(argv[2]));
    }
    return argc == 3 ? dump_by_api(argv[2]) : 2;
}
