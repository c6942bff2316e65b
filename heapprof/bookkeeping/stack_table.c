#include "heapprof/bookkeeping/stack_table.h"

#include <stdatomic.h>
#include <string.h>

#include "heapprof/base/arena.h"
#include "heapprof/base/buckets.h"
#include "heapprof/base/lock.h"
#include "heapprof/base/rng.h"
#include "heapprof/bookkeeping/frame_table.h"

/*
 * Records stand one behind the other in one region, so a reader walks them without an index, and a 4-byte
 * reference (the record's place / UNIT) reaches 64 GiB. They are appended under `append_lock`; the top moves
 * when the record is whole.
 *
 * A bucket's chain only grows, at its head, and a record does not change but for its counts: so a stack that is
 * there, which nearly every one is, is found without a lock, and threads that sample at the same place do not
 * hinder each other in this.
 */
enum { SHARDS = 64, UNIT = 16, READER_PATIENCE_NS = 5000000 };
enum { BYTES_A_BUCKET = 512, BUCKETS_MIN = 1 << 12, BUCKETS_MAX = 1 << 17 }; /* three stacks or so, when it is full */

struct record {
    uint64_t hash;
    uint32_t next; /* in the bucket */
    uint32_t depth;
    struct hp_stack_counts counts; /* guarded by the shard */
    uint32_t truncated;
    uint32_t frames[];
};

struct shard {
    struct hp_lock lock; /* guards additions to the buckets with number % SHARDS == this, and their records' counts */
} __attribute__((aligned(64)));

static struct shard shards[SHARDS];
static struct hp_lock append_lock = HP_LOCK_INIT(HP_RANK_ARENA);
static struct hp_row region; /* opened under append_lock */
static _Atomic size_t region_top;
static _Atomic uint64_t stacks;
static _Atomic uint32_t *buckets;
static size_t bucket_count; /* a power of two */

static struct record *record_at(uint32_t reference) {
    return (struct record *)(void *)(region.start + (size_t)reference * UNIT);
}

static size_t record_bytes(uint32_t depth) {
    size_t bytes = sizeof(struct record) + depth * sizeof(uint32_t);
    return (bytes + UNIT - 1) & ~(size_t)(UNIT - 1);
}

static struct shard *shard_of(uint64_t hash) {
    return &shards[hash % SHARDS];
}

/* A whole record at the region's top; 0 when there is no room. */
static uint32_t append(uint64_t hash, const uint32_t *frames, uint32_t depth, bool truncated) {
    uint32_t reference = 0;
    hp_lock_take(&append_lock);
    size_t top = atomic_load_explicit(&region_top, memory_order_relaxed);
    if (hp_row_reach(&region, top + record_bytes(depth))) {
        reference = (uint32_t)(top / UNIT);
        struct record *r = record_at(reference);
        *r = (struct record){.hash = hash, .depth = depth, .truncated = truncated};
        for (uint32_t i = 0; i < depth; i++) {
            r->frames[i] = frames[i];
        }
        atomic_store_explicit(&region_top, top + record_bytes(depth), memory_order_release);
        atomic_fetch_add_explicit(&stacks, 1, memory_order_relaxed);
    }
    hp_lock_release(&append_lock);
    return reference;
}

bool hp_stack_table_init(size_t cap_bytes) {
    bool has_region = hp_row_map(&region, cap_bytes);
    bucket_count = hp_bucket_count(cap_bytes / BYTES_A_BUCKET, BUCKETS_MIN, BUCKETS_MAX);
    buckets = hp_pages_map(bucket_count * sizeof *buckets);
    if (!has_region || buckets == NULL) {
        return false;
    }
    region_top = UNIT; /* reference 0 means none */
    for (unsigned i = 0; i < SHARDS; i++) {
        shards[i].lock = (struct hp_lock)HP_LOCK_INIT(HP_RANK_STACKS);
    }
    static const uint32_t no_frames[1];
    return append(0, no_frames, 0, false) == HP_STACK_LOST;
}

uint64_t hp_stack_table_count(void) {
    return atomic_load_explicit(&stacks, memory_order_relaxed) - 1;
}

static inline uint64_t hash_step(uint64_t h, uintptr_t pc) {
    h = (h ^ pc) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 32;
}

/* Every other frame on its own, so that the processor does both at once. */
static uint64_t hash_of(const struct hp_stack_trace *trace) {
    uint64_t even = trace->binaries ^ trace->truncated;
    uint64_t odd = trace->depth;
    uint32_t i = 0;
    for (; i + 1 < trace->depth; i += 2) {
        even = hash_step(even, trace->pcs[i]);
        odd = hash_step(odd, trace->pcs[i + 1]);
    }
    if (i < trace->depth) {
        even = hash_step(even, trace->pcs[i]);
    }
    return hp_rng_mix(even + hp_rng_mix(odd));
}

static bool same(const struct record *r, uint64_t hash, const struct hp_stack_trace *trace) {
    if (r->hash != hash || r->depth != trace->depth || r->truncated != trace->truncated) {
        return false;
    }
    for (uint32_t i = 0; i < trace->depth; i++) {
        if (hp_frame_table_get(r->frames[i])->pc != trace->pcs[i]) {
            return false;
        }
    }
    return true;
}

static uint32_t find(uint64_t hash, const struct hp_stack_trace *trace) {
    uint32_t reference = atomic_load_explicit(&buckets[hash & (bucket_count - 1)], memory_order_acquire);
    while (reference != 0 && !same(record_at(reference), hash, trace)) {
        reference = record_at(reference)->next;
    }
    return reference;
}

/* Whether a new stack of this depth would find no room: known before anything is done for it, since a program whose
 * stacks never come again asks at every sample. */
static bool is_full(uint32_t depth) {
    return atomic_load_explicit(&region_top, memory_order_relaxed) + record_bytes(depth) > region.bytes;
}

/* Frames are numbered before the shard is taken again: finding a new frame's module reads its ELF headers. */
static uint32_t insert(uint64_t hash, const struct hp_stack_trace *trace) {
    uint32_t frames[HP_STACK_DEPTH_MAX];
    for (uint32_t i = 0; i < trace->depth; i++) {
        frames[i] = hp_frame_table_add(trace->pcs[i]);
        if (frames[i] == 0) {
            return HP_STACK_LOST;
        }
    }
    struct shard *s = shard_of(hash);
    hp_lock_take(&s->lock);
    uint32_t reference = find(hash, trace);
    if (reference == 0) {
        reference = append(hash, frames, trace->depth, trace->truncated);
        if (reference != 0) {
            _Atomic uint32_t *bucket = &buckets[hash & (bucket_count - 1)];
            record_at(reference)->next = atomic_load_explicit(bucket, memory_order_relaxed);
            atomic_store_explicit(bucket, reference, memory_order_release);
        }
    }
    hp_lock_release(&s->lock);
    return reference != 0 ? reference : HP_STACK_LOST;
}

uint32_t hp_stack_table_find(const struct hp_stack_trace *trace) {
    uint64_t hash = hash_of(trace);
    uint32_t reference = find(hash, trace);
    if (reference == 0 && is_full(trace->depth)) {
        return HP_STACK_LOST;
    }
    return reference != 0 ? reference : insert(hash, trace);
}

void hp_stack_table_add(uint32_t stack, uint64_t objects, uint64_t bytes) {
    struct record *r = record_at(stack);
    struct shard *s = shard_of(r->hash);
    hp_lock_take(&s->lock);
    r->counts.alloc_objects += objects;
    r->counts.alloc_bytes += bytes;
    r->counts.inuse_objects += objects;
    r->counts.inuse_bytes += bytes;
    hp_lock_release(&s->lock);
}

void hp_stack_table_subtract(uint32_t stack, uint64_t objects, uint64_t bytes) {
    struct record *r = record_at(stack);
    struct shard *s = shard_of(r->hash);
    hp_lock_take(&s->lock);
    r->counts.inuse_objects -= objects;
    r->counts.inuse_bytes -= bytes;
    hp_lock_release(&s->lock);
}

void hp_stack_table_resize(uint32_t stack, uint64_t bytes_before, uint64_t bytes_after) {
    struct record *r = record_at(stack);
    struct shard *s = shard_of(r->hash);
    hp_lock_take(&s->lock);
    r->counts.inuse_bytes += bytes_after - bytes_before;
    if (bytes_after > bytes_before) {
        r->counts.alloc_bytes += bytes_after - bytes_before;
    }
    hp_lock_release(&s->lock);
}

size_t hp_stack_table_end(void) {
    return atomic_load_explicit(&region_top, memory_order_acquire);
}

bool hp_stack_table_next(size_t *cursor, size_t end, struct hp_stack_view *view) {
    size_t at = *cursor == 0 ? UNIT : *cursor;
    if (at >= end) {
        return false;
    }
    uint32_t reference = (uint32_t)(at / UNIT);
    struct record *r = record_at(reference);
    *view = (struct hp_stack_view){.frames = r->frames,
                                   .depth = r->depth,
                                   .truncated = r->truncated != 0,
                                   .lost = reference == HP_STACK_LOST};
    struct shard *s = shard_of(r->hash);
    /* A thread that holds the shard may be stuck in the kernel while memory is out; a dump does not wait for
     * it, and then reads counts that may not belong together to the last object. */
    bool held = hp_lock_take_within(&s->lock, READER_PATIENCE_NS);
    view->counts = r->counts;
    if (held) {
        hp_lock_release(&s->lock);
    }
    *cursor = at + record_bytes(r->depth);
    return true;
}

void hp_stack_table_fork_prepare(void) {
    for (unsigned i = 0; i < SHARDS; i++) {
        hp_lock_take_unranked(&shards[i].lock);
    }
    hp_lock_take_unranked(&append_lock);
}

void hp_stack_table_fork_parent(void) {
    hp_lock_release_unranked(&append_lock);
    for (unsigned i = 0; i < SHARDS; i++) {
        hp_lock_release_unranked(&shards[i].lock);
    }
}

void hp_stack_table_fork_child(void) {
    hp_lock_reset(&append_lock);
    for (unsigned i = 0; i < SHARDS; i++) {
        hp_lock_reset(&shards[i].lock);
    }
}
