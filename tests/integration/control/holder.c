/*
 * holder READY MEGABYTES [WHAT…]: allocates so much, makes the file READY, and waits to be killed, a minute
 * at the most. WHAT, in order: `closes` every descriptor; `titles`: writes over its arguments and
 * environment, as servers do for ps(1); `forks` three children who do the same as it; `execs` itself anew;
 * `grows` 2 MiB every 10 ms, up to 98.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static __attribute__((noinline)) void hold(size_t megabytes) {
    for (size_t i = 0; i < megabytes * 16; i++) {
        char *p = malloc(64 << 10);
        CHECK(p != NULL);
        memset(p, 1, 64 << 10);
    }
}

static void sleep_ms(long ms) {
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&ts, NULL);
}

static void write_title(char **argv) {
    char *start = argv[0];
    char *end = start;
    for (char **p = argv; *p != NULL; p++) {
        end = *p + strlen(*p) + 1;
    }
    for (char **p = environ; *p != NULL; p++) {
        end = *p + strlen(*p) + 1;
    }
    memset(start, ' ', (size_t)(end - start));
    strcpy(start, "holder: a title");
}

static void fork_children(void) {
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            hold(4);
            break;
        }
    }
}

int main(int argc, char **argv) {
    CHECK(argc >= 3);
    char ready[4096];
    snprintf(ready, sizeof ready, "%s", argv[1]);
    char *what[8] = {NULL};
    for (int i = 3; i < argc && i < 10; i++) {
        what[i - 3] = strdup(argv[i]);
    }
    alarm(60);
    hold((size_t)atoi(argv[2]));
    for (char **now = what; *now != NULL; now++) {
        if (strcmp(*now, "closes") == 0) {
            for (int fd = 0; fd < 1024; fd++) {
                close(fd);
            }
        } else if (strcmp(*now, "titles") == 0) {
            write_title(argv);
        } else if (strcmp(*now, "forks") == 0) {
            fork_children();
        } else if (strcmp(*now, "execs") == 0) {
            char *again[] = {argv[0], argv[1], argv[2], NULL};
            sleep_ms(500); /* the old one's socket is there */
            execv("/proc/self/exe", again);
            _exit(9);
        } else if (strcmp(*now, "grows") == 0) {
            FILE *file = fopen(ready, "w");
            CHECK(file != NULL && fclose(file) == 0);
            for (size_t held = (size_t)atoi(argv[2]); held < 98; held += 2) {
                hold(2);
                sleep_ms(10);
            }
        }
    }
    FILE *file = fopen(ready, "w");
    CHECK(file != NULL && fclose(file) == 0);
    for (;;) {
        pause();
    }
}
