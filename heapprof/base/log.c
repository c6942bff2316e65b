#include "heapprof/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"

static _Atomic int max_level = HP_LOG_WARN;
static _Atomic int lines;

void hp_log_set_level(enum hp_log_level level) {
    atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

static __thread bool must_find __attribute__((tls_model("initial-exec")));

void hp_log_find_standard_error(void) {
    must_find = true;
}

/* A copy, in this thread's table, of the process's standard error; -1 when it can't be had. Copying it needs
 * Linux 5.6, and is denied in some containers; opening it anew does for files, pipes and terminals. Both look
 * into the table of the thread with the process's id, and fail if that has ended. */
static int copy_standard_error(void) {
    int copy = -1;
    int process = (int)syscall(SYS_pidfd_open, syscall(SYS_getpid), 0);
    if (process >= 0) {
        copy = (int)syscall(SYS_pidfd_getfd, process, 2, 0);
        (void)hp_sys_close(process);
    }
    return copy >= 0 ? copy : hp_sys_open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK, 0);
}

/* Whether `fd` takes a line at once. A full pipe or a stopped terminal would have us wait for as long as its reader
 * likes, maybe with the lock of the dumps held; a pipe that nobody reads would end the process by SIGPIPE. */
static bool takes_line(int fd) {
    enum { KERNEL_SIGSET_BYTES = 8 };
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    long n;
    do {
        struct timespec no_time = {0};
        n = syscall(SYS_ppoll, &one, 1, &no_time, NULL, KERNEL_SIGSET_BYTES);
    } while (n < 0 && errno == EINTR);
    return n < 0 || one.revents == POLLOUT;
}

/* The copy is not kept: who waits for the end of that pipe must not wait for us. */
static void write_line(const char *line, size_t bytes) {
    int fd = must_find ? copy_standard_error() : 2;
    if (fd >= 0 && takes_line(fd)) {
        (void)hp_sys_write(fd, line, bytes);
    }
    if (must_find && fd >= 0) {
        (void)hp_sys_close(fd);
    }
}

void hp_log(enum hp_log_level level, const char *format, ...) {
    if ((int)level > atomic_load_explicit(&max_level, memory_order_relaxed)) {
        return;
    }
    int nth = atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed);
    if (nth >= HP_LOG_LINES) {
        atomic_store_explicit(&lines, HP_LOG_LINES, memory_order_relaxed);
        return;
    }
    int saved = errno;
    char line[512];
    struct hp_writer w = hp_writer_over(line, sizeof line - 1); /* room for the line's end */
    hp_writer_text(&w, "heapprof: ");
    va_list args;
    va_start(args, format);
    hp_writer_vformat(&w, format, args);
    va_end(args);
    if (nth == HP_LOG_LINES - 1) {
        w = hp_writer_over(line, sizeof line - 1);
        hp_writer_text(&w, "heapprof: enough said; no more lines from this process");
    }
    line[w.len] = '\n';
    write_line(line, w.len + 1);
    errno = saved;
}
