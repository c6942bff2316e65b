#include "heapprof/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heapprof/base/writer.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

int hp_sys_open(const char *path, int flags, unsigned mode) {
    long fd;
    do {
        fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return (int)fd;
}

ssize_t hp_sys_read(int fd, void *buf, size_t bytes) {
    long n;
    do {
        n = syscall(SYS_read, fd, buf, bytes);
    } while (n < 0 && errno == EINTR);
    return n;
}

ssize_t hp_sys_write(int fd, const void *buf, size_t bytes) {
    long n;
    do {
        n = syscall(SYS_write, fd, buf, bytes);
    } while (n < 0 && errno == EINTR);
    return n;
}

int hp_sys_close(int fd) {
    return (int)syscall(SYS_close, fd); /* on Linux the descriptor is gone even after EINTR */
}

int hp_sys_fsync(int fd) {
    long rc;
    do {
        rc = syscall(SYS_fsync, fd);
    } while (rc < 0 && errno == EINTR);
    return (int)rc;
}

void hp_sys_start_writing(int fd) {
    (void)syscall(SYS_sync_file_range, fd, (off_t)0, (off_t)0, SYNC_FILE_RANGE_WRITE);
}

int hp_sys_mkdir(const char *path, unsigned mode) {
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int hp_sys_unlink(const char *path) {
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int hp_sys_rename(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int hp_sys_open_at(int folder, const char *name, int flags, unsigned mode) {
    long fd;
    do {
        fd = syscall(SYS_openat, folder, name, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return (int)fd;
}

int hp_sys_unlink_at(int folder, const char *name) {
    return (int)syscall(SYS_unlinkat, folder, name, 0);
}

int hp_sys_rename_at(int folder, const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, folder, from, folder, to, 0);
}

_Bool hp_sys_exists_at(int folder, const char *name) {
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int hp_sys_rename_new(const char *from, const char *to) {
    long rc = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (rc == 0 || (errno != EINVAL && errno != ENOSYS)) {
        return (int)rc;
    }
    /* A file system without the flag (NFS, some FUSE): link() does not replace either. */
    rc = syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (rc == 0) {
        (void)hp_sys_unlink(from);
        return 0;
    }
    if (errno == EEXIST) {
        return -1;
    }
    /* Nor with hard links (FAT, some FUSE): the name is unique by its design, so a plain rename it is. */
    return hp_sys_rename(from, to);
}

/* By its path in /proc, which needs no privilege; not "self": this thread may have a table of descriptors of
 * its own. Where /proc is not mounted, by the descriptor itself (CAP_DAC_READ_SEARCH, or Linux 6.10). */
int hp_sys_link_open(int fd, const char *path) {
    char by_name[64];
    struct hp_writer w = hp_writer_over(by_name, sizeof by_name);
    hp_writer_format(&w, "/proc/thread-self/fd/%d", fd);
    long rc = syscall(SYS_linkat, AT_FDCWD, by_name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    if (rc != 0 && errno != EEXIST) {
        rc = syscall(SYS_linkat, fd, "", AT_FDCWD, path, AT_EMPTY_PATH);
    }
    return (int)rc;
}

int hp_sys_copy(int from, int to) {
    enum { AT_ONCE = 1 << 30 };
    off_t at = 0;
    long n;
    do {
        n = syscall(SYS_sendfile, to, from, &at, (size_t)AT_ONCE);
    } while (n > 0 || (n < 0 && errno == EINTR));
    return (int)n;
}

int hp_sys_try_lock_file(int fd) {
    return (int)syscall(SYS_flock, fd, LOCK_EX | LOCK_NB);
}

void hp_sys_sleep(int64_t ns) {
    struct timespec ts = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    (void)syscall(SYS_nanosleep, &ts, NULL);
}

ssize_t hp_sys_getdents(int fd, void *buf, size_t bytes) {
    return syscall(SYS_getdents64, fd, buf, bytes);
}

int hp_sys_file_info(const char *path, struct hp_file_info *info) {
    struct stat st;
    if (fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) {
        return -1;
    }
    info->bytes = (uint64_t)st.st_size;
    info->written_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    info->owner = st.st_uid;
    return 0;
}

int hp_sys_owner(int fd, unsigned *uid, unsigned *mode) {
    struct stat st;
    if (fstatat(fd, "", &st, AT_EMPTY_PATH) != 0) {
        return -1;
    }
    *uid = st.st_uid;
    *mode = st.st_mode & 07777;
    return 0;
}

int hp_sys_chmod(int fd, unsigned mode) {
    return (int)syscall(SYS_fchmod, fd, mode);
}

int hp_sys_memory_file(const char *label) {
    return (int)syscall(SYS_memfd_create, label, MFD_CLOEXEC);
}

int64_t hp_sys_size(int fd) {
    struct stat st;
    return fstatat(fd, "", &st, AT_EMPTY_PATH) == 0 ? st.st_size : -1;
}

ssize_t hp_sys_read_at(int fd, void *buf, size_t bytes, int64_t offset) {
    long n;
    do {
        n = syscall(SYS_pread64, fd, buf, bytes, offset);
    } while (n < 0 && errno == EINTR);
    return n;
}

_Bool hp_sys_process_exists(int pid) {
    return syscall(SYS_kill, pid, 0) == 0 || errno != ESRCH;
}

uint64_t hp_sys_page_faults(void) {
    struct rusage usage;
    return syscall(SYS_getrusage, RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_minflt : 0;
}

int hp_sys_getpid(void) {
    return (int)syscall(SYS_getpid);
}

unsigned hp_sys_geteuid(void) {
    return (unsigned)syscall(SYS_geteuid);
}

void hp_sys_futex_wait(const void *word, uint32_t expected, int64_t timeout_ns) {
    struct timespec ts = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns < 0 ? NULL : &ts, NULL, 0);
}

void hp_sys_futex_wake(const void *word, int how_many) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, how_many, NULL, NULL, 0);
}

int hp_sys_getcwd(char *buf, size_t cap) {
    /* "(unreachable)…" is what the kernel says of a folder outside the process's root. */
    return syscall(SYS_getcwd, buf, cap) > 0 && buf[0] == '/' ? 0 : -1;
}

int hp_sys_gettid(void) {
    return (int)syscall(SYS_gettid);
}

int hp_sys_signal_file(int signal) {
    enum { KERNEL_SIGSET_BYTES = 8 };
    uint64_t set = UINT64_C(1) << (signal - 1); /* as the kernel has it */
    return (int)syscall(SYS_signalfd4, -1, &set, KERNEL_SIGSET_BYTES, SFD_NONBLOCK | SFD_CLOEXEC);
}

void hp_sys_signal_thread(int pid, int tid, int signal) {
    (void)syscall(SYS_tgkill, pid, tid, signal);
}
