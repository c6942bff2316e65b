/*
 * The sampled objects that are alive: address -> stack, size, weight.
 *
 * A sampled object is page aligned, so most frees never come here. Those that do and find nothing (an
 * ordinary object that happens to be page aligned) read one word: hp_live_set_may_hold(). Buckets are
 * indexed by the page number itself, so neighbouring pages share cache lines.
 *
 * Bounded: an entry is reserved before the object is allocated; without one the sample is given up (and
 * counted by the recorder). Entries come from the set's arena and are reused, never given back.
 *
 * All functions: any thread, muted; no allocation through malloc; bounded critical sections, sharded by page.
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
    uint64_t size;    /* bytes asked for */
    uint64_t weight;  /* how many objects it stands for, base/weight.h */
    uint32_t stack;   /* a reference of the stack table */
    uint32_t next;    /* the set's own */
};

enum { HP_LIVE_BUCKETS = 1 << 18, HP_PAGE_SHIFT = 12 };

extern _Atomic uint32_t *hp_live_buckets;

/* Maps the set; `cap_bytes` bounds its entries. False when there is no address space. */
bool hp_live_set_init(size_t cap_bytes);

/* Whether `object` could be in the set: false is certain for an object that the caller owns, because its
 * insertion happened before the caller got it. One load; safe before hp_live_set_init(). */
static inline bool hp_live_set_may_hold(const void *object) {
    _Atomic uint32_t *buckets = hp_live_buckets;
    size_t bucket = ((uintptr_t)object >> HP_PAGE_SHIFT) & (HP_LIVE_BUCKETS - 1);
    return buckets != NULL && atomic_load_explicit(&buckets[bucket], memory_order_relaxed) != 0;
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
