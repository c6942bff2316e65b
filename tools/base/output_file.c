#include "tools/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"

static bool is_standard_output(const char *path) {
    return strcmp(path, "-") == 0;
}

static bool refuse_terminal(int fd, enum hp_output_kind kind, struct hp_error *error) {
    if (kind == HP_OUTPUT_TEXT || isatty(fd) == 0)
        return true;
    return hp_error_set(error,
                        "is a terminal, and the result is no text: name a file with -o, or redirect it");
}

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* The path that a symbolic link leads to, so that the link stays; the caller frees it. */
static char *follow(const char *path) {
    char *real = realpath(path, NULL);
    return real != NULL ? real : hp_memory_format("%s", path);
}

/* True when there is something at `path` that a rename would replace by something else. */
static bool is_special(const char *path, struct stat *status) {
    return stat(path, status) == 0 && !S_ISREG(status->st_mode);
}

bool hp_output_check(const char *path, enum hp_output_kind kind, struct hp_error *error) {
    struct stat status;
    if (is_standard_output(path))
        return refuse_terminal(STDOUT_FILENO, kind, error);
    if (is_special(path, &status) && !S_ISDIR(status.st_mode))
        return access(path, W_OK) == 0 || hp_error_set(error, "%s", strerror(errno));
    char *real = follow(path);
    size_t length = folder_length(real);
    if (real[length] == '\0' || (stat(real, &status) == 0 && S_ISDIR(status.st_mode)))
        errno = EISDIR;
    else {
        real[length] = '\0';
        errno = 0;
        (void)access(length > 0 ? real : ".", W_OK | X_OK);
    }
    free(real);
    return errno == 0 || hp_error_set(error, "%s", strerror(errno));
}

static void hold_signals(struct hp_output *output) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, &output->mask);
}

/* What it replaces keeps its mode; a new file gets what the umask leaves. */
static void set_mode(const struct hp_output *output) {
    struct stat status;
    mode_t mode = umask(0);
    umask(mode);
    mode = stat(output->path, &status) == 0 ? status.st_mode & 07777 : 0666 & ~mode;
    (void)fchmod(output->fd, mode); /* a file system without modes has none to keep */
}

static bool open_temporary(struct hp_output *output, struct hp_error *error) {
    size_t length = folder_length(output->path);
    output->temporary = hp_memory_format("%.*s.%s.XXXXXX", (int)length, output->path, output->path + length);
    hold_signals(output);
    output->fd = mkostemp(output->temporary, O_CLOEXEC);
    if (output->fd >= 0) {
        set_mode(output);
        return true;
    }
    hp_error_set(error, "%s", strerror(errno));
    free(output->temporary);
    output->temporary = NULL;
    sigprocmask(SIG_SETMASK, &output->mask, NULL);
    return false;
}

static bool open_in_place(struct hp_output *output, enum hp_output_kind kind, struct hp_error *error) {
    output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (output->fd < 0)
        return hp_error_set(error, "%s", strerror(errno));
    if (refuse_terminal(output->fd, kind, error))
        return true;
    close(output->fd);
    return false;
}

bool hp_output_open(struct hp_output *output, const char *path, enum hp_output_kind kind,
                    struct hp_error *error) {
    struct stat status;
    *output = (struct hp_output){.fd = STDOUT_FILENO};
    if (is_standard_output(path))
        return refuse_terminal(STDOUT_FILENO, kind, error);
    bool in_place = is_special(path, &status);
    output->path = in_place ? hp_memory_format("%s", path) : follow(path);
    if (in_place ? open_in_place(output, kind, error) : open_temporary(output, error))
        return true;
    free(output->path);
    return false;
}

bool hp_output_write(struct hp_output *output, const void *data, size_t size, struct hp_error *error) {
    for (const char *at = data; size > 0;) {
        ssize_t written = write(output->fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return hp_error_set(error, "%s", strerror(errno));
        at += written;
        size -= (size_t)written;
    }
    return true;
}

static void end(struct hp_output *output) {
    if (output->temporary != NULL)
        sigprocmask(SIG_SETMASK, &output->mask, NULL);
    free(output->temporary);
    free(output->path);
    *output = (struct hp_output){.fd = -1};
}

bool hp_output_commit(struct hp_output *output, struct hp_error *error) {
    bool done = output->path == NULL || close(output->fd) == 0;
    if (done && output->temporary != NULL)
        done = rename(output->temporary, output->path) == 0;
    if (!done) {
        hp_error_set(error, "%s", strerror(errno));
        if (output->temporary != NULL)
            unlink(output->temporary);
    }
    end(output);
    return done;
}

void hp_output_abort(struct hp_output *output) {
    if (output->path != NULL)
        close(output->fd);
    if (output->temporary != NULL)
        unlink(output->temporary);
    end(output);
}
