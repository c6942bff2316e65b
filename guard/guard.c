#include "guard/guard.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "guard/event.h"
#include "guard/jobs.h"
#include "guard/relief.h"
#include "guard/state.h"
#include "guard/thread.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/lock.h"
#include "heapprof/base/sys.h"

/*
 * How often an allocating thread may read. Between two readings lie at least `guard_bytes_allowed` bytes
 * handed out by the process and READ_PAUSE_NS, but for a request that alone could cross.
 *
 * allowed = half of the distance to the next thing that could happen (guard_distance), divided by the
 * processes that share the way (guard_watch_allowance), but not below 64 KiB. Half, because the counter is
 * only near the truth: it is set to 0 before the files are read, so what others hand out meanwhile counts
 * twice (early: harmless), but what was handed out before and is touched after the reading counts not at all.
 * Coming nearer, the halves shrink, so a climb of 12 MiB to a threshold costs 8 readings.
 *
 * The pause bounds the cost for a program that allocates and frees at a standstill near a threshold: 4,000
 * readings a second. A thread that touches 6 GB/s, as fast as there is, gets 1.5 MB further in it.
 */
#define ALLOWED_LEAST (UINT64_C(64) << 10)
#define READ_PAUSE_NS INT64_C(250000)

/* The guard's thread, when idle, looks each second. */
#define TRACK_EVERY_NS INT64_C(900000000)

/* A dump that is being written is finished; a file that hangs, or a callback, is not waited for longer. */
#define END_PATIENCE_NS INT64_C(2000000000)

_Atomic uint64_t guard_bytes_since;
_Atomic uint64_t guard_bytes_allowed = UINT64_MAX;

struct guard_state guard_state;
static struct hp_lock lock = HP_LOCK_INIT(HP_RANK_GUARD);

static bool may_be_refused;  /* memory, by a limit of this process; set once */
static bool thread_can_read; /* the guard's; this and the next are guarded by the lock */
static int64_t thread_wakes; /* when the guard's thread will look again; guarded by the lock */

/* Written under the lock, read by all. */
static _Atomic int64_t last_read;
static _Atomic uint64_t last_distance;
static _Atomic uint64_t least_limit = UINT64_MAX;
static _Atomic bool is_watching;

static _Atomic uint32_t requests;   /* dumps asked for and not yet passed to the host */
static _Atomic uint32_t wake_count; /* what the guard's thread sleeps on */

static void thread_body(void);
static struct guard_thread thread = {
    .name = "heapprof-guard", .body = thread_body, .loss = "the limit is watched at allocations only"};

/* -- What jobs.c shares -- */

static __thread bool holds_lock __attribute__((tls_model("initial-exec")));
static __thread bool is_acting __attribute__((tls_model("initial-exec")));

void guard_lock(void) {
    holds_lock = true; /* first: a signal handler between the two must not want it */
    hp_lock_take(&lock);
}

bool guard_lock_within(int64_t timeout_ns) {
    holds_lock = true;
    holds_lock = hp_lock_take_within(&lock, timeout_ns);
    return holds_lock;
}

void guard_unlock(void) {
    hp_lock_release(&lock);
    holds_lock = false;
}

bool guard_is_inside(void) {
    return holds_lock || is_acting;
}

void guard_set_acting(bool acts) {
    is_acting = acts;
}

void guard_wake(void) {
    atomic_fetch_add(&wake_count, 1);
    guard_event_wake(&wake_count);
}

void guard_publish(void) {
    const struct guard_watch *watch = &guard_state.watch;
    uint64_t distance = guard_watch_distance(watch);
    uint64_t allowed = guard_watch_allowance(watch);
    allowed = allowed > ALLOWED_LEAST ? allowed : ALLOWED_LEAST;
    if (watch->count == 0) {
        allowed = UINT64_MAX;
    } else if (watch->read_at == 0 || guard_jobs_gate_is_closed()) {
        allowed = 0;
    }
    atomic_store_explicit(&last_distance, distance, memory_order_relaxed);
    atomic_store_explicit(&least_limit, guard_watch_limit(watch), memory_order_relaxed);
    atomic_store_explicit(&is_watching, guard_watch_is_wanted(watch), memory_order_relaxed);
    atomic_store_explicit(&guard_bytes_allowed, allowed, memory_order_relaxed);
}

/* -- Looking -- */

/* Releases the lock after a look or a refresh, and says what those have found. */
static void release_and_tell(void) {
    struct guard_news news = guard_watch_take_news(&guard_state.watch);
    guard_unlock();
    guard_news_say(&news);
}

void guard_note_usage(int64_t now) {
    const struct guard_watch *watch = &guard_state.watch;
    if (watch->count > 0 && watch->is_exact && !watch->is_stale) {
        guard_track_note(&guard_state.track, watch->reading.usage, now);
    }
}

/* Far below all thresholds an upper bound is all that is read, with the file cache in it: now and then the truth, for
 * the track. Lock held. */
static void read_for_track(int64_t now) {
    struct guard_watch *watch = &guard_state.watch;
    if (watch->count > 0 && !watch->is_exact && now - guard_state.track.when >= TRACK_EVERY_NS) {
        guard_watch_read(watch);
        guard_note_usage(now);
    }
}

/* A reading and what follows from it. Lock held. */
static void look(uint64_t pending, bool may_find) {
    struct guard_watch *watch = &guard_state.watch;
    int64_t now = hp_clock_ns();
    struct guard_find find;
    guard_watch_refresh(watch, may_find, now);
    atomic_store_explicit(&guard_bytes_since, 0, memory_order_relaxed);
    if (guard_watch_look(watch, pending, guard_jobs_ticket(), now, &find)) {
        guard_jobs_queue(&find);
    }
    guard_note_usage(now);
    atomic_store_explicit(&last_read, now, memory_order_relaxed);
    guard_publish();
}

/* -- The guard's thread -- */

static void serve_requests(void) {
    if (atomic_exchange_explicit(&requests, 0, memory_order_acquire) != 0 &&
        guard_state.host->requested != NULL) {
        guard_state.host->requested();
    }
}

/* One turn. Returns how long to sleep, < 0: until woken. */
static int64_t turn(void) {
    serve_requests();
    guard_lock();
    look(0, true);
    read_for_track(hp_clock_ns());
    thread_can_read = !guard_state.watch.is_stale;
    guard_event_follow(&guard_state.watch);
    int64_t sleep = guard_watch_sleep(&guard_state.watch);
    thread_wakes = sleep >= 0 ? hp_clock_ns() + sleep : INT64_MAX;
    bool has_job = guard_jobs_has_queued();
    release_and_tell();
    if (has_job) {
        guard_jobs_run(true);
        return GUARD_SLEEP_MIN_NS;
    }
    return sleep;
}

static void thread_body(void) {
    if (guard_thread_leave_descriptors()) {
        guard_event_begin();
    }
    if (guard_state.host->thread_begin != NULL) {
        guard_state.host->thread_begin();
    }
    for (;;) {
        uint32_t seen = atomic_load(&wake_count);
        if (guard_threads_are_over()) {
            return;
        }
        guard_event_sleep(&wake_count, seen, turn());
    }
}

/* To watch, to answer, or to dump when memory is refused: that is done by an allocating thread too, but one
 * that stands at the end of its stack when nothing more can be mapped would not survive it. */
static bool is_thread_wanted(void) {
    return atomic_load_explicit(&is_watching, memory_order_relaxed) || guard_state.options->signal != 0 ||
           may_be_refused || atomic_load_explicit(&requests, memory_order_relaxed) != 0;
}

/* Without a thread, for good, what was asked for is done by a thread that allocates. */
static bool has_something_to_start(void) {
    return guard_threads_are_over() ? atomic_load_explicit(&requests, memory_order_relaxed) != 0
                                    : !guard_thread_is_there(&thread) || guard_relief_wants_start();
}

bool guard_wants_start(void) {
    return guard_state.host != NULL && has_something_to_start() && is_thread_wanted();
}

void guard_start(void) {
    if (!guard_wants_start()) {
        return;
    }
    if (guard_threads_are_over()) {
        serve_requests();
        return;
    }
    if (!guard_thread_start(&thread)) {
        guard_jobs_run(false); /* what was queued while it was being made */
    }
    guard_relief_start();
}

void guard_end_threads(void) {
    if (guard_state.host == NULL) {
        return;
    }
    guard_threads_close();
    guard_wake();
    guard_relief_wake();
    int64_t deadline = hp_clock_ns() + END_PATIENCE_NS;
    guard_thread_join(&thread, deadline);
    guard_relief_join(deadline);
}

void guard_expect_pressure(void) {
    guard_relief_expect();
}

/* -- Allocating threads -- */

/* Whether an exact reading could tell more than the last one and the bytes since. */
static bool is_worth_reading(uint64_t pending) {
    return pending >= atomic_load_explicit(&last_distance, memory_order_relaxed) ||
           hp_clock_ns() - atomic_load_explicit(&last_read, memory_order_relaxed) >= READ_PAUSE_NS;
}

/* Whether the guard's thread sleeps much longer than is good by what is known now. Lock held. */
static bool is_oversleeping(void) {
    int64_t sleep = guard_watch_sleep(&guard_state.watch);
    return sleep >= 0 && sleep < (thread_wakes - hp_clock_ns()) / 2;
}

/* Reads, and sees that somebody acts on it. */
static void check(uint64_t pending) {
    if (!guard_lock_within(guard_gate_ns())) {
        return;
    }
    bool has_thread = guard_thread_is_there(&thread);
    look(pending, !has_thread);
    bool has_job = guard_jobs_has_queued();
    bool wants_thread = has_job || (guard_state.watch.is_stale && thread_can_read) || is_oversleeping();
    release_and_tell();
    if (has_thread && wants_thread) {
        guard_wake();
    } else if (has_job) {
        guard_jobs_run(false);
    }
}

/* Threads of which the guard itself waits. */
static bool is_own_thread(void) {
    return guard_thread_is_self(&thread) || guard_relief_is_self();
}

void guard_check(uint64_t pending) {
    if (guard_state.host == NULL || guard_is_inside() || is_own_thread()) {
        return;
    }
    int64_t deadline = hp_clock_ns() + guard_gate_ns();
    if (!guard_jobs_gate_is_closed() && is_worth_reading(pending)) {
        check(pending);
    } else if (!guard_thread_is_there(&thread)) {
        guard_jobs_run(false);
    }
    guard_jobs_wait(deadline);
}

void guard_out_of_memory(uint64_t bytes) {
    if (guard_state.host == NULL || guard_is_inside() || is_own_thread()) {
        return;
    }
    int saved = errno;
    int64_t now = hp_clock_ns();
    int64_t patience = guard_gate_ns();
    if (guard_jobs_queue_refused(bytes)) {
        if (!guard_thread_is_there(&thread)) {
            guard_jobs_run_refused();
        } else {
            guard_wake();
            if (!guard_jobs_wait_refused(now + patience / 2) && patience > 0) {
                guard_jobs_run_refused();
            }
        }
        (void)guard_jobs_wait_refused(now + patience);
    }
    errno = saved;
}

void guard_request(void) {
    int saved = errno;
    atomic_fetch_add_explicit(&requests, 1, memory_order_release);
    guard_wake();
    errno = saved;
}

/* -- Set-up and questions -- */

bool guard_init(const struct hp_options *the_options, const struct guard_host *the_host) {
    struct guard_watch *watch = &guard_state.watch;
    guard_state.options = the_options;
    may_be_refused = guard_limits_may_refuse();
    guard_lock();
    guard_watch_init(watch, the_options);
    guard_watch_refresh(watch, true, hp_clock_ns());
    guard_publish();
    bool has_any = watch->count > 0;
    if (has_any) {
        atomic_store_explicit(&guard_bytes_allowed, 0,
                              memory_order_relaxed); /* the first sample has it read */
    }
    release_and_tell();
    guard_state.host = the_host;
    return has_any;
}

bool guard_read(struct guard_reading *reading, bool fresh) {
    struct guard_watch *watch = &guard_state.watch;
    guard_lock();
    if (guard_state.host != NULL && watch->count > 0 && (fresh || !watch->is_exact)) {
        guard_watch_refresh(watch, false, hp_clock_ns());
        guard_watch_read(watch);
        guard_note_usage(hp_clock_ns());
    }
    bool has_any = guard_state.host != NULL && watch->count > 0;
    *reading = watch->reading;
    release_and_tell();
    return has_any;
}

void guard_set_limit(uint64_t bytes) {
    struct guard_watch *watch = &guard_state.watch;
    if (guard_state.host == NULL) {
        return;
    }
    guard_lock();
    watch->wish.set = bytes;
    guard_watch_reset(watch);
    guard_watch_refresh(watch, true, hp_clock_ns());
    guard_publish();
    if (watch->count > 0) {
        atomic_store_explicit(&guard_bytes_allowed, 0, memory_order_relaxed);
    }
    release_and_tell();
    guard_wake();
}

bool guard_may_be_refused(void) {
    return may_be_refused;
}

uint64_t guard_limit(void) {
    return atomic_load_explicit(&least_limit, memory_order_relaxed);
}

/* -- fork() -- */

/* A thread that reads holds the lock, and a file may hang (an lxcfs that does not answer): fork() must not.
 */
#define FORK_PATIENCE_NS INT64_C(200000000)

static __thread bool held_for_fork __attribute__((tls_model("initial-exec")));

void guard_fork_prepare(void) {
    held_for_fork = guard_lock_within(FORK_PATIENCE_NS);
    if (held_for_fork) {
        guard_state.watch.has_relatives = true;
    }
}

void guard_fork_parent(void) {
    if (held_for_fork) {
        guard_unlock();
    }
}

/* The watch was copied in the middle of another thread's reading: all of it is found anew. */
static void begin_watch_again(struct guard_watch *watch) {
    uint64_t set = watch->wish.set;
    memset(watch, 0, sizeof *watch);
    guard_watch_init(watch, guard_state.options);
    watch->wish.set = set;
    watch->has_relatives = true;
    hp_lock_reset(&lock);
    guard_lock();
}

void guard_fork_child(void) {
    struct guard_watch *watch = &guard_state.watch;
    if (!held_for_fork && guard_state.options != NULL) {
        begin_watch_again(watch);
    }
    guard_watch_reset(watch);
    guard_state.track = (struct guard_track){0};
    guard_jobs_reset();
    guard_set_acting(false);
    atomic_store_explicit(&requests, 0, memory_order_relaxed);
    atomic_store_explicit(&last_read, 0, memory_order_relaxed);
    atomic_store_explicit(&guard_bytes_since, 0, memory_order_relaxed);
    guard_publish(); /* nothing is allowed before the child's own first reading */
    guard_threads_open();
    guard_thread_forget(&thread);
    guard_event_forget();
    guard_relief_forget();
    guard_unlock();
}
