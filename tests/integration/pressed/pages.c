/*
 * pages STACKS [fork]: makes so many distinct stacks, each with a live object, and has a dump made by a signal, SIGUSR2,
 * on the guard's thread, the first of its life; or, with fork, on that of a forked child. Prints how many page faults
 * that took of the thread; status 1 when any. Run it with HEAPPROF_SAMPLE=1, HEAPPROF_SIGNAL=USR2 and HEAPPROF_DUMP_DIR.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { LEVELS = 16 };

static void *volatile escape;
static volatile unsigned even_calls;
static volatile unsigned odd_calls;

__attribute__((noinline)) static void even(unsigned long path, int levels);
__attribute__((noinline)) static void odd(unsigned long path, int levels);

/* The path's bits choose the functions on the stack. */
static inline void descend(unsigned long path, int levels) {
    if (levels == 0) {
        escape = malloc(64);
    } else if ((path & 1) != 0) {
        odd(path >> 1, levels - 1);
    } else {
        even(path >> 1, levels - 1);
    }
}

static void even(unsigned long path, int levels) {
    descend(path, levels);
    even_calls++; /* no tail call, and not the same code as odd() */
}

static void odd(unsigned long path, int levels) {
    descend(path, levels);
    odd_calls++;
}

static void sleep_ms(long ms) {
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

/* No stdio: it would take pages of its own. */
static ssize_t read_text(const char *path, char *text, size_t cap) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n;
}

/* "pid (comm) state ppid pgrp session tty tpgid flags minflt cminflt majflt …" */
static long faults_of(const char *stat) {
    char text[512];
    CHECK(read_text(stat, text, sizeof text) > 0);
    char *at = strrchr(text, ')') + 2;
    long numbers[12] = {0};
    for (int i = 0; i < 10; i++) {
        at += strcspn(at, " ") + 1;
        numbers[i] = strtol(at, NULL, 10);
    }
    return numbers[6] + numbers[8];
}

static void find_guard(char *stat, size_t cap) {
    for (int tries = 0; tries < 3000; tries++) {
        DIR *tasks = opendir("/proc/self/task");
        const struct dirent *task = NULL;
        while (tasks != NULL && (task = readdir(tasks)) != NULL) {
            char text[512];
            (void)snprintf(stat, cap, "/proc/self/task/%s/stat", task->d_name);
            if (read_text(stat, text, sizeof text) > 0 && strstr(text, "(heapprof-guard)") != NULL) {
                (void)closedir(tasks);
                return;
            }
        }
        (void)closedir(tasks);
        sleep_ms(10);
    }
    CHECK(false); /* there is no thread of that name */
}

/* Whether a dump, not just a temporary file, is in the folder. */
static bool has_dump(const char *folder) {
    bool found = false;
    DIR *files = opendir(folder);
    const struct dirent *file = NULL;
    while (files != NULL && (file = readdir(files)) != NULL) {
        found = found || (file->d_name[0] != '.' && strstr(file->d_name, ".pb.gz") != NULL);
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    return found;
}

int main(int argc, char **argv) {
    char stat[300];
    const char *folder = getenv("HEAPPROF_DUMP_DIR");
    CHECK(argc >= 2 && folder != NULL);
    for (long i = strtol(argv[1], NULL, 10); i > 0; i--) {
        descend((unsigned long)i, LEVELS);
    }
    if (argc == 3) {
        pid_t child = fork();
        int status = 1;
        if (child != 0) {
            return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        }
        descend(0, LEVELS); /* a sample, with which the child's own guard begins */
    }
    find_guard(stat, sizeof stat);
    (void)has_dump(folder);
    sleep_ms(500); /* it has made itself ready, and looked a few times */
    long faults = faults_of(stat);
    CHECK(raise(SIGUSR2) == 0);
    for (int tries = 0; tries < 3000 && !has_dump(folder); tries++) {
        sleep_ms(10);
    }
    CHECK(has_dump(folder));
    sleep_ms(200);
    faults = faults_of(stat) - faults;
    printf("%s stacks%s: %ld page faults\n", argv[1], argc == 3 ? " in a forked child" : "", faults);
    return faults == 0 ? 0 : 1;
}
