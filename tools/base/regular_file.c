#include "tools/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* For fstat() alone: what is there is not opened. */
static int find_in(const char *root, const char *path) {
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    int failure = errno;
    close(folder);
    errno = failure;
    return fd;
}

static int find(const char *path, const char *root) {
    size_t length = root != NULL ? strlen(root) : 0;
    if (length > 0 && strncmp(path, root, length) == 0 && path[length] == '/')
        return find_in(root, path + length);
    return open(path, O_PATH | O_CLOEXEC);
}

/* What was found, and nothing that has its name by now. */
static int open_found(int found) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", found);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int hp_regular_file_open(const char *path, const char *root, struct hp_error *error) {
    struct stat status;
    int found = find(path, root);
    if (found < 0) {
        hp_error_set(error, "%s", strerror(errno));
        return -1;
    }
    bool is_regular = fstat(found, &status) == 0 && S_ISREG(status.st_mode);
    int fd = is_regular ? open_found(found) : -1;
    if (fd < 0)
        hp_error_set(error, "%s", is_regular ? strerror(errno) : "not a regular file");
    close(found);
    return fd;
}
