/*
 * starters ROUNDS: eight threads start children at once, by fork, vfork, posix_spawn and clone (with memory
 * of its own, and sharing ours as vfork does), while all allocate. Prints how many children ended as they
 * should.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 8, WAYS = 5, CLONE_STACK = 64 << 10 };

extern char **environ;
static char shell[] = "/bin/sh";
static char *const arguments[] = {shell, (char[]){"-c"}, (char[]){"exit 7"}, NULL};
static int rounds;
static atomic_int ended;

static int become_shell(void *unused) {
    (void)unused;
    execve(shell, arguments, environ);
    _exit(1);
}

static void allocate(void) {
    for (size_t i = 1; i < 60; i++) {
        free(realloc(malloc(i * 20), i * 90));
    }
}

static pid_t by_fork(void) {
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        allocate();
        _exit(7);
    }
    return pid;
}

static pid_t by_vfork(void) {
    pid_t pid = vfork();
    if (pid == 0) {
        execve(shell, arguments, environ);
        _exit(1);
    }
    return pid;
}

static pid_t by_spawn(void) {
    pid_t pid = -1;
    CHECK(posix_spawn(&pid, shell, NULL, NULL, arguments, environ) == 0);
    return pid;
}

static pid_t by_clone(int flags) {
    char *stack = malloc(CLONE_STACK);
    CHECK(stack != NULL);
    pid_t pid = clone(become_shell, stack + CLONE_STACK, flags | SIGCHLD, NULL);
    free(stack); /* CLONE_VFORK: the child has left it; else it has a copy */
    return pid;
}

static pid_t begin(int way) {
    switch (way) {
    case 0:
        return by_fork();
    case 1:
        return by_vfork();
    case 2:
        return by_spawn();
    case 3:
        return by_clone(0);
    default:
        return by_clone(CLONE_VM | CLONE_VFORK);
    }
}

static void *start(void *me) {
    for (int i = 0; i < rounds * WAYS; i++) {
        int status = 0;
        pid_t pid = begin((i + (int)(uintptr_t)me) % WAYS);
        allocate();
        CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 7) {
            atomic_fetch_add(&ended, 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    rounds = atoi(argv[1]);
    alarm(150);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, start, (void *)(uintptr_t)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    printf("%d of %d\n", ended, THREADS * WAYS * rounds);
    return 0;
}
