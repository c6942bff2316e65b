/*
 * prefork MEGABYTES WORKERS: workers forked without exec grow by so much each and then wait for the others.
 * Each checks that heapprof's guard watches it, too, and makes a dump of its own by SIGUSR2. Prints the
 * workers' pids.
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static bool has_guard_thread(void) {
    bool found = false;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *e = readdir(tasks); e != NULL; e = readdir(tasks)) {
        char path[300];
        char name[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", e->d_name);
        FILE *file = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file != NULL) {
            found =
                (fgets(name, sizeof name, file) != NULL && strncmp(name, "heapprof-guard", 14) == 0) || found;
            fclose(file);
        }
    }
    closedir(tasks);
    return found;
}

static __attribute__((noinline)) char *grow(size_t megabytes) {
    char *last = NULL;
    for (size_t i = 0; i < megabytes * 16; i++) {
        char *p = malloc(64 << 10);
        CHECK(p != NULL);
        memset(p, 1, 64 << 10);
        memcpy(p, &last, sizeof last);
        last = p;
        if (i % 16 == 0) {
            usleep(1000);
        }
    }
    return last;
}

/* On the stack of main's children: what the parent held is theirs, too. */
static void worker(size_t megabytes) {
    alarm(40);
    char *kept = grow(megabytes);
    CHECK(has_guard_thread());
    raise(SIGUSR2);
    usleep(600000); /* the dump comes meanwhile */
    while (kept != NULL) {
        char *next = NULL;
        memcpy(&next, kept, sizeof next);
        free(kept);
        kept = next;
    }
    _exit(0);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    int workers = atoi(argv[2]);
    free(grow(1)); /* the parent's own guard runs */
    for (int i = 0; i < workers; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            worker(strtoul(argv[1], NULL, 10));
        }
        printf("%d\n", (int)pid);
    }
    for (int i = 0; i < workers; i++) {
        int status = 0;
        CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return 0;
}
