/*
 * Forks while another thread allocates under the very lock that a library's handler takes before fork(). Ends with
 * 0 when all children have; a hang is ctest's time-out.
 *
 *   forker FORKS
 */
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *allocate_under_lock(void *arg) {
    for (;;) {
        pthread_mutex_lock(&handlers_lock);
        void *volatile object = malloc(5000);
        free(object);
        pthread_mutex_unlock(&handlers_lock);
        void *volatile other = malloc(100);
        free(other);
    }
    return arg;
}

int main(int argc, char **argv) {
    int forks = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, allocate_under_lock, NULL) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < forks; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            return 1;
        }
    }
    printf("%d forks\n", forks);
    fflush(stdout);
    _exit(0); /* the threads are still at work */
}
