#include "guard/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/thread.h"
#include "guard/watch.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/lock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"

/*
 * How often an allocating thread may read. Between two readings lie at least `guard_bytes_allowed` bytes
 * handed out by the process and READ_PAUSE_NS, but for a request that alone could cross.
 *
 * allowed = half of the distance to the next thing that could happen (guard_distance), but not below 64 KiB.
 * Half, because the counter is only near the truth: it is set to 0 before the files are read, so what others
 * hand out meanwhile counts twice (early: harmless), but what was handed out before and is touched after the
 * reading counts not at all. Coming nearer, the halves shrink, so a climb of 12 MiB to a threshold costs 8
 * readings.
 *
 * The pause bounds the cost for a program that allocates and frees at a standstill near a threshold: 4,000
 * readings a second. A thread that touches 6 GB/s, as fast as there is, gets 1.5 MB further in it.
 */
#define ALLOWED_LEAST (UINT64_C(64) << 10)
#define READ_PAUSE_NS INT64_C(250000)

/* A callback of the application that holds up the dump for this long has lost its turn. */
#define PRESSURE_MAX_NS INT64_C(1000000000)

/* As a supervisor sees a process that was killed for its memory: 128 + SIGKILL. */
enum { EXIT_STATUS = 137 };

_Atomic uint64_t guard_bytes_since;
_Atomic uint64_t guard_bytes_allowed = UINT64_MAX;

/* A crossing on its way to the host. */
struct job {
    enum { JOB_NONE, JOB_QUEUED, JOB_PRESSURE, JOB_ACTING } stage;
    uint32_t ticket; /* never 0 */
    uint64_t pending;
    int64_t since; /* when it came to its stage */
    struct guard_find find;
};

static const struct hp_options *options; /* set once, as host */
static const struct guard_host *host;

static struct hp_lock lock = HP_LOCK_INIT(HP_RANK_GUARD);

/* Guarded by the lock, down to thread_wakes. */
static struct guard_watch watch;
static struct guard_budget budget;
static struct job queued;    /* JOB_NONE or JOB_QUEUED */
static struct job running;   /* JOB_NONE, or what one thread is doing */
static bool is_thread_stuck; /* in a callback of the application; its job was taken from it */
static uint32_t last_ticket;
static int64_t thread_wakes; /* when the guard's thread will look again */

/* Written under the lock, read by all. */
static _Atomic int64_t last_read;
static _Atomic uint64_t last_distance;
static _Atomic uint64_t least_limit = UINT64_MAX;
static _Atomic bool is_watching;
/* The ticket of a dump at the last threshold that is not done yet, 0: none. Threads wait for it to change. */
static _Atomic uint32_t gate;

static _Atomic uint32_t requests;   /* dumps asked for and not yet passed to the host */
static _Atomic uint32_t wake_count; /* what the guard's thread sleeps on */

static __thread uint32_t passed_ticket __attribute__((tls_model("initial-exec"))); /* waited for in vain */
static __thread bool is_acting __attribute__((tls_model("initial-exec")));         /* runs a job's actions */

static int64_t gate_ns(void) {
    return (int64_t)options->gate_ms * 1000000;
}

static void wake_thread(void) {
    atomic_fetch_add_explicit(&wake_count, 1, memory_order_release);
    hp_sys_futex_wake(&wake_count, 1);
}

/* Tells the allocating threads how far they may go. Lock held. */
static void publish(void) {
    uint64_t distance = guard_watch_distance(&watch);
    uint64_t allowed = distance / 2 > ALLOWED_LEAST ? distance / 2 : ALLOWED_LEAST;
    if (watch.count == 0) {
        allowed = UINT64_MAX;
    } else if (watch.read_at == 0 || atomic_load_explicit(&gate, memory_order_relaxed) != 0) {
        allowed = 0;
    }
    atomic_store_explicit(&last_distance, distance, memory_order_relaxed);
    atomic_store_explicit(&least_limit, guard_watch_limit(&watch), memory_order_relaxed);
    atomic_store_explicit(&is_watching, guard_watch_is_wanted(&watch), memory_order_relaxed);
    atomic_store_explicit(&guard_bytes_allowed, allowed, memory_order_relaxed);
}

/* Releases the lock after a look or a refresh, and says what those have found. */
static void release_and_tell(void) {
    struct guard_news news = guard_watch_take_news(&watch);
    hp_lock_release(&lock);
    guard_news_say(&news);
}

static uint32_t next_ticket(void) {
    return last_ticket + 1 != 0 ? last_ticket + 1 : 1;
}

/* Lock held. Of two crossings that wait, the one nearer to the end is done for both. */
static void enqueue(const struct guard_find *find, uint64_t pending, int64_t now) {
    const struct guard_crossing *new = &find->crossing;
    const struct guard_crossing *old = &queued.find.crossing;
    if (queued.stage == JOB_NONE) {
        last_ticket = next_ticket();
        queued = (struct job){
            .stage = JOB_QUEUED, .ticket = last_ticket, .pending = pending, .since = now, .find = *find};
    } else if (new->is_last > old->is_last || (new->is_last == old->is_last &&new->percent >= old->percent)) {
        queued.pending = pending;
        queued.find = *find;
    }
    if (queued.find.crossing.is_last && atomic_load_explicit(&gate, memory_order_relaxed) == 0) {
        atomic_store_explicit(&gate, queued.ticket, memory_order_release);
    }
}

/* A reading and what follows from it. Lock held. Returns whether something was crossed. */
static bool look(uint64_t pending, bool may_find) {
    int64_t now = hp_clock_ns();
    struct guard_find find;
    guard_watch_refresh(&watch, may_find, now);
    atomic_store_explicit(&guard_bytes_since, 0, memory_order_relaxed);
    bool crossed = guard_watch_look(&watch, pending,
                                    queued.stage == JOB_QUEUED ? queued.ticket : next_ticket(), now, &find);
    if (crossed) {
        enqueue(&find, pending, now);
    }
    atomic_store_explicit(&last_read, now, memory_order_relaxed);
    publish();
    return crossed;
}

/* -- Actions: no lock is held while the host is called. -- */

static bool wants(uint32_t action) {
    return (options->on_limit & action) != 0;
}

/* Makes the queued job the running one. */
static bool claim(struct job *job, bool with_pressure) {
    hp_lock_take(&lock);
    bool claimed = queued.stage == JOB_QUEUED && running.stage == JOB_NONE;
    if (claimed) {
        running = queued;
        queued.stage = JOB_NONE;
        running.stage = with_pressure && !running.find.no_relief ? JOB_PRESSURE : JOB_ACTING;
        running.since = hp_clock_ns();
        *job = running;
    }
    hp_lock_release(&lock);
    return claimed;
}

/* Calls the application. False when that took so long that another thread has taken the job. */
static bool run_pressure(struct job *job) {
    host->pressure(&job->find.crossing);
    hp_lock_take(&lock);
    bool is_ours = running.stage == JOB_PRESSURE && running.ticket == job->ticket;
    if (is_ours) {
        running.stage = job->stage = JOB_ACTING;
    }
    is_thread_stuck = false;
    hp_lock_release(&lock);
    return is_ours;
}

/* Takes a job whose callback has been running for longer than `patience`. */
static bool take_stuck(struct job *job, int64_t patience) {
    hp_lock_take(&lock);
    bool is_stuck = running.stage == JOB_PRESSURE && hp_clock_ns() - running.since >= patience;
    if (is_stuck) {
        running.stage = JOB_ACTING;
        is_thread_stuck = true;
        *job = running;
    }
    hp_lock_release(&lock);
    if (is_stuck) {
        hp_log(HP_LOG_WARN, "a pressure callback takes too long; the dump does not wait for it");
    }
    return is_stuck;
}

static bool is_relieved(struct job *job) {
    uint64_t pending = job->find.crossing.is_predicted ? job->pending : 0;
    hp_lock_take(&lock);
    bool relieved = guard_watch_is_relieved(&watch, &job->find, pending);
    hp_lock_release(&lock);
    return relieved;
}

static enum guard_outcome dump(const struct job *job, int64_t *retry) {
    bool is_last = job->find.crossing.is_last;
    if (!wants(HP_ACTION_DUMP) || host->dump == NULL) {
        return GUARD_DONE;
    }
    hp_lock_take(&lock);
    *retry = guard_budget_take(&budget, is_last, hp_clock_ns());
    hp_lock_release(&lock);
    if (*retry != 0) {
        return GUARD_POSTPONED;
    }
    if (host->dump(&job->find.crossing)) {
        return GUARD_DONE;
    }
    hp_lock_take(&lock);
    guard_budget_return(&budget, is_last);
    hp_lock_release(&lock);
    return GUARD_FAILED;
}

static void finish(const struct job *job, enum guard_outcome outcome, int64_t retry) {
    hp_lock_take(&lock);
    guard_watch_settle(&watch, job->ticket, outcome, retry, hp_clock_ns());
    running.stage = JOB_NONE;
    bool next_is_last = queued.stage == JOB_QUEUED && queued.find.crossing.is_last;
    atomic_store_explicit(&gate, next_is_last ? queued.ticket : 0, memory_order_release);
    publish();
    hp_lock_release(&lock);
    hp_sys_futex_wake(&gate, INT32_MAX);
}

/* At the last threshold, when it was really reached. By _exit: exit() would run the handlers of an
 * application that is stuck for memory, on our thread. */
static void end_process(const struct job *job) {
    if (!job->find.crossing.is_last || job->find.crossing.is_predicted) {
        return;
    }
    if (wants(HP_ACTION_ABORT)) {
        hp_log(HP_LOG_ERROR, "the memory limit is near and HEAPPROF_ON_LIMIT asks for it: aborting");
        abort();
    }
    if (wants(HP_ACTION_EXIT)) {
        hp_log(HP_LOG_ERROR, "the memory limit is near and HEAPPROF_ON_LIMIT asks for it: exiting");
        _exit(EXIT_STATUS);
    }
}

/* All but pressure: purge, look whether that was enough, else dump and, if asked for, end the process. */
static void act(struct job *job, bool had_pressure) {
    bool purges = wants(HP_ACTION_PURGE) && host->purge != NULL && !job->find.no_relief;
    enum guard_outcome outcome = GUARD_RELIEVED;
    int64_t retry = 0;
    if (purges) {
        host->purge();
    }
    if ((!purges && !had_pressure) || !is_relieved(job)) {
        outcome = dump(job, &retry);
        end_process(job);
    }
    finish(job, outcome, retry);
}

/* Does all that is queued, unless another thread is at it. */
static void run_jobs(bool on_guard_thread) {
    struct job job;
    is_acting = true;
    while (claim(&job, on_guard_thread && host->pressure != NULL)) {
        bool had_pressure = job.stage == JOB_PRESSURE;
        if (!had_pressure || run_pressure(&job)) {
            act(&job, had_pressure);
        }
    }
    is_acting = false;
}

/* Does a job that the guard's thread can't go on with, and what has queued up behind it. */
static void run_stuck_job(int64_t patience) {
    struct job job;
    if (take_stuck(&job, patience)) {
        is_acting = true;
        act(&job, true);
        run_jobs(false);
    }
}

/* -- The guard's thread -- */

/* One turn. Returns how long to sleep, < 0: until woken. */
static int64_t turn(void) {
    if (atomic_exchange_explicit(&requests, 0, memory_order_acquire) != 0 && host->requested != NULL) {
        host->requested();
    }
    hp_lock_take(&lock);
    (void)look(0, true);
    int64_t sleep = guard_watch_sleep(&watch);
    thread_wakes = sleep >= 0 ? hp_clock_ns() + sleep : INT64_MAX;
    bool has_job = queued.stage == JOB_QUEUED;
    release_and_tell();
    if (has_job) {
        run_jobs(true);
        return GUARD_SLEEP_MIN_NS;
    }
    return sleep;
}

static void thread_body(void) {
    if (host->thread_begin != NULL) {
        host->thread_begin();
    }
    for (;;) {
        uint32_t seen = atomic_load_explicit(&wake_count, memory_order_acquire);
        hp_sys_futex_wait(&wake_count, seen, turn());
    }
}

static bool is_thread_wanted(void) {
    return atomic_load_explicit(&is_watching, memory_order_relaxed) || options->signal != 0 ||
           atomic_load_explicit(&requests, memory_order_relaxed) != 0;
}

void guard_start(void) {
    if (host == NULL || guard_thread_is_there() || !is_thread_wanted()) {
        return;
    }
    if (!guard_thread_start(thread_body)) {
        run_jobs(false); /* what was queued while it was being made */
    }
}

/* -- Allocating threads -- */

/* Whether an exact reading could tell more than the last one and the bytes since. */
static bool is_worth_reading(uint64_t pending) {
    return pending >= atomic_load_explicit(&last_distance, memory_order_relaxed) ||
           hp_clock_ns() - atomic_load_explicit(&last_read, memory_order_relaxed) >= READ_PAUSE_NS;
}

/* Waits while a dump at the last threshold is under way: once for each, and until `deadline` at the latest.
 */
static void wait_at_gate(int64_t deadline) {
    uint32_t ticket = atomic_load_explicit(&gate, memory_order_acquire);
    if (ticket == 0 || ticket == passed_ticket) {
        return;
    }
    for (;;) {
        int64_t left = deadline - hp_clock_ns();
        if (left <= 0) {
            break;
        }
        hp_sys_futex_wait(&gate, ticket, left);
        if (atomic_load_explicit(&gate, memory_order_acquire) != ticket) {
            return;
        }
    }
    passed_ticket = ticket;
    if (gate_ns() > 0) {
        run_stuck_job(gate_ns() / 2);
    }
}

/* Whether the guard's thread sleeps much longer than is good by what is known now. Lock held. */
static bool is_oversleeping(void) {
    int64_t sleep = guard_watch_sleep(&watch);
    return sleep >= 0 && sleep < (thread_wakes - hp_clock_ns()) / 2;
}

/* Reads, and sees that somebody acts on it. */
static void check(uint64_t pending) {
    if (!hp_lock_take_within(&lock, gate_ns())) {
        return;
    }
    (void)look(pending, !guard_thread_is_there());
    bool has_job = queued.stage == JOB_QUEUED;
    bool wants_thread = has_job || is_oversleeping();
    bool is_stuck = is_thread_stuck;
    bool is_slow = running.stage == JOB_PRESSURE && hp_clock_ns() - running.since >= PRESSURE_MAX_NS;
    release_and_tell();
    if (is_slow) {
        run_stuck_job(PRESSURE_MAX_NS);
    }
    if (guard_thread_is_there() && !is_stuck) {
        if (wants_thread) {
            wake_thread();
        }
    } else if (has_job) {
        run_jobs(false);
    }
}

void guard_check(uint64_t pending) {
    if (host == NULL || is_acting || guard_thread_is_self()) {
        return;
    }
    int64_t deadline = hp_clock_ns() + gate_ns();
    if (atomic_load_explicit(&gate, memory_order_acquire) == 0 && is_worth_reading(pending)) {
        check(pending);
    } else if (!guard_thread_is_there()) {
        run_jobs(false);
    }
    wait_at_gate(deadline);
}

void guard_request(void) {
    int saved = errno;
    atomic_fetch_add_explicit(&requests, 1, memory_order_release);
    wake_thread();
    errno = saved;
}

/* -- Set-up and questions -- */

bool guard_init(const struct hp_options *the_options, const struct guard_host *the_host) {
    options = the_options;
    hp_lock_take(&lock);
    guard_watch_init(&watch, the_options);
    guard_watch_refresh(&watch, true, hp_clock_ns());
    publish();
    bool has_any = watch.count > 0;
    if (has_any) {
        atomic_store_explicit(&guard_bytes_allowed, 0,
                              memory_order_relaxed); /* the first sample has it read */
    }
    release_and_tell();
    host = the_host;
    return has_any;
}

bool guard_read(struct guard_reading *reading, bool fresh) {
    hp_lock_take(&lock);
    if (host != NULL && watch.count > 0 && (fresh || !watch.is_exact)) {
        guard_watch_refresh(&watch, false, hp_clock_ns());
        guard_watch_read(&watch);
    }
    bool has_any = host != NULL && watch.count > 0;
    *reading = watch.reading;
    release_and_tell();
    return has_any;
}

void guard_set_limit(uint64_t bytes) {
    if (host == NULL) {
        return;
    }
    hp_lock_take(&lock);
    watch.wish.set = bytes;
    guard_watch_reset(&watch);
    guard_watch_refresh(&watch, true, hp_clock_ns());
    publish();
    if (watch.count > 0) {
        atomic_store_explicit(&guard_bytes_allowed, 0, memory_order_relaxed);
    }
    release_and_tell();
    wake_thread();
}

uint64_t guard_limit(void) {
    return atomic_load_explicit(&least_limit, memory_order_relaxed);
}

/* -- fork() -- */

void guard_fork_prepare(void) {
    hp_lock_take(&lock);
}

void guard_fork_parent(void) {
    hp_lock_release(&lock);
}

void guard_fork_child(void) {
    guard_watch_reset(&watch);
    budget = (struct guard_budget){0};
    queued.stage = JOB_NONE;
    running.stage = JOB_NONE;
    is_thread_stuck = false;
    is_acting = false;
    atomic_store_explicit(&gate, 0, memory_order_relaxed);
    atomic_store_explicit(&requests, 0, memory_order_relaxed);
    atomic_store_explicit(&last_read, 0, memory_order_relaxed);
    atomic_store_explicit(&guard_bytes_since, 0, memory_order_relaxed);
    publish(); /* nothing is allowed before the child's own first reading */
    guard_thread_forget();
    hp_lock_release(&lock);
}
