#include "guard/jobs.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "guard/relief.h"
#include "guard/state.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"

/* As a supervisor sees a process that was killed for its memory: 128 + SIGKILL. */
enum { EXIT_STATUS = 137 };

enum kind { REFUSED, CROSSING, KINDS };

/* How long a thread with a refusal, which may hold the allocator's locks, waits for ours: a thread that holds
 * ours may be in a signal handler that waits for those. */
#define PATIENCE_NS INT64_C(100000000)

/* On its way to the host. */
struct job {
    uint32_t ticket; /* never 0 */
    struct guard_find find;
};

/* Guarded by the lock. */
static struct job queue[KINDS];
static bool is_queued[KINDS];
static enum { IDLE, PREPARING, DUMPING } stage; /* of the crossing that is being acted on, … */
static struct job current;                      /* … which this is */
static bool is_overtaken;                       /* its dump is made, or was, by a thread that waited for it */
static struct guard_budget budget;
static uint32_t last_ticket;

/* A refusal is being acted on. Set under the lock; whoever acts has only to clear it. */
static _Atomic bool is_refusing;

/* The ticket of a dump that threads wait for, 0: none. They wait for it to change. Closed under the lock. */
static _Atomic uint32_t gate[KINDS];

static __thread uint32_t passed_ticket __attribute__((tls_model("initial-exec"))); /* waited for in vain */

static bool wants(uint32_t action) {
    return (guard_state.options->on_limit & action) != 0;
}

/* -- Queueing: the lock is held. -- */

static uint32_t next_ticket(void) {
    return last_ticket + 1 != 0 ? last_ticket + 1 : 1;
}

uint32_t guard_jobs_ticket(void) {
    return is_queued[CROSSING] ? queue[CROSSING].ticket : next_ticket();
}

static void put(enum kind kind, const struct guard_find *find) {
    last_ticket = next_ticket();
    queue[kind] = (struct job){.ticket = last_ticket, .find = *find};
    is_queued[kind] = true;
}

/* Of two crossings that wait, the one nearer to the end is done for both. */
static bool outranks(const struct guard_crossing *new, const struct guard_crossing *old) {
    return new->is_last != old->is_last ? new->is_last : new->percent >= old->percent;
}

static void close_gate(enum kind kind) {
    if (atomic_load_explicit(&gate[kind], memory_order_relaxed) == 0) {
        atomic_store_explicit(&gate[kind], queue[kind].ticket, memory_order_release);
    }
    guard_relief_hurry();
}

void guard_jobs_queue(const struct guard_find *find) {
    struct job *job = &queue[CROSSING];
    if (!is_queued[CROSSING]) {
        put(CROSSING, find);
    } else if (outranks(&find->crossing, &job->find.crossing)) {
        job->find = *find;
    }
    if (job->find.crossing.is_last) {
        close_gate(CROSSING);
    }
}

/* The token is taken here, not by the dump, and is not given back by one that fails: else an application that
 * asks in a loop would be held up each time. */
static bool queue_refused(uint64_t bytes) {
    if (is_queued[REFUSED] || atomic_load_explicit(&is_refusing, memory_order_acquire)) {
        return true;
    }
    if (guard_budget_take(&budget, GUARD_TOKEN_REFUSED, hp_clock_ns()) != 0) {
        return false;
    }
    struct guard_find find = {
        .crossing = {.is_out_of_memory = true, .is_last = true, .refused_bytes = bytes}};
    put(REFUSED, &find);
    close_gate(REFUSED);
    return true;
}

bool guard_jobs_queue_refused(uint64_t bytes) {
    if (!wants(HP_ACTION_DUMP) || guard_state.host->dump == NULL || !guard_lock_within(PATIENCE_NS)) {
        return false;
    }
    bool is_coming = queue_refused(bytes);
    guard_unlock();
    return is_coming;
}

bool guard_jobs_has_queued(void) {
    return is_queued[CROSSING] || is_queued[REFUSED];
}

/* -- Acting: no lock is held while the host is called. -- */

/* Takes the crossing off the queue, unless another is being acted on. */
static bool claim_crossing(struct job *job) {
    guard_lock();
    bool claimed = is_queued[CROSSING] && stage == IDLE;
    if (claimed) {
        *job = queue[CROSSING];
        is_queued[CROSSING] = false;
        current = *job;
        is_overtaken = false;
        stage = PREPARING;
        guard_relief_take_time();
    }
    guard_unlock();
    return claimed;
}

static void finish_crossing(const struct job *job, enum guard_outcome outcome, int64_t retry) {
    guard_lock();
    guard_watch_settle(&guard_state.watch, job->ticket, outcome, retry, hp_clock_ns());
    stage = IDLE;
    bool next_is_last = is_queued[CROSSING] && queue[CROSSING].find.crossing.is_last;
    atomic_store_explicit(&gate[CROSSING], next_is_last ? queue[CROSSING].ticket : 0, memory_order_release);
    guard_publish();
    guard_unlock();
    hp_sys_futex_wake(&gate[CROSSING], INT32_MAX);
}

static bool is_relieved(struct job *job) {
    guard_lock();
    bool relieved = guard_watch_is_relieved(&guard_state.watch, &job->find);
    guard_unlock();
    return relieved;
}

/* Calls the host, and learns how long a dump takes. */
static bool dump_timed(const struct job *job) {
    int64_t start = hp_clock_ns();
    bool done = guard_state.host->dump(&job->find.crossing);
    int64_t took = hp_clock_ns() - start;
    guard_lock();
    if (done) {
        guard_watch_note_dump(&guard_state.watch, took);
    }
    guard_unlock();
    return done;
}

static enum guard_outcome dump(const struct job *job, int64_t *retry) {
    enum guard_token token = job->find.crossing.is_last ? GUARD_TOKEN_LAST : GUARD_TOKEN_LOWER;
    if (!wants(HP_ACTION_DUMP) || guard_state.host->dump == NULL) {
        return GUARD_DONE;
    }
    guard_lock();
    if (is_overtaken) {
        guard_unlock();
        return GUARD_DONE;
    }
    *retry = job->find.is_record ? 0 : guard_budget_take(&budget, token, hp_clock_ns());
    stage = *retry == 0 ? DUMPING : PREPARING;
    guard_unlock();
    if (*retry != 0) {
        return GUARD_POSTPONED;
    }
    if (dump_timed(job)) {
        return GUARD_DONE;
    }
    if (!job->find.is_record) {
        guard_lock();
        guard_budget_return(&budget, token);
        guard_unlock();
    }
    return GUARD_FAILED;
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

/* Gives the application, and then the allocator, a chance to make room. Returns whether usage fell below. */
static bool relieve(struct job *job, bool with_pressure) {
    bool tries = false;
    if (job->find.no_relief) {
        return false;
    }
    if (with_pressure) {
        tries = guard_relief_ask(&job->find.crossing);
    }
    if (wants(HP_ACTION_PURGE) && guard_state.host->purge != NULL) {
        guard_state.host->purge();
        tries = true;
    }
    return tries && is_relieved(job);
}

static void act_on_crossing(struct job *job, bool with_pressure) {
    enum guard_outcome outcome = GUARD_RELIEVED;
    int64_t retry = 0;
    if (!relieve(job, with_pressure)) {
        outcome = dump(job, &retry);
        end_process(job);
    }
    finish_crossing(job, outcome, retry);
}

/* Takes the refusal off the queue; while a dump for a crossing is being made only if it `may_overlap`. */
static bool claim_refusal(struct job *job, bool may_overlap) {
    if (!guard_lock_within(PATIENCE_NS)) {
        return false;
    }
    bool claimed = is_queued[REFUSED] && (may_overlap || stage != DUMPING);
    if (claimed) {
        *job = queue[REFUSED];
        is_queued[REFUSED] = false;
        atomic_store_explicit(&is_refusing, true, memory_order_relaxed);
    }
    guard_unlock();
    return claimed;
}

static void act_on_refusal(struct job *job) {
    job->find.crossing.reading.limit = UINT64_MAX;
    if (guard_lock_within(PATIENCE_NS)) {
        guard_watch_read(&guard_state.watch);
        job->find.crossing.reading = guard_state.watch.reading;
        guard_unlock();
    }
    (void)guard_state.host->dump(&job->find.crossing);
    atomic_store_explicit(&gate[REFUSED], 0, memory_order_release); /* first: who finds one going on waits */
    atomic_store_explicit(&is_refusing, false, memory_order_release);
    hp_sys_futex_wake(&gate[REFUSED], INT32_MAX);
}

void guard_jobs_run(bool with_pressure) {
    struct job job;
    guard_set_acting(true);
    for (;;) {
        if (claim_refusal(&job, true)) {
            act_on_refusal(&job);
        } else if (claim_crossing(&job)) {
            act_on_crossing(&job, with_pressure);
        } else {
            break;
        }
    }
    guard_set_acting(false);
}

void guard_jobs_run_refused(void) {
    struct job job;
    guard_set_acting(true);
    if (claim_refusal(&job, false)) {
        act_on_refusal(&job);
    }
    guard_set_acting(false);
}

/* -- The gate -- */

bool guard_jobs_gate_is_closed(void) {
    return atomic_load_explicit(&gate[CROSSING], memory_order_acquire) != 0;
}

static bool wait(enum kind kind, int64_t deadline) {
    uint32_t ticket = atomic_load_explicit(&gate[kind], memory_order_acquire);
    while (ticket != 0 && atomic_load_explicit(&gate[kind], memory_order_acquire) == ticket) {
        int64_t left = deadline - hp_clock_ns();
        if (left <= 0) {
            return false;
        }
        hp_sys_futex_wait(&gate[kind], ticket, left);
    }
    return true;
}

/* Whether the dump of the crossing with this ticket is to be made by who asks. */
static bool overtake(uint32_t ticket, struct job *job) {
    if (!wants(HP_ACTION_DUMP) || guard_state.host->dump == NULL || !guard_lock_within(PATIENCE_NS)) {
        return false;
    }
    bool may = stage == PREPARING && current.ticket == ticket && !is_overtaken &&
               (current.find.is_record || guard_budget_take(&budget, GUARD_TOKEN_LAST, hp_clock_ns()) == 0);
    if (may) {
        is_overtaken = true;
        *job = current;
    }
    guard_unlock();
    return may;
}

/* The guard's thread is still at purging, for which it wants locks of the allocator's. A thread that the
 * kernel puts to sleep for its memory (memory.high) may be holding them: the dump must not wait for that. */
static void dump_in_its_place(uint32_t ticket) {
    struct job job;
    if (!overtake(ticket, &job)) {
        return;
    }
    guard_set_acting(true);
    job.find.crossing.is_overtaken = true;
    bool done = guard_state.host->dump(&job.find.crossing);
    guard_set_acting(false);
    guard_lock();
    if (current.ticket == ticket) {
        is_overtaken = done;
    }
    if (done && atomic_load_explicit(&gate[CROSSING], memory_order_relaxed) == ticket) {
        atomic_store_explicit(&gate[CROSSING], 0, memory_order_release);
        guard_publish();
    }
    guard_unlock();
    hp_sys_futex_wake(&gate[CROSSING], INT32_MAX);
}

void guard_jobs_wait(int64_t deadline) {
    uint32_t ticket = atomic_load_explicit(&gate[CROSSING], memory_order_acquire);
    int64_t patience = deadline - hp_clock_ns();
    if (ticket == passed_ticket || wait(CROSSING, deadline - patience / 2)) {
        return;
    }
    if (patience > 0) {
        guard_jobs_run(false); /* it gets no processor, or has not come back from a dump on demand */
        dump_in_its_place(ticket);
    }
    if (!wait(CROSSING, deadline)) {
        passed_ticket = ticket;
    }
}

bool guard_jobs_wait_refused(int64_t deadline) {
    return wait(REFUSED, deadline);
}

void guard_jobs_reset(void) {
    budget = (struct guard_budget){0};
    stage = IDLE;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        is_queued[kind] = false;
        atomic_store_explicit(&gate[kind], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&is_refusing, false, memory_order_relaxed);
}
