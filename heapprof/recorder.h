/*
 * The cold path: what happens to the few allocations that are sampled, and to their frees.
 *
 *   sampler ─► unwinder ─► stack table ─► live set ─► guard's account
 *
 * The only place that sees all of them. Functions keep errno, take no foreign lock, never call malloc, and
 * when something is missing (a table is full, memory is out) count the loss and let the allocation pass.
 */
#ifndef HP_RECORDER_H
#define HP_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on allocations are sampled; the tables, the unwinder and the sampler are ready. */
void hp_recorder_enable(void);

/* Whether hp_recorder_enable() was called in this process. */
bool hp_recorder_is_enabled(void);

/* From now on, for good, allocations do not come to the recorder any more (HEAPPROF=off). */
void hp_recorder_disable(void);

/*
 * For an allocation that did not pass the sampler: `flags` as for mallocx, `caller` the return address into
 * the application. Returns the object when it is sampled; NULL when it is not, or could not be allocated so:
 * the caller then goes the ordinary way, whose failures are its own.
 */
void *hp_recorder_alloc(size_t size, int flags, const void *caller);

/* What hp_recorder_free() found. */
enum hp_free {
    HP_FREE_ORDINARY, /* not sampled: free it as asked */
    HP_FREE_SAMPLED,  /* was sampled, is forgotten: free it, but its size class is not that of its size */
    HP_FREE_DEFERRED, /* heapprof is at work further up this stack, and frees it later: do nothing */
};

/* Before an object is freed that may be a sampled one (intake/placement.h). */
enum hp_free hp_recorder_free(void *object);

/* The ordinary way to reallocate, with flags as for rallocx. */
typedef void *hp_reallocate(void *object, size_t size, int flags);

/* Reallocates an object (not NULL) that may be sampled, or whose new size did not pass the sampler; calls
 * `ordinary` unless the result is sampled. On failure everything is as before. */
void *hp_recorder_realloc(void *object, size_t size, int flags, hp_reallocate *ordinary, const void *caller);

/* An object that may be a sampled one was resized in place to `size` bytes. */
void hp_recorder_resize(void *object, size_t size);

/* The kernel has refused `bytes` to jemalloc for good; its locks may be held. Has a dump made (guard.h), waiting a
 * bounded time. Keeps errno. */
void hp_recorder_out_of_memory(size_t bytes);

/* What could not be recorded since the start. */
struct hp_loss {
    uint64_t samples;   /* sampled allocations that found no room */
    uint64_t bytes;     /* an estimate of the bytes that they stand for */
    uint64_t truncated; /* samples whose stack was cut at the far end */
};
void hp_recorder_loss(struct hp_loss *loss);

/* Samples since the start, and those of them whose objects are alive. */
void hp_recorder_samples(uint64_t *taken, uint64_t *alive);

/* Ends a stretch that began with hp_thread_mute(), and frees what was deferred meanwhile. */
void hp_recorder_leave(void);

/* In a forked child, muted: the thread's random numbers part from its parent's. */
void hp_recorder_fork_child(void);

#endif
