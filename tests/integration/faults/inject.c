/*
 * inject list|N:FAULT|N+:FAULT window|start[:CALL] FILE COMMAND…: runs the command and has one of its system
 * calls fail, from outside, by seccomp's user notification (Linux 5.5): the command, its threads and its
 * children ask us for each call.
 *
 *   list      none fails; the names of those that are counted go to FILE, a line each
 *   N:FAULT   the Nth that is counted does: with an error (ENOSPC, …), or `short`: a write that writes half
 * of it N+:FAULT  the Nth and all after it window    counted is what happens between two calls of
 * getpriority(PRIO_USER, MARK) start     counted is everything, but for the dynamic loader's own; with :CALL
 * only this one
 *
 * INJECT_CALLER="OFFSET BYTES", hexadecimal: only what a function of libheapprof.so there has asked libc for.
 *
 * Ends as the command does. 77: not allowed here.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "mark.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

enum { SKIP = 77, SHORT = -1, STACK_BYTES = 64 << 10, COPY_BYTES = 1 << 20, STACK_WORDS = 8 };

/* What the library's work consists of. Others that it makes can't fail (futex, getpid, rt_sigprocmask, …). */
static const struct {
    const char *name;
    int number;
} calls[] = {{"mmap", SYS_mmap},
             {"munmap", SYS_munmap},
             {"mprotect", SYS_mprotect},
             {"madvise", SYS_madvise},
             {"openat", SYS_openat},
             {"read", SYS_read},
             {"write", SYS_write},
             {"close", SYS_close},
             {"close_range", SYS_close_range},
             {"fsync", SYS_fsync},
             {"sync_file_range", SYS_sync_file_range},
             {"renameat2", SYS_renameat2},
             {"linkat", SYS_linkat},
             {"unlinkat", SYS_unlinkat},
             {"mkdirat", SYS_mkdirat},
             {"newfstatat", SYS_newfstatat},
             {"getdents64", SYS_getdents64},
             {"flock", SYS_flock},
             {"uname", SYS_uname},
             {"getcwd", SYS_getcwd},
             {"readlink", SYS_readlink},
             {"prlimit64", SYS_prlimit64},
             {"nanosleep", SYS_nanosleep},
             {"eventfd2", SYS_eventfd2},
             {"signalfd4", SYS_signalfd4},
             {"fcntl", SYS_fcntl},
             {"dup3", SYS_dup3},
             {"ppoll", SYS_ppoll},
             {"clone3", SYS_clone3},
             {"clone", SYS_clone},
             {"process_vm_readv", SYS_process_vm_readv},
             {"socket", SYS_socket},
             {"getpriority", SYS_getpriority}};
enum { CALLS = sizeof calls / sizeof calls[0] };

static const struct {
    const char *name;
    int number;
} faults[] = {{"short", SHORT},   {"ENOSPC", ENOSPC}, {"EIO", EIO},     {"EINTR", EINTR},
              {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EROFS", EROFS}, {"ENOMEM", ENOMEM},
              {"EAGAIN", EAGAIN}, {"ENOSYS", ENOSYS}, {"EPERM", EPERM}};

static struct {
    unsigned long first; /* of the counted calls; 0: none */
    bool and_after;
    int fault;
    bool from_start;
    int only;             /* number of the call; -1: any */
    unsigned long caller; /* in libheapprof.so; 0: any */
    unsigned long caller_bytes;
    FILE *list;
    unsigned long count;
    bool in_window;
} plan = {.only = -1};

struct child {
    char **command;
    _Atomic int listener; /* shared with the child, which has our descriptors */
};

static const char *name_of(int number) {
    for (int i = 0; i < CALLS; i++) {
        if (calls[i].number == number) {
            return calls[i].name;
        }
    }
    return "?";
}

static int fault_of(const char *name) {
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (strcmp(faults[i].name, name) == 0) {
            return faults[i].number;
        }
    }
    fprintf(stderr, "inject: what is %s?\n", name);
    exit(2);
}

/* -- The child -- */

static int install_filter(void) {
    struct sock_filter code[CALLS + 5] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    unsigned short at = 1;
    for (int i = 0; i < CALLS; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number,
                                                  (unsigned char)(CALLS - i), 0);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog program = {.len = at, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int child_main(void *argument) {
    struct child *child = argument;
    int listener = install_filter();
    atomic_store(&child->listener, listener >= 0 ? listener : -2);
    if (listener < 0) {
        _exit(SKIP);
    }
    execv(child->command[0], child->command);
    _exit(127);
}

/* -- What is asked -- */

/* Where the line of the process's map that `address` lies in begins, or, without an address, the first one
 * that names `file`; 0: none. Its text is left in `line`. */
static unsigned long find_mapping(unsigned pid, unsigned long address, const char *file, char line[1024]) {
    char path[64];
    unsigned long found = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "r");
    while (maps != NULL && found == 0 && fgets(line, 1024, maps) != NULL) {
        unsigned long start = 0;
        unsigned long end = 0;
        if (sscanf(line, "%lx-%lx", &start, &end) == 2 &&
            (file != NULL ? strstr(line, file) != NULL : address >= start && address < end)) {
            found = start;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

static bool is_loaders(const struct seccomp_notif *asked) {
    char line[1024];
    return find_mapping(asked->pid, asked->data.instruction_pointer, NULL, line) != 0 &&
           strstr(line, "/ld-linux") != NULL;
}

/* The words at the top of the stack of a thread that waits in a system call. */
static bool read_stack(unsigned pid, unsigned long words[STACK_WORDS]) {
    char path[64];
    unsigned long sp = 0;
    snprintf(path, sizeof path, "/proc/%u/syscall", pid);
    FILE *file = fopen(path, "r");
    bool done = file != NULL && fscanf(file, "%*d %*x %*x %*x %*x %*x %*x %lx", &sp) == 1;
    if (file != NULL) {
        fclose(file);
    }
    struct iovec here = {.iov_base = words, .iov_len = STACK_WORDS * sizeof words[0]};
    struct iovec there = {.iov_base = (void *)(uintptr_t)sp, .iov_len = here.iov_len};
    return done && process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)here.iov_len;
}

/* Whether the C library's function that makes the call was called from plan.caller. */
static bool is_from_caller(const struct seccomp_notif *asked) {
    char line[1024];
    unsigned long words[STACK_WORDS] = {0};
    unsigned long base = find_mapping(asked->pid, 0, "libheapprof.so", line);
    if (base == 0 || !read_stack(asked->pid, words)) {
        return false;
    }
    for (int i = 0; i < STACK_WORDS; i++) {
        if (words[i] - base >= plan.caller && words[i] - base < plan.caller + plan.caller_bytes) {
            return true;
        }
    }
    return false;
}

static bool is_mark(const struct seccomp_notif *asked) {
    return asked->data.nr == SYS_getpriority && asked->data.args[1] == MARK;
}

static bool is_counted(const struct seccomp_notif *asked) {
    if (is_mark(asked)) {
        plan.in_window = !plan.in_window;
        return false;
    }
    if (plan.only >= 0 && asked->data.nr != plan.only) {
        return false;
    }
    if (plan.caller != 0 && !is_from_caller(asked)) {
        return false;
    }
    return plan.from_start ? !is_loaders(asked) : plan.in_window;
}

/* Writes half of what the thread wants written, through its own descriptor. -1: can't be done here. */
static long write_half(const struct seccomp_notif *asked) {
    static char copy[COPY_BYTES];
    size_t half = asked->data.args[2] / 2;
    if (half == 0 || half > sizeof copy) {
        return -1;
    }
    struct iovec here = {.iov_base = copy, .iov_len = half};
    struct iovec there = {.iov_base = (void *)(uintptr_t)asked->data.args[1], .iov_len = half};
    int thread = (int)syscall(SYS_pidfd_open, asked->pid, PIDFD_THREAD);
    int fd = (int)syscall(SYS_pidfd_getfd, thread, asked->data.args[0], 0);
    long written = -1;
    if (fd >= 0 && process_vm_readv((pid_t)asked->pid, &here, 1, &there, 1, 0) == (ssize_t)half) {
        written = write(fd, copy, half);
    }
    close(fd);
    close(thread);
    return written;
}

static void answer(struct seccomp_notif_resp *reply, const struct seccomp_notif *asked) {
    reply->id = asked->id;
    reply->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (!is_counted(asked)) {
        return;
    }
    plan.count++;
    if (plan.list != NULL) {
        fprintf(plan.list, "%s\n", name_of(asked->data.nr));
    }
    if (plan.first == 0 || plan.count < plan.first || (plan.count > plan.first && !plan.and_after)) {
        return;
    }
    if (plan.fault == SHORT) {
        long written = asked->data.nr == SYS_write ? write_half(asked) : -1;
        if (written >= 0) {
            reply->flags = 0;
            reply->val = written;
        }
        return;
    }
    reply->flags = 0;
    reply->error = -plan.fault;
}

static bool serve(int listener) {
    struct pollfd polled = {.fd = listener, .events = POLLIN};
    struct seccomp_notif asked = {0};
    struct seccomp_notif_resp reply = {0};
    if (poll(&polled, 1, -1) < 0 || (polled.revents & POLLIN) == 0) {
        return false; /* the last task is gone */
    }
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
        return errno == ENOENT || errno == EINTR; /* that one was killed meanwhile */
    }
    answer(&reply, &asked);
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply) == 0 || errno == ENOENT;
}

static void make_plan(const char *what, const char *where, const char *file) {
    if (strcmp(what, "list") == 0) {
        plan.list = fopen(file, "w");
        CHECK(plan.list != NULL);
    } else {
        char *rest = NULL;
        plan.first = strtoul(what, &rest, 10);
        plan.and_after = *rest == '+';
        rest += plan.and_after;
        CHECK(plan.first > 0 && *rest == ':');
        plan.fault = fault_of(rest + 1);
    }
    const char *caller = getenv("INJECT_CALLER");
    CHECK(caller == NULL || sscanf(caller, "%lx %lx", &plan.caller, &plan.caller_bytes) == 2);
    plan.from_start = strncmp(where, "start", 5) == 0;
    for (int i = 0; i < CALLS && strchr(where, ':') != NULL; i++) {
        if (strcmp(calls[i].name, strchr(where, ':') + 1) == 0) {
            plan.only = calls[i].number;
        }
    }
}

int main(int argc, char **argv) {
    CHECK(argc > 4);
    make_plan(argv[1], argv[2], argv[3]);
    char *stack = malloc(STACK_BYTES);
    struct child child = {.command = argv + 4, .listener = -1};
    CHECK(stack != NULL);
    pid_t pid = clone(child_main, stack + STACK_BYTES, CLONE_VM | CLONE_FILES | SIGCHLD, &child);
    CHECK(pid > 0);
    while (atomic_load(&child.listener) == -1) {
        sched_yield();
    }
    while (child.listener >= 0 && serve(child.listener)) {
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (plan.list != NULL) {
        CHECK(fclose(plan.list) == 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
