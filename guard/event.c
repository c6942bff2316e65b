#include "guard/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/procfs.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"

enum { SOURCES_MAX = 8, NUMBER_FROM = 32, KERNEL_SIGSET_BYTES = 8 };

enum { WAKE_SIGNAL = SIGURG };

/* After an event none is listened to for this long: 50 turns a second cost 0.1 % of a core, and a usage that
 * swings about a threshold would make thousands. */
#define QUIET_NS INT64_C(20000000)

/* The guard's thread's own. The first is the signalfd. */
static struct pollfd polled[1 + SOURCES_MAX];
static unsigned sources;
static bool has_signal;
static uint32_t followed; /* the watch's generation */
static int64_t quiet_until;

/* While it polls, whom to signal; else 0. */
static _Atomic int polling_thread;
static int process; /* written before */

/* Moves a descriptor of ours up, or gives it up. */
static int keep(int fd) {
    if (fd < 0) {
        return -1;
    }
    int kept = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, NUMBER_FROM);
    (void)hp_sys_close(fd);
    return kept;
}

void guard_event_begin(void) {
    int fd = keep(hp_sys_signal_file(WAKE_SIGNAL));
    polled[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    has_signal = fd >= 0;
    process = (int)syscall(SYS_getpid);
    sources = 0;
    followed = 0;
}

/* -- Sources -- */

/* Reading is what acknowledges. False when the source is no more: its cgroup is gone. */
static bool acknowledge(const struct pollfd *source) {
    char text[256];
    long n = source->events == POLLPRI ? syscall(SYS_pread64, source->fd, text, sizeof text, 0)
                                       : hp_sys_read(source->fd, text, sizeof(uint64_t));
    return n > 0 || errno == EAGAIN;
}

/* A file of the kernel's has news for everyone who has not read it yet. */
static void add(int fd, short events) {
    if (fd >= 0) {
        polled[1 + sources++] = (struct pollfd){.fd = fd, .events = events};
        (void)acknowledge(&polled[sources]);
    }
}

static void drop(unsigned i) {
    (void)hp_sys_close(polled[i].fd);
    polled[i] = polled[sources--];
}

static int open_of(const struct guard_watch *watch, const struct guard_pair *pair, const char *file,
                   int flags) {
    char path[GUARD_CGROUP_PATH + 64];
    guard_cgroup_file(&watch->limits.cgroup, pair->level, file, path, sizeof path);
    return hp_procfs_open(path, flags);
}

/* Has the open pressure file wake us when somebody had to wait for memory. Without CAP_SYS_RESOURCE the
 * kernel takes whole 2 s only, before 6.5 nothing. With the text's end, which it would cut off otherwise. */
static bool ask_for_pressure(int fd) {
    static const char quick[] = "some 20000 500000"; /* us stalled, in us */
    static const char slow[] = "some 80000 2000000";
    return hp_sys_write(fd, quick, sizeof quick) == (ssize_t)sizeof quick ||
           hp_sys_write(fd, slow, sizeof slow) == (ssize_t)sizeof slow;
}

static void add_pressure(int opened) {
    int fd = keep(opened);
    if (fd >= 0 && sources < SOURCES_MAX && ask_for_pressure(fd)) {
        add(fd, POLLPRI);
    } else if (fd >= 0) {
        (void)hp_sys_close(fd);
    }
}

/* "<eventfd> <usage's descriptor> <threshold>". The kernel needs the second only now. */
static bool register_at(int control, int event, int usage, uint64_t threshold) {
    char text[64];
    struct hp_writer w = hp_writer_over(text, sizeof text);
    hp_writer_format(&w, "%d %d %lu", event, usage, threshold);
    return hp_sys_write(control, text, w.len) == (ssize_t)w.len;
}

static void add_thresholds(const struct guard_watch *watch, const struct guard_watched *watched) {
    int control = open_of(watch, &watched->pair, "cgroup.event_control", O_WRONLY);
    int usage = control < 0 ? -1 : open_of(watch, &watched->pair, "memory.usage_in_bytes", O_RDONLY);
    int event = usage < 0 ? -1 : keep((int)syscall(SYS_eventfd2, 0, EFD_NONBLOCK | EFD_CLOEXEC));
    bool any = false;
    for (unsigned i = 0; event >= 0 && i < watched->policy.count; i++) {
        any = register_at(control, event, usage, watched->policy.at[i]) || any;
    }
    if (any) {
        add(event, POLLIN);
    } else if (event >= 0) {
        (void)hp_sys_close(event);
    }
    if (usage >= 0) {
        (void)hp_sys_close(usage);
    }
    if (control >= 0) {
        (void)hp_sys_close(control);
    }
}

void guard_event_follow(const struct guard_watch *watch) {
    if (!has_signal || followed == watch->generation) {
        return;
    }
    followed = watch->generation;
    while (sources > 0) {
        drop(sources);
    }
    for (unsigned i = 0; i < watch->count && sources < SOURCES_MAX; i++) {
        const struct guard_watched *watched = &watch->at[i];
        if (watched->pair.kind == GUARD_PAIR_V1) {
            add_thresholds(watch, watched);
        } else if (watched->pair.kind == GUARD_PAIR_V2_MAX) {
            add(keep(open_of(watch, &watched->pair, "memory.events", O_RDONLY)), POLLPRI);
            add_pressure(open_of(watch, &watched->pair, "memory.pressure", O_RDWR));
        } else if (watched->pair.kind == GUARD_PAIR_MACHINE) {
            add_pressure(hp_procfs_open("/proc/pressure/memory", O_RDWR));
        }
    }
}

/* -- Sleeping -- */

static void take_signals(void) {
    struct signalfd_siginfo info[4];
    while (hp_sys_read(polled[0].fd, info, sizeof info) > 0) {
    }
}

/* Returns whether an event has come. */
static bool take_events(int64_t now) {
    bool any = false;
    for (unsigned i = sources; i > 0; i--) {
        if (polled[i].revents != 0) {
            any = true;
            quiet_until = now + QUIET_NS;
            if (!acknowledge(&polled[i])) {
                drop(i);
            }
        }
    }
    return any;
}

static int poll_for(unsigned count, int64_t ns) {
    struct timespec ts = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    return (int)syscall(SYS_ppoll, polled, count, &ts, NULL, KERNEL_SIGSET_BYTES);
}

/* The kernel does not poll: the process may have fewer numbers now than there are sources. */
static void give_up(void) {
    while (sources > 0) {
        drop(sources);
    }
    has_signal = false;
}

/* Polls until something has come or the time is over. */
static void listen(int64_t timeout_ns) {
    int64_t now = hp_clock_ns();
    int64_t deadline = now + timeout_ns;
    while (now < deadline) {
        bool is_quiet = now < quiet_until;
        int64_t until = is_quiet && quiet_until < deadline ? quiet_until : deadline;
        polled[0].revents = 0;
        int ready = poll_for(is_quiet ? 1 : 1 + sources, until - now);
        now = hp_clock_ns();
        if (ready < 0 && errno != EINTR) {
            give_up();
            return;
        }
        if (polled[0].revents != 0 || (ready > 0 && !is_quiet && take_events(now))) {
            return;
        }
    }
}

void guard_event_sleep(const _Atomic uint32_t *wakes, uint32_t seen, int64_t timeout_ns) {
    if (sources == 0 || timeout_ns < 0) {
        hp_sys_futex_wait(wakes, seen, timeout_ns);
        return;
    }
    take_signals();
    atomic_store(&polling_thread, hp_sys_gettid());
    if (atomic_load(wakes) == seen) {
        listen(timeout_ns);
    }
    atomic_store(&polling_thread, 0);
}

void guard_event_wake(const _Atomic uint32_t *wakes) {
    int thread = atomic_load(&polling_thread);
    if (thread != 0) {
        hp_sys_signal_thread(process, thread, WAKE_SIGNAL);
    } else {
        hp_sys_futex_wake(wakes, 1);
    }
}

void guard_event_forget(void) {
    atomic_store(&polling_thread, 0);
    sources = 0; /* the descriptors were never in this process */
    has_signal = false;
}
