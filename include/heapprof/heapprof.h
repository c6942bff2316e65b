/*
 * heapprof: a drop-in jemalloc that writes a heap profile before the memory limit kills the process.
 *
 * Linking or preloading libheapprof is all that a program needs; this header is for those that want more:
 * a dump at a moment of their choosing, a warning before the limit, a limit of their own.
 *
 * All functions may be called from any thread once main() has begun, none from a signal handler. C and C++.
 *
 * A program that should run with and without heapprof includes this header with HEAPPROF_OPTIONAL defined:
 * all functions are then weak, and heapprof_is_linked() tells whether they are there.
 */
#ifndef HEAPPROF_HEAPPROF_H
#define HEAPPROF_HEAPPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef HEAPPROF_OPTIONAL
#define HEAPPROF_API __attribute__((weak))
#else
#define HEAPPROF_API
#endif

/* The library's version, "0.1.0"; a constant. */
HEAPPROF_API const char *heapprof_version(void);

/* Whether allocations are being sampled: false with HEAPPROF=off, for a program that HEAPPROF_PROGRAM leaves
 * out, and when heapprof could not start (it has said why on standard error). */
HEAPPROF_API bool heapprof_is_active(void);

/* Writes a profile of everything since the start to `path`, gzipped pprof, as a whole file or not at all; a
 * file of that name is replaced. Blocks until it is on disk. 0, or an errno value (ENOTSUP: not active;
 * EBUSY: another dump did not end in time). */
HEAPPROF_API int heapprof_dump(const char *path);

/* The same to an open descriptor, which stays the caller's; a failure may leave part of it written. A pipe or socket
 * whose reader has gone raises SIGPIPE, as write(2) does. */
HEAPPROF_API int heapprof_dump_fd(int fd);

/* How close the process is to the limit that is nearest to it. */
struct heapprof_memory {
    uint64_t usage;   /* bytes; reclaimable file cache does not count */
    uint64_t limit;   /* bytes */
    char source[256]; /* what sets the limit: "cgroup v2 /sys/fs/cgroup/app", "HEAPPROF_LIMIT" */
};

/* Reads it anew. False, and *memory unchanged, when no limit is watched. */
HEAPPROF_API bool heapprof_read_memory(struct heapprof_memory *memory);

/* Watches `bytes` as the process's own limit, in the place of HEAPPROF_LIMIT; 0 goes back to that. The
 * thresholds are armed anew. The sampling period stays what it was at the start. */
HEAPPROF_API void heapprof_set_limit(uint64_t bytes);

/* Called when a threshold was crossed and before anything is dumped, on a thread of heapprof's: a chance to
 * drop caches. It should return within milliseconds, and the dump does not wait for it much longer; it may allocate
 * and free, and finds all signals blocked. `threshold` is in bytes; usage may be below it when the crossing is foreseen. */
typedef void heapprof_pressure(const struct heapprof_memory *memory, uint64_t threshold, void *context);

/* Registers a callback, for good: it, and what it uses, must be there until the process ends, exit() included. 0, or
 * ENOSPC when there are eight already. */
HEAPPROF_API int heapprof_on_pressure(heapprof_pressure *callback, void *context);

/* Between these the calling thread's allocations are not sampled (frees of sampled objects still count).
 * They nest. A resume without a pause does nothing. */
HEAPPROF_API void heapprof_pause(void);
HEAPPROF_API void heapprof_resume(void);

#ifdef HEAPPROF_OPTIONAL
static inline bool heapprof_is_linked(void) {
    return heapprof_version != NULL;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
