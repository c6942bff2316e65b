#include "heapprof/bookkeeping/live_set.h"

#include "heapprof/base/arena.h"
#include "heapprof/base/buckets.h"
#include "heapprof/base/lock.h"

/*
 * Entries live in segments of one page and are numbered (segment, place). A segment belongs to the shard of
 * the thread that first ran out; its entries go home when they are released, whoever releases them, so a
 * thread that allocates what another one frees does not drain the set.
 */
enum { SHARDS = 64, SEGMENT_ENTRIES = 128, SEGMENTS_MAX = 1 << 16, ARENA_CHUNK = 64 << 10 };

struct shard {
    struct hp_lock lock; /* guards the buckets with number % SHARDS == this, and `free` */
    uint32_t free;       /* free entries at home here, linked by .next */
} __attribute__((aligned(64)));

static _Atomic uint32_t no_bucket;
_Atomic uint32_t *hp_live_buckets = &no_bucket;
size_t hp_live_bucket_mask;

static struct shard shards[SHARDS];
static struct hp_arena arena;
static struct hp_live **segments; /* each written once, before an entry of its is handed out */
static uint8_t *homes;            /* segment -> shard; likewise */
static _Atomic uint32_t segments_used;

static struct hp_live *entry_at(uint32_t entry) {
    return &segments[entry / SEGMENT_ENTRIES][entry % SEGMENT_ENTRIES];
}

/* Neighbouring buckets fall into different shards. */
static struct shard *shard_of(size_t bucket) {
    return &shards[bucket % SHARDS];
}

bool hp_live_set_init(size_t cap_bytes, uint64_t expected) {
    size_t count = hp_bucket_count(expected, HP_LIVE_BUCKETS_MIN, HP_LIVE_BUCKETS_MAX);
    segments = hp_pages_map(SEGMENTS_MAX * sizeof *segments);
    homes = hp_pages_map(SEGMENTS_MAX);
    _Atomic uint32_t *buckets = hp_pages_map(count * sizeof *buckets);
    if (segments == NULL || homes == NULL || buckets == NULL) {
        return false;
    }
    for (unsigned i = 0; i < SHARDS; i++) {
        shards[i] = (struct shard){.lock = HP_LOCK_INIT(HP_RANK_LIVE)};
    }
    hp_arena_init(&arena, ARENA_CHUNK, cap_bytes);
    hp_live_buckets = buckets; /* first: more buckets than are indexed */
    hp_live_bucket_mask = count - 1;
    return true;
}

/* The entries of a new segment at home in `shard`, linked; 0 at the cap. Entry 0 is never used: it means
 * none. */
static uint32_t grow(unsigned shard) {
    struct hp_live *entries = hp_arena_take(&arena, SEGMENT_ENTRIES * sizeof *entries);
    if (entries == NULL) {
        return 0;
    }
    uint32_t segment = atomic_fetch_add_explicit(&segments_used, 1, memory_order_relaxed);
    if (segment >= SEGMENTS_MAX) {
        atomic_store_explicit(&segments_used, SEGMENTS_MAX, memory_order_relaxed);
        return 0;
    }
    uint32_t first = segment * SEGMENT_ENTRIES;
    segments[segment] = entries;
    homes[segment] = (uint8_t)shard;
    for (uint32_t i = 0; i + 1 < SEGMENT_ENTRIES; i++) {
        entries[i].next = first + i + 1;
    }
    return first == 0 ? 1 : first;
}

static uint32_t reserve_from(unsigned shard, bool may_grow) {
    struct shard *s = &shards[shard];
    hp_lock_take(&s->lock);
    if (s->free == 0 && may_grow) {
        s->free = grow(shard);
    }
    uint32_t entry = s->free;
    if (entry != 0) {
        s->free = entry_at(entry)->next;
    }
    hp_lock_release(&s->lock);
    return entry;
}

uint32_t hp_live_set_reserve(unsigned hint) {
    unsigned own = hint % SHARDS;
    uint32_t entry = reserve_from(own, true);
    for (unsigned i = 1; entry == 0 && i < SHARDS; i++) {
        entry = reserve_from((own + i) % SHARDS, false);
    }
    return entry;
}

void hp_live_set_release(uint32_t entry) {
    struct shard *s = &shards[homes[entry / SEGMENT_ENTRIES]];
    hp_lock_take(&s->lock);
    entry_at(entry)->next = s->free;
    s->free = entry;
    hp_lock_release(&s->lock);
}

/* Unlinks the object's entry from its bucket and returns it, or 0. The bucket's shard is held. */
static uint32_t unlink_object(size_t bucket, uintptr_t object) {
    uint32_t entry = atomic_load_explicit(&hp_live_buckets[bucket], memory_order_relaxed);
    struct hp_live *before = NULL;
    while (entry != 0 && entry_at(entry)->object != object) {
        before = entry_at(entry);
        entry = before->next;
    }
    if (entry == 0) {
        return 0;
    }
    if (before == NULL) {
        atomic_store_explicit(&hp_live_buckets[bucket], entry_at(entry)->next, memory_order_relaxed);
    } else {
        before->next = entry_at(entry)->next;
    }
    return entry;
}

bool hp_live_set_insert(uint32_t entry, const struct hp_live *live, struct hp_live *stale) {
    size_t bucket = hp_live_set_bucket((const void *)live->object);
    struct shard *s = shard_of(bucket);
    hp_lock_take(&s->lock);
    uint32_t old = unlink_object(bucket, live->object);
    if (old != 0) {
        *stale = *entry_at(old);
    }
    struct hp_live *mine = entry_at(entry);
    *mine = *live;
    mine->next = atomic_load_explicit(&hp_live_buckets[bucket], memory_order_relaxed);
    atomic_store_explicit(&hp_live_buckets[bucket], entry, memory_order_relaxed);
    hp_lock_release(&s->lock);
    if (old != 0) {
        hp_live_set_release(old);
    }
    return old != 0;
}

uint32_t hp_live_set_remove(const void *object, struct hp_live *live) {
    size_t bucket = hp_live_set_bucket(object);
    struct shard *s = shard_of(bucket);
    hp_lock_take(&s->lock);
    uint32_t entry = unlink_object(bucket, (uintptr_t)object);
    if (entry != 0) {
        *live = *entry_at(entry);
    }
    hp_lock_release(&s->lock);
    return entry;
}

bool hp_live_set_resize(const void *object, size_t size, struct hp_live *before) {
    size_t bucket = hp_live_set_bucket(object);
    struct shard *s = shard_of(bucket);
    hp_lock_take(&s->lock);
    uint32_t entry = atomic_load_explicit(&hp_live_buckets[bucket], memory_order_relaxed);
    while (entry != 0 && entry_at(entry)->object != (uintptr_t)object) {
        entry = entry_at(entry)->next;
    }
    if (entry != 0) {
        *before = *entry_at(entry);
        entry_at(entry)->size = size;
    }
    hp_lock_release(&s->lock);
    return entry != 0;
}

/* One rank for all shards: only fork() holds them together, so it passes by the rank check. */
void hp_live_set_fork_prepare(void) {
    for (unsigned i = 0; i < SHARDS; i++) {
        hp_lock_take_unranked(&shards[i].lock);
    }
    hp_lock_take_unranked(&arena.lock);
}

void hp_live_set_fork_parent(void) {
    hp_lock_release_unranked(&arena.lock);
    for (unsigned i = 0; i < SHARDS; i++) {
        hp_lock_release_unranked(&shards[i].lock);
    }
}

void hp_live_set_fork_child(void) {
    hp_lock_reset(&arena.lock);
    for (unsigned i = 0; i < SHARDS; i++) {
        hp_lock_reset(&shards[i].lock);
    }
}
