#include "heapprof/base/unix_socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"

enum { KERNEL_SIGSET_BYTES = 8 };

int hp_unix_socket(void) {
    return (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int make_address(struct sockaddr_un *address, int folder, const char *path, const char *name) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    struct hp_writer w = hp_writer_over(address->sun_path, sizeof address->sun_path);
    if (strlen(path) + 1 + strlen(name) + 1 < sizeof address->sun_path) {
        hp_writer_format(&w, "%s/%s", path, name);
    } else {
        hp_writer_format(&w, "/proc/thread-self/fd/%d/%s", folder, name);
    }
    if (w.len + 1 == sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

int hp_unix_bind(int fd, int folder, const char *path, const char *name) {
    struct sockaddr_un address;
    if (make_address(&address, folder, path, name) != 0) {
        return -1;
    }
    if (syscall(SYS_bind, fd, &address, sizeof address) != 0) {
        return -1;
    }
    return (int)syscall(SYS_fchmodat, folder, name, 0600); /* whatever the umask has left of 0777 */
}

int hp_unix_connect(int fd, int folder, const char *path, const char *name) {
    struct sockaddr_un address;
    return make_address(&address, folder, path, name) == 0
               ? (int)syscall(SYS_connect, fd, &address, sizeof address)
               : -1;
}

int hp_unix_listen(int fd, int queue) {
    return (int)syscall(SYS_listen, fd, queue);
}

int hp_unix_accept(int fd, int wake) {
    struct pollfd both[] = {{.fd = fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    if (syscall(SYS_ppoll, both, 2, NULL, NULL, KERNEL_SIGSET_BYTES) < 0) {
        return -1;
    }
    if (both[1].revents != 0) {
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_accept4, fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int hp_unix_peer(int fd, unsigned *uid) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
        return -1;
    }
    *uid = peer.uid;
    return 0;
}

ssize_t hp_unix_send(int fd, const void *bytes, size_t length) {
    return syscall(SYS_sendto, fd, bytes, length, MSG_NOSIGNAL, NULL, 0);
}

ssize_t hp_unix_receive(int fd, void *bytes, size_t length) {
    return syscall(SYS_recvfrom, fd, bytes, length, 0, NULL, NULL);
}

static int wait_for(int fd, short events, int64_t deadline) {
    struct pollfd one = {.fd = fd, .events = events};
    for (;;) {
        int64_t left = deadline - hp_clock_ns();
        struct timespec ts = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        long n = left > 0 ? syscall(SYS_ppoll, &one, 1, &ts, NULL, KERNEL_SIGSET_BYTES) : 0;
        if (n >= 0 || errno != EINTR) {
            return n > 0;
        }
    }
}

int hp_unix_wait_to_receive(int fd, int64_t deadline) {
    return wait_for(fd, POLLIN, deadline);
}

int hp_unix_wait_to_send(int fd, int64_t deadline) {
    return wait_for(fd, POLLOUT, deadline);
}
