#include "heapprof/capture/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"

/* Makes the folder and what is missing above it. Failure shows when the file is opened. Whatever the umask (a
 * daemon's is often 0): nobody else may write there, that is, delete a dump or put something in its place. */
static void make_folders(char *path) {
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p == '/') {
            *p = '\0';
            (void)hp_sys_mkdir(path, 0755);
            *p = '/';
        }
    }
}

/* The length of `path` up to and with its last slash. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* ".<name>.tmp" beside the file: hidden, and never taken for a dump. */
static int name_temporary(struct hp_sink *sink) {
    size_t folder = folder_length(sink->path);
    struct hp_writer w = hp_writer_over(sink->temporary, sizeof sink->temporary);
    hp_writer_bytes(&w, sink->path, folder);
    hp_writer_format(&w, ".%s.tmp", sink->path + folder);
    return w.len + 1 < sizeof sink->temporary ? 0 : -1;
}

static int fail(struct hp_sink *sink, int error) {
    if (sink->error == 0) {
        sink->error = error;
    }
    return -1;
}

static int open_temporary(struct hp_sink *sink) {
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    sink->fd = hp_sys_open(sink->temporary, flags, 0600);
    if (sink->fd < 0 && errno == ENOENT) {
        make_folders(sink->temporary);
        sink->fd = hp_sys_open(sink->temporary, flags, 0600);
    }
    if (sink->fd < 0 && errno == EEXIST && sink->replaces) {
        /* Left by a process that died in the middle of it. */
        (void)hp_sys_unlink(sink->temporary);
        sink->fd = hp_sys_open(sink->temporary, flags, 0600);
    }
    return sink->fd < 0 ? fail(sink, errno) : 0;
}

/* Opens a file without a name in the folder of the temporary name, which stays the second choice. */
static bool open_nameless(struct hp_sink *sink) {
    int flags = O_RDWR | O_TMPFILE; /* it may have to be read again, see publish_copy() */
    char *slash = strrchr(sink->temporary, '/');
    *slash = '\0';
    sink->fd = hp_sys_open(sink->temporary, flags, 0600);
    *slash = '/';
    if (sink->fd < 0 && errno == ENOENT) {
        make_folders(sink->temporary);
        *slash = '\0';
        sink->fd = hp_sys_open(sink->temporary, flags, 0600);
        *slash = '/';
    }
    sink->is_nameless = sink->fd >= 0;
    return sink->is_nameless;
}

static int open_file(struct hp_sink *sink) {
    if (name_temporary(sink) != 0) {
        return fail(sink, ENAMETOOLONG);
    }
    return !sink->replaces && open_nameless(sink) ? 0 : open_temporary(sink);
}

static void begin(struct hp_sink *sink, bool is_file, bool replaces) {
    sink->fd = -1;
    sink->is_nameless = false;
    sink->is_file = is_file;
    sink->replaces = replaces;
    sink->bytes = 0;
    sink->error = 0;
}

int hp_sink_open_file(struct hp_sink *sink, const char *folder, const char *name) {
    begin(sink, true, false);
    struct hp_writer w = hp_writer_over(sink->path, sizeof sink->path);
    hp_writer_format(&w, "%s/%s", folder, name);
    return w.len + 1 < sizeof sink->path ? open_file(sink) : fail(sink, ENAMETOOLONG);
}

int hp_sink_open_path(struct hp_sink *sink, const char *path) {
    begin(sink, true, true);
    struct hp_writer w = hp_writer_over(sink->path, sizeof sink->path);
    hp_writer_text(&w, path);
    if (w.len == 0 || folder_length(sink->path) == w.len) {
        return fail(sink, EISDIR);
    }
    return w.len + 1 < sizeof sink->path ? open_file(sink) : fail(sink, ENAMETOOLONG);
}

void hp_sink_open_fd(struct hp_sink *sink, int fd) {
    begin(sink, false, false);
    sink->fd = fd;
}

int hp_sink_write(void *context, const void *data, size_t bytes) {
    struct hp_sink *sink = context;
    const char *p = data;
    while (bytes > 0) {
        ssize_t n = hp_sys_write(sink->fd, p, bytes);
        if (n <= 0) {
            return fail(sink, n < 0 ? errno : EIO);
        }
        p += n;
        bytes -= (size_t)n;
        sink->bytes += (uint64_t)n;
    }
    return 0;
}

unsigned hp_sink_owner(const struct hp_sink *sink) {
    unsigned owner = hp_sys_geteuid();
    unsigned mode = 0;
    (void)hp_sys_owner(sink->fd, &owner, &mode);
    return owner;
}

static void publish_temporary(struct hp_sink *sink) {
    int rc = sink->replaces ? hp_sys_rename(sink->temporary, sink->path)
                            : hp_sys_rename_new(sink->temporary, sink->path);
    if (rc != 0) {
        (void)fail(sink, errno);
    }
}

/* Hard links are forbidden here (a file system, a security module): the bytes go where a rename will do. */
static void publish_copy(struct hp_sink *sink) {
    int nameless = sink->fd;
    sink->is_nameless = false;
    if (open_temporary(sink) == 0) {
        if (hp_sys_copy(nameless, sink->fd) != 0) {
            (void)fail(sink, errno);
        } else {
            publish_temporary(sink);
        }
    }
    (void)hp_sys_close(nameless);
}

static void publish(struct hp_sink *sink) {
    if (!sink->is_nameless) {
        publish_temporary(sink);
    } else if (hp_sys_link_open(sink->fd, sink->path) == 0) {
        sink->is_nameless = false;
    } else if (errno == EEXIST) {
        (void)fail(sink, EEXIST);
    } else {
        publish_copy(sink);
    }
}

int hp_sink_publish(struct hp_sink *sink) {
    if (!sink->is_file) {
        return sink->error == 0 ? 0 : -1;
    }
    if (sink->error == 0) {
        publish(sink);
    }
    if (sink->error != 0) {
        hp_sink_abort(sink);
        return -1;
    }
    return 0;
}

/* For its sync, or, where it can't be read, at least to find the file again. */
static int open_folder(struct hp_sink *sink) {
    size_t length = folder_length(sink->temporary);
    sink->temporary[length] = '\0'; /* the temporary name is used up */
    const char *folder = length == 0 ? "." : sink->temporary;
    int fd = hp_sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    return fd >= 0 ? fd : hp_sys_open(folder, O_PATH | O_DIRECTORY, 0);
}

void hp_sink_detach(struct hp_sink *sink, struct hp_settling *file) {
    file->fd = -1;
    if (sink->is_file) {
        struct hp_writer w = hp_writer_over(file->name, sizeof file->name);
        hp_writer_text(&w, sink->path + folder_length(sink->path));
        file->folder = open_folder(sink);
        file->fd = sink->fd;
        sink->fd = -1;
    }
}

/* The name itself is durable only when the folder is. Some file systems can't; the file is whole anyway. */
static int sync_both(const struct hp_settling *file) {
    if (hp_sys_fsync(file->fd) != 0 && errno != EINVAL && errno != EROFS) {
        int error = errno;
        (void)hp_sys_unlink_at(file->folder, file->name);
        return error;
    }
    (void)hp_sys_fsync(file->folder);
    return 0;
}

int hp_sink_settle(const struct hp_settling *file, bool waits) {
    int error = 0;
    if (file->fd < 0) {
        return 0;
    }
    if (waits) {
        error = sync_both(file);
    } else {
        hp_sys_start_writing(file->fd);
    }
    (void)hp_sys_close(file->fd);
    (void)hp_sys_close(file->folder);
    return error;
}

void hp_sink_abort(struct hp_sink *sink) {
    if (sink->is_file && sink->fd >= 0) {
        (void)hp_sys_close(sink->fd);
        if (!sink->is_nameless) {
            (void)hp_sys_unlink(sink->temporary);
        }
    }
    sink->fd = -1;
}
