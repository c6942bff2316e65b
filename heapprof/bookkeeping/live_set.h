/*
 * The sampled objects that are alive: address -> stack, size, weight.
 *
 * A sampled object is known by its address, so most frees never come here. Those that do and find nothing (an
 * ordinary object that happens to be page aligned) read one word: hp_live_set_may_hold(). Page-aligned
 * objects are indexed by the page number itself, so neighbouring pages share cache lines; others by their
 * place in the page, too. There are about as many buckets as samples to expect, since each that is used has
 * its own page of memory as long as they are few.
 *
 * Bounded: an entry is reserved before the object is allocated; without one the sample is given up (and
 * counted by the recorder). Entries come from the set's arena and are reused, never given back.
 *
 * All functions: any thread, muted; no allocation through malloc; bounded critical sections, sharded by
 * bucket.
 */
#ifndef HP_BOOKKEEPING_LIVE_SET_H
#define HP_BOOKKEEPING_LIVE_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object and its sample. 32 bytes. */
struct hp_live {
    uintptr_t object;
    uint64_t size;   /* bytes asked for */
    uint64_t weight; /* how many objects it stands for, base/weight.h */
    uint32_t stack;  /* a reference of the stack table */
    uint32_t next;   /* the set's own */
};

enum { HP_LIVE_BUCKETS_MIN = 1 << 10, HP_LIVE_BUCKETS_MAX = 1 << 18, HP_PAGE_SHIFT = 12 };

extern _Atomic uint32_t *hp_live_buckets __attribute__((visibility("hidden")));
extern size_t hp_live_bucket_mask __attribute__((visibility("hidden"))); /* their number, a power of two, less one */

/* Maps the set; `cap_bytes` bounds its entries, of which `expected` is a guess. False when there is no
 * address space. */
bool hp_live_set_init(size_t cap_bytes, uint64_t expected);

static inline size_t hp_live_set_bucket(const void *object) {
    uintptr_t address = (uintptr_t)object;
    uintptr_t in_page = address & ((1U << HP_PAGE_SHIFT) - 1);
    return ((address >> HP_PAGE_SHIFT) + (in_page * UINT64_C(0x9e3779b1) >> 6)) & hp_live_bucket_mask;
}

/* Whether `object` could be in the set: false is certain for an object that the caller owns, because its
 * insertion happened before the caller got it. One load; safe before hp_live_set_init(). */
static inline bool hp_live_set_may_hold(const void *object) {
    return atomic_load_explicit(&hp_live_buckets[hp_live_set_bucket(object)], memory_order_relaxed) != 0;
}

/* The same for a page-aligned object, in fewer steps. */
static inline bool hp_live_set_may_hold_page(const void *object) {
    size_t bucket = ((uintptr_t)object >> HP_PAGE_SHIFT) & hp_live_bucket_mask;
    return atomic_load_explicit(&hp_live_buckets[bucket], memory_order_relaxed) != 0;
}

/* Reserves an entry for some object to come; 0 when the set is full. `hint` (anything that differs between
 * threads) spreads threads over the shards. */
uint32_t hp_live_set_reserve(unsigned hint);

/* Gives a reserved entry back unused. */
void hp_live_set_release(uint32_t entry);

/* Fills the reserved `entry` with *live and makes it visible. An entry of the same address is stale (its
 * memory went back to jemalloc behind our back, by arena.i.reset): it is dropped, and true returned with what
 * it was in *stale. */
bool hp_live_set_insert(uint32_t entry, const struct hp_live *live, struct hp_live *stale);

/* Takes `object` out, with what was known of it in *live. Returns its entry, reserved for the caller to
 * insert again or release; 0 when the object is not in the set. */
uint32_t hp_live_set_remove(const void *object, struct hp_live *live);

/* An object was resized in place: sets its size. False when it is not in the set; else *before is what it
 * was. */
bool hp_live_set_resize(const void *object, size_t size, struct hp_live *before);

/* Around fork(): all shards taken; released; free again. */
void hp_live_set_fork_prepare(void);
void hp_live_set_fork_parent(void);
void hp_live_set_fork_child(void);

#endif
