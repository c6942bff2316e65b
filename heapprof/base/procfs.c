#include "heapprof/base/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#include "heapprof/base/parse.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"

/* On the stack of an allocating thread, perhaps a small fibre: not PATH_MAX. */
enum { PATH_BYTES = 1024 };

#define SELF "/proc/self/"
#define THREAD_SELF "/proc/thread-self/"

static const char *root = "";
static _Atomic bool is_by_thread;

void hp_procfs_set_root(const char *new_root) {
    root = new_root;
}

void hp_procfs_read_by_thread(bool by_thread) {
    atomic_store_explicit(&is_by_thread, by_thread, memory_order_relaxed);
}

static void write_path(struct hp_writer *w, const char *path) {
    hp_writer_text(w, root);
    if (atomic_load_explicit(&is_by_thread, memory_order_relaxed) && strncmp(path, SELF, strlen(SELF)) == 0) {
        hp_writer_text(w, THREAD_SELF);
        path += strlen(SELF);
    }
    hp_writer_text(w, path);
}

int hp_procfs_open(const char *path, int flags) {
    char full[PATH_BYTES];
    struct hp_writer w = hp_writer_over(full, sizeof full);
    write_path(&w, path);
    if (w.len == sizeof full - 1) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return hp_sys_open(full, flags, 0);
}

ssize_t hp_procfs_read(const char *path, char *buf, size_t cap) {
    int fd = hp_procfs_open(path, O_RDONLY);
    if (fd < 0) {
        return -1;
    }
    size_t len = 0;
    ssize_t n = 0;
    while (len < cap - 1 && (n = hp_sys_read(fd, buf + len, cap - 1 - len)) > 0) {
        len += (size_t)n;
    }
    int failure = n < 0 ? errno : 0;
    (void)hp_sys_close(fd);
    buf[len] = '\0';
    errno = failure;
    return failure != 0 ? -1 : (ssize_t)len;
}

static const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    return p;
}

int hp_procfs_read_u64(const char *path, uint64_t *value) {
    char text[64];
    if (hp_procfs_read(path, text, sizeof text) < 0) {
        return -1;
    }
    const char *end = NULL;
    if (strncmp(text, "max", 3) == 0) {
        *value = UINT64_MAX;
        return 0;
    }
    if (hp_parse_u64(text, value, &end) != 0) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

int hp_procfs_field(const char *text, const char *key, uint64_t *value) {
    size_t len = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && (line[len] == ' ' || line[len] == '\t')) {
            const char *end = NULL;
            return hp_parse_u64(skip_blanks(line + len), value, &end);
        }
    }
    return -1;
}
