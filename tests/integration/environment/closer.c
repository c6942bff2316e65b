/*
 * closer FOLDER: closes every descriptor, as daemons do, opens files and a socket pair on the numbers that
 * are free then, and allocates, sampled all, for a while, from threads, too. Ends with 0 when nobody has
 * written into any of them and all are still the same; else with 1 and a line in FOLDER/trouble.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { OPENED = 24 };

static const char *folder;

static void trouble(const char *what, int fd) {
    char path[4096];
    snprintf(path, sizeof path, "%s/trouble", folder);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "%s: descriptor %d\n", what, fd);
        fclose(file);
    }
    _exit(1);
}

static void close_all(void) {
    for (int fd = 0; fd < 4096; fd++) {
        close(fd);
    }
}

static void expect_untouched(int fd) {
    struct stat st;
    char byte = 0;
    if (fstat(fd, &st) != 0) {
        trouble("closed", fd);
    }
    if (S_ISREG(st.st_mode) && (st.st_size != 0 || lseek(fd, 0, SEEK_CUR) != 0)) {
        trouble("written into a file", fd);
    }
    if (S_ISSOCK(st.st_mode) && recv(fd, &byte, 1, MSG_DONTWAIT) >= 0) {
        trouble("sent into a socket", fd);
    }
}

static void forget_files(void) {
    for (int fd = 0; fd < OPENED; fd += 3) {
        char path[4096];
        snprintf(path, sizeof path, "%s/file%d", folder, fd);
        unlink(path);
    }
}

static bool open_all(void) {
    for (int fd = 0; fd < OPENED; fd += 3) {
        char path[4096];
        snprintf(path, sizeof path, "%s/file%d", folder, fd);
        int pair[2] = {-1, -1};
        if (open(path, O_CREAT | O_RDWR | O_EXCL, 0600) != fd ||
            socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || pair[0] != fd + 1 || pair[1] != fd + 2) {
            return false;
        }
    }
    return true;
}

/* Heapprof's guard may just be reading a file of the kernel's, on the number that would be next. */
static void use_all_numbers(void) {
    for (int tries = 0; tries < 10; tries++) {
        close_all();
        forget_files();
        if (open_all()) {
            return;
        }
    }
    trouble("the lowest numbers are not free", 0);
}

static __attribute__((noinline)) void *deep(int depth, size_t n) {
    void *p = depth == 0 ? malloc(n) : deep(depth - 1, n);
    if (p == NULL) {
        _exit(3);
    }
    *(volatile char *)p = 1;
    return p;
}

static void *allocate(void *unused) {
    for (int i = 0; i < 20000; i++) {
        free(deep(i % 30, 1 + (size_t)i % 3000));
    }
    return unused;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    folder = argv[1];
    free(malloc(100)); /* a first sample, before */
    for (int round = 0; round < 3; round++) {
        use_all_numbers();
        allocate(NULL);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) {
            if (pthread_create(&threads[i], NULL, allocate, NULL) != 0) {
                _exit(3);
            }
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        for (int fd = 0; fd < OPENED; fd++) {
            expect_untouched(fd);
        }
        if (fork() == 0) { /* the same in a child, whose guard begins anew */
            allocate(NULL);
            for (int fd = 0; fd < OPENED; fd++) {
                expect_untouched(fd);
            }
            _exit(0);
        }
    }
    return 0;
}
