#include "heapprof/control/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "guard/thread.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/unix_socket.h"
#include "heapprof/base/writer.h"
#include "heapprof/control/socket_folder.h"

/* For a session to end, before a connection is refused. It also bounds what a flood of connections costs. */
#define BUSY_PATIENCE_NS INT64_C(50000000)
#define BUSY_PAUSE_NS INT64_C(5000000)

/* When a connection can't be taken for want of descriptors or memory. */
#define ACCEPT_PAUSE_NS INT64_C(100000000)

enum { PATH_BYTES = 4096 };

static void listener_body(void);
static struct guard_thread listener = {
    .name = "heapprof-socket", .body = listener_body, .loss = "heapprof can't be asked", .is_lean = true};

static struct hp_control_config config; /* host is NULL until hp_control_init() */

/* What it is woken by to end: sent to it alone, blocked there as all signals are (guard/event.h has the
 * same). */
enum { WAKE_SIGNAL = SIGURG };
static _Atomic int listening_thread;

/* The socket's path, and whose it is: written by the listener before `owner` is. */
static char published[PATH_BYTES];
static _Atomic int owner;

void hp_control_init(const struct hp_control_config *new_config) {
    config = *new_config;
}

bool hp_control_wants_start(void) {
    return config.host != NULL && !guard_thread_is_there(&listener);
}

void hp_control_start(void) {
    if (hp_control_wants_start()) {
        (void)guard_thread_start(&listener);
    }
}

void hp_control_remove(void) {
    if (atomic_load_explicit(&owner, memory_order_acquire) == hp_sys_getpid()) {
        (void)hp_sys_unlink(published);
    }
}

void hp_control_end(int64_t deadline) {
    int thread = atomic_load(&listening_thread);
    if (thread != 0) {
        hp_sys_signal_thread(hp_sys_getpid(), thread, WAKE_SIGNAL);
    }
    guard_thread_join(&listener, deadline);
    hp_session_end_all();
    hp_control_remove();
}

void hp_control_fork_child(void) {
    atomic_store_explicit(&listening_thread, 0, memory_order_relaxed);
    atomic_store_explicit(&owner, 0, memory_order_relaxed);
    guard_thread_forget(&listener);
    hp_session_forget();
}

/* -- Making the socket -- */

/* A socket that nobody asked for is missed by nobody, unless somebody is in its way. */
static void tell(const char *path, const struct hp_socket_fault *fault) {
    const char *why = fault->error != 0 ? strerrordesc_np(fault->error) : NULL;
    hp_log(config.are_common && !fault->is_unsafe ? HP_LOG_INFO : HP_LOG_WARN,
           "no control socket: %s %s%s%s; heapprof can't be asked", path, fault->complaint,
           why != NULL ? ": " : "", why != NULL ? why : "");
}

static int listen_in(const char *path, struct hp_socket_fault *fault) {
    char name[HP_SOCKET_NAME_MAX];
    int folder = hp_socket_folder_open(path, fault);
    if (folder < 0) {
        return -1;
    }
    int fd = hp_socket_folder_listen(folder, path, name, fault);
    (void)hp_sys_close(folder);
    if (fd >= 0) {
        struct hp_writer w = hp_writer_over(published, sizeof published);
        hp_writer_format(&w, "%s/%s", path, name);
        atomic_store_explicit(&owner, hp_sys_getpid(), memory_order_release);
        hp_log(HP_LOG_INFO, "listening on %s", published);
    }
    return fd;
}

static void write_folder(char *path, const char *base) {
    struct hp_writer w = hp_writer_over(path, PATH_BYTES - HP_SOCKET_NAME_MAX);
    hp_writer_text(&w, base);
    if (config.are_common) {
        hp_writer_format(&w, "/heapprof-%u", hp_sys_geteuid());
    }
}

/* The first folder that works; of those that do not, the one that is unsafe is told, else the last. */
static int make_socket(void) {
    char path[PATH_BYTES - HP_SOCKET_NAME_MAX];
    char told[PATH_BYTES - HP_SOCKET_NAME_MAX] = "";
    struct hp_socket_fault worst = {.is_unsafe = false};
    for (unsigned i = 0; i < HP_CONTROL_FOLDERS && config.folders[i] != NULL; i++) {
        struct hp_socket_fault fault;
        write_folder(path, config.folders[i]);
        int fd = listen_in(path, &fault);
        if (fd >= 0) {
            return fd;
        }
        if (!worst.is_unsafe) {
            worst = fault;
            memcpy(told, path, sizeof told);
        }
    }
    tell(told, &worst);
    return -1;
}

/* -- Listening -- */

static bool may_ask(int connection) {
    unsigned uid = 0;
    return hp_unix_peer(connection, &uid) == 0 && (uid == 0 || uid == hp_sys_geteuid());
}

static bool begin_session(int connection) {
    for (int64_t waited = 0; !hp_session_begin(connection, config.host); waited += BUSY_PAUSE_NS) {
        if (waited >= BUSY_PATIENCE_NS) {
            return false;
        }
        hp_sys_sleep(BUSY_PAUSE_NS);
    }
    return true;
}

static void take(int connection) {
    if (!may_ask(connection)) {
        hp_session_refuse(connection, HP_FAULT_REFUSED, "this process belongs to another user");
    } else if (begin_session(connection)) {
        return;
    } else {
        hp_session_refuse(connection, HP_FAULT_BUSY, "four sessions are open already; ask again");
    }
    (void)hp_sys_close(connection);
}

/* What is written to number 2 by mistake, on a thread of ours, must not go into a connection. */
static void occupy_standard_numbers(void) {
    int fd = 0;
    while (fd >= 0 && fd < 2) {
        fd = hp_sys_open("/dev/null", O_RDWR, 0);
    }
    if (fd > 2) {
        (void)hp_sys_close(fd);
    }
}

static void listener_body(void) {
    config.host->thread_begin();
    if (!guard_thread_leave_descriptors()) {
        hp_log(config.are_common ? HP_LOG_INFO : HP_LOG_WARN,
               "no control socket: the kernel gives no table of descriptors; heapprof can't be asked");
        return;
    }
    occupy_standard_numbers();
    int socket = make_socket();
    int wake = hp_sys_signal_file(WAKE_SIGNAL);
    atomic_store(&listening_thread, hp_sys_gettid());
    while (socket >= 0 && !guard_threads_are_over()) {
        int connection = hp_unix_accept(socket, wake);
        if (connection >= 0) {
            take(connection);
        } else if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) {
            hp_sys_sleep(ACCEPT_PAUSE_NS);
        }
    }
    atomic_store(&listening_thread, 0);
}
