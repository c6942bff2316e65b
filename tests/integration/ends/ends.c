/*
 * ends WAY: the main thread calls pthread_exit() while a thread of the program lives on, which then
 *
 *   last     prints and ends: the process ends with it, with status 0, after atexit handlers and flushing
 *   grow     grows by 60 MiB before
 *   wait     allocates and frees for ever
 *   fork     is in a child, forked by a thread that is no main thread; the parent prints the child's status
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *way;
static pthread_t main_thread;

static void at_exit(void) {
    free(malloc(100000));
    printf("at exit\n");
}

static void churn(void) {
    for (size_t i = 0; i < 1000; i++) {
        free(malloc(i * 10));
    }
}

static __attribute__((noinline)) void grow(void) {
    for (int i = 0; i < 60 * 16; i++) {
        char *p = malloc(64 << 10);
        CHECK(p != NULL);
        memset(p, 1, 64 << 10);
    }
}

static void *outlive(void *unused) {
    CHECK(pthread_join(main_thread, NULL) == 0);
    churn();
    if (strcmp(way, "grow") == 0) {
        grow();
    }
    printf("the last thread\n"); /* not flushed: the process's end has to see to it */
    while (strcmp(way, "wait") == 0) {
        fflush(stdout);
        usleep(10000);
        churn();
    }
    return unused;
}

static void leave_to_thread(void) {
    pthread_t thread;
    main_thread = pthread_self();
    CHECK(pthread_create(&thread, NULL, outlive, NULL) == 0 && pthread_detach(thread) == 0);
    churn();
    pthread_exit(NULL);
}

static void *fork_in_thread(void *unused) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        leave_to_thread();
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("the child: %d\n", status);
    return unused;
}

int main(int argc, char **argv) {
    CHECK(argc == 2 && atexit(at_exit) == 0);
    way = argv[1];
    churn();
    if (strcmp(way, "fork") != 0) {
        leave_to_thread();
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, fork_in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    return 0;
}
