/*
 * Unix stream sockets by system calls, as base/sys.h and for its reasons: never a cancellation point, never
 * through another library's wrapper. All return what the kernel's call returns, -1 with errno set on failure;
 * descriptors are close-on-exec and non-blocking.
 */
#ifndef HP_BASE_UNIX_SOCKET_H
#define HP_BASE_UNIX_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int hp_unix_socket(void);

/*
 * Binds to, or connects to, `name` in the open folder `folder`, whose absolute path is `path`. An address
 * holds 107 bytes: what is longer goes through /proc/thread-self/fd, which must be there then. A socket that
 * is bound has mode 0600.
 */
int hp_unix_bind(int fd, int folder, const char *path, const char *name);
int hp_unix_connect(int fd, int folder, const char *path, const char *name);

int hp_unix_listen(int fd, int queue);

/* Waits for the next connection, or until `wake` can be read: -1 then, and at a signal. */
int hp_unix_accept(int fd, int wake);

/* Who has connected: a user id. */
int hp_unix_peer(int fd, unsigned *uid);

/* Sends or receives what can be now; errno EAGAIN: nothing. A peer that is gone is EPIPE, never SIGPIPE. */
ssize_t hp_unix_send(int fd, const void *bytes, size_t length);
ssize_t hp_unix_receive(int fd, void *bytes, size_t length);

/* Waits until bytes have come, or can be sent, or the other end is gone. 1; 0 at `deadline` (base/clock.h).
 */
int hp_unix_wait_to_receive(int fd, int64_t deadline);
int hp_unix_wait_to_send(int fd, int64_t deadline);

#endif
