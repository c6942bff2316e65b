/*
 * daemon FILE: becomes a daemon by the book (fork, setsid, fork, chdir, umask, every descriptor closed), then
 * works in threads and writes what came of it, and which descriptors it sees, into FILE, under another name
 * first.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void leave_parent(void) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid > 0) {
        exit(0);
    }
}

static void become_daemon(void) {
    leave_parent();
    CHECK(setsid() > 0);
    leave_parent();
    CHECK(chdir("/") == 0);
    umask(077);
    for (int fd = (int)sysconf(_SC_OPEN_MAX) < 4096 ? (int)sysconf(_SC_OPEN_MAX) : 4096; fd >= 0; fd--) {
        close(fd);
    }
    if (open("/dev/null", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2) {
        abort();
    }
}

static void *work(void *seed) {
    size_t sum = (size_t)(uintptr_t)seed;
    void *kept[50] = {NULL};
    for (size_t i = 0; i < 4000; i++) {
        char **place = (char **)&kept[i % 50];
        *place = realloc(*place, 1 + (i * sum) % 5000);
        CHECK(*place != NULL);
        (*place)[0] = (char)i;
    }
    for (int i = 0; i < 50; i++) {
        sum += (unsigned char)((char *)kept[i])[0];
        free(kept[i]);
    }
    return (void *)(uintptr_t)sum;
}

static int count_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    char temporary[4096];
    CHECK(argc == 2 && argv[1][0] == '/');
    free(malloc(1000));
    become_daemon();
    pthread_t threads[4];
    snprintf(temporary, sizeof temporary, "%s.new", argv[1]);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) == 0);
    }
    FILE *file = fopen(temporary, "w");
    CHECK(file != NULL);
    for (int i = 0; i < 4; i++) {
        void *sum = NULL;
        CHECK(pthread_join(threads[i], &sum) == 0);
        fprintf(file, "%zu\n", (size_t)(uintptr_t)sum);
    }
    fprintf(file, "%d descriptors, the file is %d\n", count_descriptors(), fileno(file));
    CHECK(fclose(file) == 0 && rename(temporary, argv[1]) == 0);
    return 0;
}
