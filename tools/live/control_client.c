#include "tools/live/control_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 * 1024, CONNECT_MS = 2000, PAUSE_MS = 10 };

static long now_ms(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* -- Connecting -- */

/* The socket of that name, found but not opened: what a symlink leads to, on our side perhaps, is not knocked at. */
static int find_socket(int folder, const char *name) {
    struct stat status;
    int found = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found < 0 || (fstat(found, &status) == 0 && S_ISSOCK(status.st_mode)))
        return found;
    close(found);
    errno = ENOTSOCK;
    return -1;
}

/* By its descriptor: whatever its own path, this one fits into an address. */
static int connect_to(int fd, int folder, const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int found = find_socket(folder, name);
    if (found < 0)
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", found);
    int rc = connect(fd, (const struct sockaddr *)&address, sizeof address);
    int failure = errno;
    close(found);
    errno = failure;
    return rc;
}

/* EAGAIN: its queue is full. */
static int connect_within(int fd, int folder, const char *name, int patience_ms) {
    long deadline = now_ms() + patience_ms;
    int rc = connect_to(fd, folder, name);
    while (rc != 0 && errno == EAGAIN && now_ms() < deadline) {
        (void)poll(NULL, 0, PAUSE_MS);
        rc = connect_to(fd, folder, name);
    }
    return rc;
}

static bool is_of(int fd, int pid) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid == pid;
}

static const char *what_refused(int error) {
    switch (error) {
    case ECONNREFUSED:
        return "nobody listens on its socket any more";
    case EAGAIN:
        return "it does not take connections";
    default:
        return strerror(error);
    }
}

int hp_control_connect(int folder, const char *name, int pid, struct hp_error *error) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        hp_error_set(error, "no socket: %s", strerror(errno));
        return -1;
    }
    if (connect_within(fd, folder, name, CONNECT_MS) != 0) {
        hp_error_set(error, "%s", what_refused(errno));
    } else if (!is_of(fd, pid)) {
        hp_error_set(error, "another process listens on the socket %s", name);
    } else {
        return fd;
    }
    close(fd);
    return -1;
}

/* -- Asking -- */

/* Waits until the socket is ready. False, with `error` set, at the end of the time or at a signal. */
static bool wait_for(int fd, short events, long deadline, struct hp_error *error) {
    struct pollfd ready = {.fd = fd, .events = events};
    long left = deadline - now_ms();
    int n = left > 0 ? poll(&ready, 1, (int)left) : 0;
    if (n > 0)
        return true;
    if (n == 0)
        return hp_error_set(error, "it did not answer in time");
    return hp_error_set(error, "%s", errno == EINTR ? "interrupted" : strerror(errno));
}

static bool send_request(int fd, enum hp_request request, long deadline, struct hp_error *error) {
    char line[HP_PROTOCOL_LINE + 1];
    size_t length = hp_protocol_write_request(line, request), sent = 0;
    while (sent < length) {
        ssize_t n = send(fd, line + sent, length - sent, MSG_NOSIGNAL);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EPIPE || errno == ECONNRESET)
            return true; /* it has said why already, and closed: that is there to be read */
        else if (errno != EAGAIN)
            return hp_error_set(error, "%s", strerror(errno));
        else if (!wait_for(fd, POLLOUT, deadline, error))
            return false;
    }
    return true;
}

struct incoming {
    char *bytes;
    size_t length, capacity;
    bool has_ended;
};

static bool receive(int fd, struct incoming *in, long deadline, struct hp_error *error) {
    if (in->length + 1 >= in->capacity) {
        size_t capacity = in->capacity == 0 ? FIRST_BYTES : in->capacity * 2;
        char *longer = realloc(in->bytes, capacity);
        if (longer == NULL)
            return hp_error_set(error, "no memory for the reply");
        in->bytes = longer;
        in->capacity = capacity;
    }
    ssize_t n = recv(fd, in->bytes + in->length, in->capacity - 1 - in->length, 0);
    if (n < 0 && errno == EAGAIN)
        return wait_for(fd, POLLIN, deadline, error);
    if (n < 0 && errno != ECONNRESET)
        return hp_error_set(error, "%s", strerror(errno));
    in->length += n > 0 ? (size_t)n : 0;
    in->has_ended = n <= 0;
    return true;
}

/* The first line. */
static bool receive_head(int fd, struct incoming *in, struct hp_reply *head, long deadline,
                         struct hp_error *error) {
    for (;;) {
        switch (in->length > 0 ? hp_protocol_read_reply(in->bytes, in->length, head) : HP_PROTOCOL_MORE) {
        case HP_PROTOCOL_WHOLE:
            return true;
        case HP_PROTOCOL_WRONG:
            return hp_error_set(error, "its reply is none of protocol version %d", HP_PROTOCOL_VERSION);
        case HP_PROTOCOL_MORE:
            break;
        }
        if (in->has_ended)
            return hp_error_set(error, "it closed the connection without a reply");
        if (!receive(fd, in, deadline, error))
            return false;
    }
}

/* Exactly the announced bytes, then the end. */
static bool receive_body(int fd, struct incoming *in, const struct hp_reply *head, long deadline,
                         struct hp_error *error) {
    if (head->body_bytes > HP_CONTROL_BODY_MAX)
        return hp_error_set(error, "its reply of %llu bytes is too long",
                            (unsigned long long)head->body_bytes);
    size_t whole = head->line_bytes + (size_t)head->body_bytes;
    while (!in->has_ended && in->length <= whole)
        if (!receive(fd, in, deadline, error))
            return false;
    if (in->length != whole)
        return hp_error_set(error, "its reply is %s: %zu bytes instead of %zu",
                            in->length < whole ? "cut short" : "too long", in->length - head->line_bytes,
                            (size_t)head->body_bytes);
    return true;
}

static bool exchange(int fd, enum hp_request request, long deadline, struct incoming *in,
                     struct hp_control_reply *reply, struct hp_error *error) {
    struct hp_reply head;
    if (!send_request(fd, request, deadline, error) || !receive_head(fd, in, &head, deadline, error))
        return false;
    if (!head.is_ok) {
        reply->fault = head.fault;
        return hp_error_set(error, "it says: %s", head.text);
    }
    if (!receive_body(fd, in, &head, deadline, error))
        return false;
    reply->length = (size_t)head.body_bytes;
    memmove(in->bytes, in->bytes + head.line_bytes, reply->length);
    in->bytes[reply->length] = '\0';
    reply->bytes = in->bytes;
    return true;
}

bool hp_control_ask(int fd, enum hp_request request, int patience_ms, struct hp_control_reply *reply,
                    struct hp_error *error) {
    struct incoming in = {0};
    *reply = (struct hp_control_reply){.fault = HP_FAULTS};
    bool done = exchange(fd, request, now_ms() + patience_ms, &in, reply, error);
    if (!done)
        free(in.bytes);
    return done;
}
