#include "tests/unit/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[128];

static void fail(const char *what) {
    perror(what);
    abort();
}

int scratch_remove(void **state) {
    (void)state;
    char command[256];
    if (root[0] != '\0') {
        (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
        if (system(command) != 0) {
            fail(command);
        }
        root[0] = '\0';
    }
    return 0;
}

int scratch_make(void **state) {
    (void)scratch_remove(state);
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(root, sizeof root, "%.80s/heapprof.XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(root) == NULL) {
        fail(root);
    }
    return 0;
}

const char *scratch_path(const char *name) {
    static char paths[8][4096];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s%s%s", root, *name != '\0' ? "/" : "", name);
    return path;
}

void scratch_write(const char *name, const void *bytes, size_t length, long age_s) {
    const char *path = scratch_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || close(fd) != 0) {
        fail(path);
    }
    struct timespec times[2];
    (void)clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age_s;
    times[1] = times[0];
    if (utimensat(AT_FDCWD, path, times, 0) != 0) {
        fail(path);
    }
}

bool scratch_has(const char *name) {
    struct stat st;
    return lstat(scratch_path(name), &st) == 0;
}

static int is_entry(const struct dirent *e) {
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

unsigned scratch_list(const char *name, char *list, size_t cap) {
    struct dirent **entries = NULL;
    int count = scandir(scratch_path(name), &entries, is_entry, alphasort);
    if (count < 0) {
        fail(name);
    }
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        if (list != NULL) {
            int n = snprintf(list + length, cap - length, "%s\n", entries[i]->d_name);
            length += n > 0 && (size_t)n < cap - length ? (size_t)n : 0;
        }
        free(entries[i]);
    }
    free(entries);
    return (unsigned)count;
}

size_t scratch_read(const char *name, void *buffer, size_t cap) {
    FILE *file = fopen(scratch_path(name), "rbe");
    if (file == NULL) {
        fail(name);
    }
    size_t n = fread(buffer, 1, cap, file);
    (void)fclose(file);
    return n;
}
