/*
 * A process to be captured that does what it is told to, so that what a profile of it must show is known.
 *
 *   target [THREADS]    that many threads allocate and free all the time
 *
 * Holds 4 MiB from hold_first() at the start and says "ready". Then it reads commands, a line each, and says
 * "done" after each:
 *
 *   grow BYTES      holds so many more, from grow_here()
 *   shrink          frees what hold_first() took
 *   churn BYTES     allocates and frees so many, in churn_here()
 *   plugin PATH     loads it, and has it hold 300000 bytes
 *   forks NUMBER    forks so many children one after another, each of which allocates and exits
 *   children NUMBER forks so many that stay until this process ends
 *   exec PATH       becomes another program
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 64, BLOCK = 65536, LINE = 4096 };

static void *first[BLOCKS];

/* Inlined into its callers: a profile must name both. */
static inline __attribute__((always_inline)) void *take(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory == NULL)
        abort();
    return memset(memory, 1, bytes);
}

static __attribute__((noinline)) void hold_first(void) {
    for (int i = 0; i < BLOCKS; i++)
        first[i] = take(BLOCK);
}

static __attribute__((noinline)) void grow_here(size_t bytes) {
    static void *volatile held;
    held = take(bytes);
    (void)held;
}

static __attribute__((noinline)) void churn_here(size_t bytes) {
    for (size_t done = 0; done < bytes; done += BLOCK)
        free(take(BLOCK));
}

static void shrink(void) {
    for (int i = 0; i < BLOCKS; i++) {
        free(first[i]);
        first[i] = NULL;
    }
}

static void load_plugin(const char *path) {
    void *handle = dlopen(path, RTLD_NOW);
    void (*hold)(void) = NULL;
    if (handle != NULL)
        *(void **)&hold = dlsym(handle, "plugin_hold");
    if (hold == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    hold();
}

static void *make_noise(void *argument) {
    unsigned size = (unsigned)(uintptr_t)argument;
    for (;;) {
        void *some[16];
        for (int i = 0; i < 16; i++)
            some[i] = malloc(size = size * 1103515245 % 4093 + 16);
        for (int i = 0; i < 16; i++)
            free(some[i]);
        usleep(200);
    }
    return NULL;
}

static void start_threads(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, make_noise, (void *)(uintptr_t)(i + 1)) != 0)
            abort();
    }
}

static void fork_and_forget(int count) {
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            churn_here(4 * BLOCK);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

static void fork_and_keep(int count) {
    pid_t parent = getpid();
    for (int i = 0; i < count; i++) {
        if (fork() != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        grow_here(BLOCK);
        for (;;)
            pause();
    }
}

static void obey(char *line) {
    char *word = strtok(line, " \n"), *rest = strtok(NULL, "\n");
    if (word == NULL)
        return;
    size_t number = rest != NULL ? strtoul(rest, NULL, 10) : 0;
    if (strcmp(word, "grow") == 0)
        grow_here(number);
    else if (strcmp(word, "shrink") == 0)
        shrink();
    else if (strcmp(word, "churn") == 0)
        churn_here(number);
    else if (strcmp(word, "plugin") == 0)
        load_plugin(rest);
    else if (strcmp(word, "forks") == 0)
        fork_and_forget((int)number);
    else if (strcmp(word, "children") == 0)
        fork_and_keep((int)number);
    else if (strcmp(word, "exec") == 0)
        execl(rest, rest, (char *)NULL);
}

int main(int argc, char **argv) {
    static char line[LINE], out[LINE];
    setvbuf(stdout, out, _IOLBF, sizeof out);
    setvbuf(stdin, NULL, _IONBF, 0);
    start_threads(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
    hold_first();
    puts("ready");
    while (fgets(line, sizeof line, stdin) != NULL) {
        obey(line);
        puts("done");
    }
    return 0;
}
