/*
 * storm CHILDREN THREADS: forks while the threads allocate; each child allocates, frees and ends (P7). Every
 * hundredth one forks a child itself. A child that does not end within 20 seconds is killed by its alarm, and
 * the program then ends with 1.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile bool done;

static void *churn(void *seed) {
    unsigned n = (unsigned)(uintptr_t)seed;
    void *kept[64] = {NULL};
    for (unsigned turn = 0; !done; turn++) {
        if (turn % 200 == 0) {
            usleep(500); /* the one that forks shall get a turn, too */
        }
        n = n * 1664525 + 1013904223;
        unsigned place = n >> 26;
        kept[place] = realloc(kept[place], n >> 8 & 2047);
        if ((n & 0x700) == 0) {
            free(kept[place]);
            kept[place] = calloc(1, n >> 12 & 8191);
        }
    }
    for (int i = 0; i < 64; i++) {
        free(kept[i]);
    }
    return NULL;
}

static void work(void) {
    for (size_t i = 0; i < 200; i++) {
        char *p = malloc(i * 10);
        p = realloc(p, i * 20 + 1);
        CHECK(p != NULL);
        p[0] = 1;
        free(p);
    }
}

static void child(int number);

static void fork_one(int number) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        child(number);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void child(int number) {
    alarm(20);
    work();
    if (number % 100 == 0) {
        fork_one(1);
        work();
    }
    _exit(0);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    int children = atoi(argv[1]);
    int threads = atoi(argv[2]);
    pthread_t thread[64];
    for (int i = 0; i < threads; i++) {
        CHECK(pthread_create(&thread[i], NULL, churn, (void *)(uintptr_t)(i + 1)) == 0);
    }
    for (int i = 0; i < children; i++) {
        fork_one(i);
    }
    done = true;
    for (int i = 0; i < threads; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    work();
    return 0;
}
