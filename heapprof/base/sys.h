/*
 * System calls, made directly.
 *
 * malloc is not a cancellation point, but libc's open, read, write, fsync and close are: a thread that is
 * cancelled while our code reads a cgroup file on its behalf would be unwound out of malloc. syscall(2) is
 * none. It also passes by whatever another preloaded library put in the place of write() or open().
 *
 * All return what the kernel's call returns, -1 with errno set on failure, and may be called from any
 * thread and from signal handlers. They restart on EINTR where that is right.
 */
#ifndef HP_BASE_SYS_H
#define HP_BASE_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HP_SYS_PAGE = 4096 };

/* `flags` as for open(2); O_CLOEXEC is always added. */
int hp_sys_open(const char *path, int flags, unsigned mode);
ssize_t hp_sys_read(int fd, void *buf, size_t bytes);
ssize_t hp_sys_write(int fd, const void *buf, size_t bytes);
int hp_sys_close(int fd);
int hp_sys_fsync(int fd);
/* Has the kernel begin to write the file to its disk; does not wait for it. */
void hp_sys_start_writing(int fd);
int hp_sys_mkdir(const char *path, unsigned mode);
int hp_sys_unlink(const char *path);
/* Renames, replacing a file of the new name. */
int hp_sys_rename(const char *from, const char *to);
/* The same for names in the open folder `folder`. */
int hp_sys_open_at(int folder, const char *name, int flags, unsigned mode);
int hp_sys_unlink_at(int folder, const char *name);
int hp_sys_rename_at(int folder, const char *from, const char *to);
/* Whether there is anything of that name, a dangling symlink too. */
_Bool hp_sys_exists_at(int folder, const char *name);
/* Renames; fails with EEXIST rather than replace a file, where the file system can tell. */
int hp_sys_rename_new(const char *from, const char *to);
/* Gives the open file, one that has no name yet (O_TMPFILE), the name `path`; fails with EEXIST rather than
 * replace a file. */
int hp_sys_link_open(int fd, const char *path);
/* Appends what the open file `from` holds from its beginning to `to`. */
int hp_sys_copy(int from, int to);
/* Locks the open file for this descriptor, if no other process has (flock(2), LOCK_EX | LOCK_NB). 0, or -1.
 */
int hp_sys_try_lock_file(int fd);
/* Sleeps; a signal may end it early. */
void hp_sys_sleep(int64_t ns);
/* Directory records as getdents64(2) gives them. */
ssize_t hp_sys_getdents(int fd, void *buf, size_t bytes);
struct hp_file_info {
    uint64_t bytes;
    int64_t written_ns; /* when it was last written, since the Unix epoch */
    unsigned owner;
};
/* Of a regular file; -1 when it is none. Follows no symlink. */
int hp_sys_file_info(const char *path, struct hp_file_info *info);
/* Owner and permission bits of what is open. */
int hp_sys_owner(int fd, unsigned *uid, unsigned *mode);
int hp_sys_chmod(int fd, unsigned mode);
/* A file in memory, without a name. */
int hp_sys_memory_file(const char *label);
/* The size of the open file; -1 when it has none. */
int64_t hp_sys_size(int fd);
ssize_t hp_sys_read_at(int fd, void *buf, size_t bytes, int64_t offset);
/* Whether there is a process of that number, in this pid namespace. */
_Bool hp_sys_process_exists(int pid);
/* How many pages the calling thread has touched for the first time, so far. */
uint64_t hp_sys_page_faults(void);
int hp_sys_getpid(void);
unsigned hp_sys_geteuid(void);
/* Sleeps while *word is `expected`, at most `timeout_ns` (< 0: for ever). Returns at a wake, a change, a
 * signal or the time's end; the caller looks again. */
void hp_sys_futex_wait(const void *word, uint32_t expected, int64_t timeout_ns);
void hp_sys_futex_wake(const void *word, int how_many);
int hp_sys_gettid(void);
/* A descriptor that can be read while `signal` is pending for the reading thread, which has it blocked; and
 * how one is sent to a thread of this process (tid, as `pid` numbers its process). */
int hp_sys_signal_file(int signal);
void hp_sys_signal_thread(int pid, int tid, int signal);
/* The working folder's absolute path into `buf`; -1 when it does not fit or is unreachable. libc's getcwd
 * goes through the directories, with malloc, when the path is long. */
int hp_sys_getcwd(char *buf, size_t cap);

#endif
