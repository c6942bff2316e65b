#include "tools/live/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/base/memory.h"

enum { FIRST_BYTES = 16 * 1024, MOST_BYTES = 64 * 1024 * 1024 };

static int open_file(pid_t pid, const char *file, int flags) {
    char *path = hp_memory_format("/proc/%d/%s", (int)pid, file);
    int fd = open(path, flags | O_CLOEXEC);
    free(path);
    return fd;
}

/* All that `fd` gives; NULL with errno set. */
static char *read_all(int fd, size_t *length) {
    size_t capacity = FIRST_BYTES;
    char *bytes = hp_memory_new(capacity, 1);
    ssize_t n = 0;
    *length = 0;
    while ((n = read(fd, bytes + *length, capacity - 1 - *length)) > 0) {
        *length += (size_t)n;
        if (*length + 1 == capacity && capacity < MOST_BYTES)
            bytes = hp_memory_grow(bytes, capacity, &capacity, 1);
    }
    if (n < 0) {
        int failure = errno;
        free(bytes);
        errno = failure;
        return NULL;
    }
    bytes[*length] = '\0';
    return bytes;
}

char *hp_proc_read(pid_t pid, const char *file, size_t *length) {
    size_t unwanted = 0;
    int fd = open_file(pid, file, O_RDONLY);
    if (fd < 0)
        return NULL;
    char *bytes = read_all(fd, length != NULL ? length : &unwanted);
    int failure = errno;
    close(fd);
    errno = failure;
    return bytes;
}

char *hp_proc_read_link(pid_t pid, const char *file) {
    char target[4096];
    char *path = hp_memory_format("/proc/%d/%s", (int)pid, file);
    ssize_t n = readlink(path, target, sizeof target - 1);
    free(path);
    if (n < 0)
        return NULL;
    target[n] = '\0';
    return hp_memory_format("%s", target);
}

const char *hp_proc_field(const char *status, const char *name) {
    size_t length = strlen(name);
    for (const char *line = status; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " \t");
    }
    return NULL;
}

/* RESOLVE_IN_ROOT: an absolute symlink inside a container means the container's root, not ours. */
int hp_proc_open_folder(pid_t pid, const char *folder) {
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int root = open_file(pid, "root", O_PATH | O_DIRECTORY);
    if (root < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, root, folder, &how, sizeof how);
    int failure = errno;
    close(root);
    errno = failure;
    return fd;
}
