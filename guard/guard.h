/*
 * The guard: watches every (usage, limit) pair that can kill this process, and has a dump made before.
 *
 *   usage sources + limit ─► reading ─► decide (pure) ─► actions: pressure, purge, dump, abort/exit
 *        ▲ looked at by its own thread (adaptive timer) and by allocating threads (guard_check)
 *
 * It knows nothing of profiles: what to do is called through struct guard_host. No function here allocates
 * or is a cancellation point. Every caller is muted (the recorder, or the guard's own thread).
 */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/options.h"

enum { GUARD_SOURCE_MAX = 256 };

/* What the guard knows at one moment. Sizes in bytes. */
struct guard_reading {
    uint64_t usage; /* of the pair with the smallest headroom; reclaimable file cache left out */
    uint64_t limit; /* of the same pair; UINT64_MAX: nothing limits this process */
    char source[GUARD_SOURCE_MAX]; /* the pair for people: "cgroup v1 /sys/fs/cgroup/memory/x",
                                      "HEAPPROF_LIMIT" */
};

/* A threshold that was crossed, or memory that the kernel refused, as the host's callbacks get it. */
struct guard_crossing {
    struct guard_reading reading;
    uint64_t threshold;     /* bytes of usage; 0: refused memory */
    unsigned percent;       /* threshold / limit, rounded: the 95 of "limit95"; 0: refused memory */
    bool is_last;           /* no higher threshold is left */
    bool is_predicted;      /* usage is not there yet, but soon will be */
    bool is_out_of_memory;  /* no threshold: the kernel refused memory to the allocator */
    uint64_t refused_bytes; /* how much, when it did */
    bool is_overtaken; /* made by a thread that waited for it in vain: purging does not end, somebody may be
                          stuck with the allocator's locks */
};

/*
 * What the guard has done for it. All are called without any lock of the guard, on the guard's thread, or
 * on the allocating thread when no guard thread could be made. None may allocate through malloc, except
 * pressure(), which is the application's own code.
 *
 * The guard's thread has a table of descriptors of its own, empty at its start, where the kernel allows that:
 * what runs there can open files when the application has no number left, and sees none of its descriptors.
 */
struct guard_host {
    /* The guard's thread has just begun: marks it so that nothing it does is sampled. */
    void (*thread_begin)(void);
    /* The application's own callbacks. On a thread of their own, which is an ordinary one of the application
     * (its descriptors; its allocations are sampled) but has all signals blocked. */
    void (*pressure)(const struct guard_crossing *crossing);
    /* Gives the allocator's idle pages back to the kernel. */
    void (*purge)(void);
    /* Writes a dump; returns whether a whole one is on disk. With is_out_of_memory or is_overtaken it must
     * not call the allocator for anything: a thread that waits for the dump, or this very one, may hold the
     * allocator's locks. May be called by two threads at a time then. */
    bool (*dump)(const struct guard_crossing *crossing);
    /* A dump that was asked for by guard_request(). */
    void (*requested)(void);
};

/* Binds the guard; reads the limit once. `options` and `host` must live on. Called once, by init.c, while
 * the process has one thread of ours. Starts no thread. Returns whether there is anything to watch. */
bool guard_init(const struct hp_options *options, const struct guard_host *host);

/* Starts the guard's thread if it is wanted and not there (at the first sample; in a forked child again).
 * Cheap when it runs already. Must not be called below the dynamic loader or from a signal handler. */
void guard_start(void);

/* The main thread ends and leaves the process to its other threads: ends the guard's, waiting a bounded time.
 * From then on the guard looks at allocations only, and allocating threads do what its thread did (thread.h).
 */
void guard_end_threads(void);

/* Whether guard_start() would do something. A few loads; the thread may be any. */
bool guard_wants_start(void);

/* There are callbacks for host->pressure from now on: guard_start() makes their thread too. Any thread. */
void guard_expect_pressure(void);

/* Bytes handed out since the last exact reading, and how many may be before the next threshold could be
 * crossed. Shared by all threads, written once a sample. */
extern _Atomic uint64_t guard_bytes_since;
extern _Atomic uint64_t guard_bytes_allowed;

/* Accounts `bytes` more. True when a threshold may have been crossed: then call guard_check(). */
static inline bool guard_account(uint64_t bytes) {
    uint64_t since = atomic_fetch_add_explicit(&guard_bytes_since, bytes, memory_order_relaxed) + bytes;
    return since >= atomic_load_explicit(&guard_bytes_allowed, memory_order_relaxed);
}

/* An exact reading on an allocating thread, with `pending` bytes that were handed out but not touched yet.
 * Wakes the guard's thread on a crossing; at the last threshold waits for its dump, at most gate_ms. Bounded
 * in time; may change errno. */
void guard_check(uint64_t pending);

/*
 * The kernel has refused `bytes` to the allocator: has a dump made (is_out_of_memory), at most 2 at once and
 * one a minute, whatever is watched; no purge and no callbacks before it, no abort or exit after it: the
 * application gets its NULL and decides. The caller waits for it, at most gate_ms.
 *
 * May be called with the allocator's locks held, but with none of heapprof's. Makes the dump itself when
 * there is no guard thread, or when that does not come to it within half the wait. Keeps errno. In vain
 * within the guard's own code.
 */
void guard_out_of_memory(uint64_t bytes);

/* Asks the guard's thread for a dump (host->requested). Async-signal-safe. */
void guard_request(void);

/* The latest reading, made anew when `fresh`. False when nothing is watched. Any thread. */
bool guard_read(struct guard_reading *reading, bool fresh);

/* Replaces the limit: bytes, or 0 for what the environment and the cgroup say. Thresholds are armed anew. */
void guard_set_limit(uint64_t bytes);

/* Whether the kernel may refuse this process memory by a limit of its own (RLIMIT_AS, RLIMIT_DATA), as guard_init() found
 * it. */
bool guard_may_be_refused(void);

/* The limit that HEAPPROF_SAMPLE=auto scales to; UINT64_MAX when there is none. */
uint64_t guard_limit(void);

/* Around fork(): prepare takes the guard's locks, parent and child release them; the child has no thread and
 * all thresholds armed. */
void guard_fork_prepare(void);
void guard_fork_parent(void);
void guard_fork_child(void);

#endif
