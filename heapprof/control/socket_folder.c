#include "heapprof/control/socket_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "heapprof/base/parse.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/unix_socket.h"
#include "heapprof/base/writer.h"

enum { NAMES = 9, QUEUE = 16, RECORDS_BYTES = 4096, RECORDS_READS = 64 };

#define LOCK_PATIENCE_NS INT64_C(2000000000)
#define LOCK_PAUSE_NS INT64_C(1000000)

static int refuse(struct hp_socket_fault *fault, const char *complaint, int error, bool is_unsafe) {
    *fault = (struct hp_socket_fault){.complaint = complaint, .error = error, .is_unsafe = is_unsafe};
    return -1;
}

/* -- The folder -- */

static const char *what_is_wrong(int fd) {
    unsigned uid = 0;
    unsigned mode = 0;
    if (hp_sys_owner(fd, &uid, &mode) != 0) {
        return "can't be looked at";
    }
    if (uid != hp_sys_geteuid()) {
        return "belongs to another user";
    }
    return mode != 0700 ? "is open to others: its mode must be 0700" : NULL;
}

int hp_socket_folder_open(const char *path, struct hp_socket_fault *fault) {
    bool is_made = hp_sys_mkdir(path, 0700) == 0;
    int why_not = is_made ? 0 : errno;
    int fd = hp_sys_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0) {
        bool is_other = errno == ENOTDIR || errno == ELOOP;
        return is_other ? refuse(fault, "is no folder of its own (a symlink or a file)", 0, true)
                        : refuse(fault, "can't be used", why_not != 0 && why_not != EEXIST ? why_not : errno,
                                 false);
    }
    if (is_made) {
        (void)hp_sys_chmod(fd, 0700); /* whatever the umask took */
    }
    const char *complaint = what_is_wrong(fd);
    if (complaint != NULL) {
        (void)hp_sys_close(fd);
        return refuse(fault, complaint, 0, true);
    }
    return fd;
}

static bool take_lock(int folder) {
    for (int64_t waited = 0; hp_sys_try_lock_file(folder) != 0; waited += LOCK_PAUSE_NS) {
        if (errno != EWOULDBLOCK || waited >= LOCK_PATIENCE_NS) {
            return false;
        }
        hp_sys_sleep(LOCK_PAUSE_NS);
    }
    return true;
}

/* -- Left-overs. The lock is held. -- */

static bool refuses(int folder, const char *path, const char *name) {
    int fd = hp_unix_socket();
    if (fd < 0) {
        return false;
    }
    bool does = hp_unix_connect(fd, folder, path, name) != 0 && errno == ECONNREFUSED;
    (void)hp_sys_close(fd);
    return does;
}

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name);
    size_t tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* The process that a socket is named after; 0 when it is no socket of ours. */
static int pid_of(const char *name) {
    uint64_t pid = 0;
    const char *end = NULL;
    bool is_ours =
        hp_parse_u64(name, &pid, &end) == 0 && *end == '.' && ends_with(name, ".sock") && pid <= INT32_MAX;
    return is_ours ? (int)pid : 0;
}

/* A process of that number may be another one by now, or in another pid namespace: the socket itself decides.
 * It is asked only when the process is not here; else each start would knock at every other process's door.
 */
static void remove_if_dead(int folder, const char *path, const char *name) {
    int pid = pid_of(name);
    bool is_half_made = name[0] == '.' && ends_with(name, ".sock.new");
    if (is_half_made || (pid != 0 && !hp_sys_process_exists(pid) && refuses(folder, path, name))) {
        (void)hp_sys_unlink_at(folder, name);
    }
}

/* As getdents64(2) has it. */
struct record {
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static void remove_dead(int folder, const char *path) {
    _Alignas(struct record) char records[RECORDS_BYTES];
    for (int i = 0; i < RECORDS_READS; i++) {
        ssize_t n = hp_sys_getdents(folder, records, sizeof records);
        if (n <= 0) {
            return;
        }
        for (ssize_t at = 0; at < n;) {
            const struct record *record = (const struct record *)(const void *)(records + at);
            remove_if_dead(folder, path, record->name);
            at += record->bytes;
        }
    }
}

/* -- Our own. The lock is held. -- */

static void write_name(char name[HP_SOCKET_NAME_MAX], int pid, int n) {
    struct hp_writer w = hp_writer_over(name, HP_SOCKET_NAME_MAX);
    hp_writer_format(&w, "%d", pid);
    if (n > 1) {
        hp_writer_format(&w, ".%d", n);
    }
    hp_writer_text(&w, ".sock");
}

/* A free name, or one of a process before us with our number: one that exec() has ended, say. */
static bool find_name(int folder, const char *path, char name[HP_SOCKET_NAME_MAX]) {
    for (int n = 1; n <= NAMES; n++) {
        write_name(name, hp_sys_getpid(), n);
        if (!hp_sys_exists_at(folder, name) || refuses(folder, path, name)) {
            return true;
        }
    }
    return false;
}

static int make(int folder, const char *path, char name[HP_SOCKET_NAME_MAX], struct hp_socket_fault *fault) {
    char temporary[HP_SOCKET_NAME_MAX + 8];
    struct hp_writer w = hp_writer_over(temporary, sizeof temporary);
    hp_writer_format(&w, ".%d.sock.new", hp_sys_getpid());
    int fd = hp_unix_socket();
    if (fd < 0) {
        return refuse(fault, "can have no socket", errno, false);
    }
    if (!find_name(folder, path, name)) {
        (void)hp_sys_close(fd);
        return refuse(fault, "has nine sockets of this process's number already", 0, false);
    }
    if (hp_unix_bind(fd, folder, path, temporary) != 0 || hp_unix_listen(fd, QUEUE) != 0 ||
        hp_sys_rename_at(folder, temporary, name) != 0) {
        int error = errno;
        (void)hp_sys_unlink_at(folder, temporary);
        (void)hp_sys_close(fd);
        return refuse(fault, "can have no socket", error, false);
    }
    return fd;
}

int hp_socket_folder_listen(int folder, const char *path, char name[HP_SOCKET_NAME_MAX],
                            struct hp_socket_fault *fault) {
    if (!take_lock(folder)) {
        return refuse(fault, "is locked by another process", 0, false);
    }
    remove_dead(folder, path);
    return make(folder, path, name, fault); /* the lock ends when the caller closes the folder */
}
