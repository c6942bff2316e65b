#include "heapprof/bookkeeping/frame_table.h"

#include <stdatomic.h>

#include "heapprof/base/arena.h"
#include "heapprof/base/buckets.h"
#include "heapprof/base/lock.h"
#include "heapprof/base/rng.h"

/* A bucket for 8 frames of a full table, which hardly any program has. */
enum { FRAMES_A_BUCKET = 8, BUCKETS_MIN = 1 << 12, BUCKETS_MAX = 1 << 16 };

static struct hp_lock lock = HP_LOCK_INIT(HP_RANK_FRAMES); /* one writer at a time; readers need none */
static uint32_t (*module_of)(uintptr_t pc);
struct hp_frame *hp_frame_table;
static struct hp_row row; /* its memory, opened under the lock */
static uint32_t frames_max;
static _Atomic uint32_t *buckets;
static size_t bucket_count; /* a power of two */
static _Atomic uint32_t count;

bool hp_frame_table_init(size_t cap_bytes, uint32_t (*find_module)(uintptr_t pc)) {
    module_of = find_module;
    frames_max = (uint32_t)(cap_bytes / sizeof *hp_frame_table);
    bool has_row = hp_row_map(&row, cap_bytes);
    hp_frame_table = (struct hp_frame *)(void *)row.start;
    bucket_count = hp_bucket_count(frames_max / FRAMES_A_BUCKET, BUCKETS_MIN, BUCKETS_MAX);
    buckets = hp_pages_map(bucket_count * sizeof *buckets);
    return has_row && buckets != NULL;
}

uint32_t hp_frame_table_count(void) {
    return atomic_load_explicit(&count, memory_order_acquire);
}

/* After dlclose another binary may have the same program counters: the module tells them apart. */
static uint32_t find(_Atomic uint32_t *bucket, uintptr_t pc, uint32_t module) {
    uint32_t number = atomic_load_explicit(bucket, memory_order_acquire);
    while (number != 0 && (hp_frame_table[number - 1].pc != pc || hp_frame_table[number - 1].module != module)) {
        number = hp_frame_table[number - 1].next;
    }
    return number;
}

static uint32_t append(_Atomic uint32_t *bucket, uintptr_t pc, uint32_t module) {
    uint32_t index = hp_frame_table_count();
    if (index == frames_max || !hp_row_reach(&row, (index + 1) * sizeof *hp_frame_table)) {
        return 0;
    }
    hp_frame_table[index] = (struct hp_frame){
        .pc = pc, .module = module, .next = atomic_load_explicit(bucket, memory_order_relaxed)};
    /* The count first: who finds the frame may put it into a stack, and a snapshot has the frames of its stacks. */
    atomic_store_explicit(&count, index + 1, memory_order_release);
    atomic_store_explicit(bucket, index + 1, memory_order_release);
    return index + 1;
}

uint32_t hp_frame_table_add(uintptr_t pc) {
    _Atomic uint32_t *bucket = &buckets[hp_rng_mix(pc) & (bucket_count - 1)];
    uint32_t module = module_of(pc);
    uint32_t number = find(bucket, pc, module);
    if (number != 0) {
        return number;
    }
    hp_lock_take(&lock);
    number = find(bucket, pc, module);
    if (number == 0) {
        number = append(bucket, pc, module);
    }
    hp_lock_release(&lock);
    return number;
}

void hp_frame_table_fork_prepare(void) {
    hp_lock_take_unranked(&lock);
}

void hp_frame_table_fork_parent(void) {
    hp_lock_release_unranked(&lock);
}

void hp_frame_table_fork_child(void) {
    hp_lock_reset(&lock);
}
