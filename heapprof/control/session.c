#include "heapprof/control/session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "guard/thread.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/unix_socket.h"

#define SECOND INT64_C(1000000000)

/* A client has a request ready when it connects. A reply of megabytes takes milliseconds. */
#define REQUEST_PATIENCE_NS (2 * SECOND)
#define REPLY_PATIENCE_NS (10 * SECOND)

/* How long the listener waits for a new thread, and how often it makes it: its first stack may be too small.
 */
#define START_PATIENCE_NS (SECOND / 10)
enum { START_TRIES = 8 };

static const uint32_t OVER = UINT32_MAX;

struct session {
    struct guard_thread thread;
    _Atomic uint32_t connection; /* the descriptor + 1; 0: none, the session is free; or OVER */
    _Atomic uint32_t is_ready;   /* its thread waits for connections */
    const struct hp_control_host *host;
    char text[HP_STATUS_BYTES_MAX]; /* what is sent; pages that nothing reaches are never touched */
};

static void session_body(void);

/* Its stack is there from the start: it holds the guard's lock and that of the dumps, for which a page that is touched
 * first when no more may be had (memory.high, or memory.oom_control) would stop both. */
#define SESSION                                                                                              \
    {                                                                                                        \
        .thread = {                                                                                          \
            .name = "heapprof-answer",                                                                       \
            .body = session_body,                                                                            \
            .loss = "heapprof can't be asked"                                                                \
        }                                                                                                    \
    }
static struct session sessions[HP_SESSIONS] = {SESSION, SESSION, SESSION, SESSION};

/* -- Sending -- */

static bool send_all(int fd, const char *bytes, size_t length, int64_t deadline) {
    while (length > 0) {
        ssize_t n = hp_unix_send(fd, bytes, length);
        if (n > 0) {
            bytes += n;
            length -= (size_t)n;
        } else if (errno != EAGAIN || hp_unix_wait_to_send(fd, deadline) == 0) {
            return false;
        }
    }
    return true;
}

static bool send_ok(int fd, uint64_t body_bytes, int64_t deadline) {
    char line[HP_PROTOCOL_LINE + 1];
    return send_all(fd, line, hp_protocol_write_ok(line, body_bytes), deadline);
}

void hp_session_refuse(int connection, enum hp_fault fault, const char *text) {
    char line[HP_PROTOCOL_LINE + 1];
    size_t length = hp_protocol_write_error(line, fault, text);
    (void)hp_unix_send(connection, line, length); /* there is room: it is the first that is sent */
}

/* -- Answers -- */

static void answer_status(struct session *s, int fd) {
    size_t length = s->host->write_status(s->text, sizeof s->text);
    if (length == 0) {
        hp_session_refuse(fd, HP_FAULT_FAILED, "the guard is busy; ask again");
        return;
    }
    int64_t deadline = hp_clock_ns() + REPLY_PATIENCE_NS;
    if (send_ok(fd, length, deadline)) {
        (void)send_all(fd, s->text, length, deadline);
    }
}

static void send_file(struct session *s, int fd, int file, int64_t size) {
    int64_t deadline = hp_clock_ns() + REPLY_PATIENCE_NS;
    bool goes_on = send_ok(fd, (uint64_t)size, deadline);
    for (int64_t at = 0; goes_on && at < size;) {
        ssize_t n = hp_sys_read_at(file, s->text, sizeof s->text, at);
        goes_on = n > 0 && send_all(fd, s->text, (size_t)n, deadline);
        at += n > 0 ? n : 0;
    }
}

/* A profile of this moment in a scratch file. Its descriptor; -1 with *error set. */
static int make_profile(const struct session *s, bool in_memory, int *error) {
    int file = s->host->open_scratch(in_memory);
    *error = file >= 0 ? s->host->write_profile(file) : errno;
    if (*error != 0 && file >= 0) {
        (void)hp_sys_close(file);
    }
    return *error == 0 ? file : -1;
}

/* It is whole before its first byte is sent: while a dump is made no client is waited for. */
static void answer_profile(struct session *s, int fd) {
    int error = 0;
    int file = make_profile(s, false, &error);
    if (file < 0 && error != EBUSY) {
        file = make_profile(s, true, &error);
    }
    int64_t size = file >= 0 ? hp_sys_size(file) : -1;
    if (size >= 0) {
        send_file(s, fd, file, size);
    } else {
        hp_session_refuse(fd, HP_FAULT_FAILED,
                          error == EBUSY ? "another dump is being made; ask again"
                                         : "no profile could be written");
    }
    if (file >= 0) {
        (void)hp_sys_close(file);
    }
}

/* -- A session -- */

static const char *const complaints[HP_FAULTS] = {
    [HP_FAULT_MALFORMED] = "that is no request; heapprof speaks docs/protocol.md here",
    [HP_FAULT_VERSION] = "this process speaks version 1 only",
    [HP_FAULT_UNKNOWN] = "there are the requests status and profile",
    [HP_FAULT_LATE] = "the request did not come within 2 seconds",
};
_Static_assert(HP_PROTOCOL_VERSION == 1, "the text above names the version");

/* Reads the request. False with *fault set; HP_FAULTS: nothing was asked. */
static bool read_request(int fd, enum hp_request *request, enum hp_fault *fault) {
    char bytes[HP_PROTOCOL_LINE + 1];
    size_t length = 0;
    int64_t deadline = hp_clock_ns() + REQUEST_PATIENCE_NS;
    while (length < sizeof bytes) {
        ssize_t n = hp_unix_receive(fd, bytes + length, sizeof bytes - length);
        if (n < 0 && errno == EAGAIN) {
            *fault = HP_FAULT_LATE;
            if (hp_unix_wait_to_receive(fd, deadline) == 0) {
                return false;
            }
            continue;
        }
        *fault = length > 0 ? HP_FAULT_MALFORMED : HP_FAULTS;
        if (n <= 0) {
            return false;
        }
        length += (size_t)n;
        enum hp_protocol_reading reading = hp_protocol_read_request(bytes, length, request, fault);
        if (reading != HP_PROTOCOL_MORE) {
            return reading == HP_PROTOCOL_WHOLE;
        }
    }
    *fault = HP_FAULT_MALFORMED;
    return false;
}

static void serve(struct session *s, int fd) {
    enum hp_request request = HP_REQUEST_STATUS;
    enum hp_fault fault = HP_FAULTS;
    if (!read_request(fd, &request, &fault)) {
        if (fault != HP_FAULTS) {
            hp_session_refuse(fd, fault, complaints[fault]);
        }
    } else if (request == HP_REQUEST_PROFILE) {
        answer_profile(s, fd);
    } else {
        answer_status(s, fd);
    }
}

static struct session *find_own(void) {
    struct session *own = sessions;
    while (!guard_thread_is_self(&own->thread)) {
        own++;
    }
    return own;
}

static void session_body(void) {
    struct session *s = find_own();
    s->host->thread_begin();
    hp_log_find_standard_error(); /* the table of descriptors is the listener's */
    atomic_store_explicit(&s->is_ready, 1, memory_order_release);
    hp_sys_futex_wake(&s->is_ready, 1);
    for (;;) {
        uint32_t connection = atomic_load_explicit(&s->connection, memory_order_acquire);
        if (connection == OVER || (connection == 0 && guard_threads_are_over())) {
            return;
        }
        if (connection == 0) {
            hp_sys_futex_wait(&s->connection, 0, -1);
            continue;
        }
        serve(s, (int)connection - 1);
        (void)hp_sys_close((int)connection - 1);
        atomic_store(&s->connection, 0); /* before it is seen whether all is over: see hp_session_end_all() */
        atomic_thread_fence(memory_order_seq_cst);
    }
}

/* -- The listener's side -- */

/* The thread's stack may turn out too small: then there is none again. */
static bool start(struct session *s) {
    for (int i = 0; i < START_TRIES && atomic_load_explicit(&s->is_ready, memory_order_acquire) == 0; i++) {
        if (!guard_thread_start(&s->thread)) {
            return false;
        }
        hp_sys_futex_wait(&s->is_ready, 0, START_PATIENCE_NS);
    }
    return atomic_load_explicit(&s->is_ready, memory_order_acquire) != 0;
}

bool hp_session_begin(int connection, const struct hp_control_host *host) {
    for (unsigned i = 0; i < HP_SESSIONS; i++) {
        struct session *s = &sessions[i];
        if (atomic_load_explicit(&s->connection, memory_order_acquire) != 0) {
            continue;
        }
        s->host = host;
        if (!start(s)) {
            return false;
        }
        atomic_store_explicit(&s->connection, (uint32_t)connection + 1, memory_order_release);
        hp_sys_futex_wake(&s->connection, 1);
        return true;
    }
    return false;
}

/* One that is busy now will see that all is over. */
void hp_session_end_all(void) {
    for (unsigned i = 0; i < HP_SESSIONS; i++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&sessions[i].connection, &none, OVER)) {
            hp_sys_futex_wake(&sessions[i].connection, 1);
        }
    }
}

void hp_session_forget(void) {
    for (unsigned i = 0; i < HP_SESSIONS; i++) {
        guard_thread_forget(&sessions[i].thread);
        atomic_store_explicit(&sessions[i].connection, 0, memory_order_relaxed);
        atomic_store_explicit(&sessions[i].is_ready, 0, memory_order_relaxed);
    }
}
