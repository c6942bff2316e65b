#include "heapprof/base/arena.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define ALIGN ((size_t)16)
#define PAGE ((size_t)4096)
#define ROW_STEP ((size_t)64 << 10)

static _Atomic size_t pages_total;

static void *map(size_t bytes, int protection, int extra_flags) {
    bytes = (bytes + PAGE - 1) & ~(PAGE - 1);
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | extra_flags, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    /* A huge page under a sparse table would cost 2 MiB for its first byte. Fails harmlessly without THP. */
    (void)madvise(p, bytes, MADV_NOHUGEPAGE);
    atomic_fetch_add_explicit(&pages_total, bytes, memory_order_relaxed);
    return p;
}

void *hp_pages_map(size_t bytes) {
    return map(bytes, PROT_READ | PROT_WRITE, MAP_NORESERVE);
}

void *hp_pages_map_present(size_t bytes) {
    return map(bytes, PROT_READ | PROT_WRITE, MAP_POPULATE);
}

void hp_pages_touch(void *pages, size_t bytes) {
    volatile char *at = pages;
    for (size_t i = 0; i < bytes; i += PAGE) {
        at[i] = at[i];
    }
}

bool hp_row_map(struct hp_row *row, size_t bytes) {
    *row = (struct hp_row){.start = map(bytes, PROT_NONE, MAP_NORESERVE), .bytes = bytes};
    return row->start != NULL;
}

bool hp_row_reach(struct hp_row *row, size_t end) {
    if (end <= row->open) {
        return true;
    }
    size_t open = (end + ROW_STEP - 1) & ~(ROW_STEP - 1);
    open = open < row->bytes ? open : row->bytes;
    if (end > open || mprotect(row->start + row->open, open - row->open, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    row->open = open;
    return true;
}

bool hp_pages_have_room(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED && munmap(p, bytes) == 0;
}

size_t hp_pages_total(void) {
    return atomic_load_explicit(&pages_total, memory_order_relaxed);
}

void hp_arena_init(struct hp_arena *arena, size_t chunk_bytes, size_t cap_bytes) {
    *arena =
        (struct hp_arena){.lock = HP_LOCK_INIT(HP_RANK_ARENA), .chunk_bytes = chunk_bytes, .room = cap_bytes};
}

static int add_chunk(struct hp_arena *arena) {
    if (arena->room < arena->chunk_bytes) {
        return -1;
    }
    void *chunk = hp_pages_map(arena->chunk_bytes);
    if (chunk == NULL) {
        return -1;
    }
    arena->room -= arena->chunk_bytes;
    arena->next = (uintptr_t)chunk;
    arena->end = arena->next + arena->chunk_bytes;
    return 0;
}

void *hp_arena_take(struct hp_arena *arena, size_t bytes) {
    bytes = (bytes + ALIGN - 1) & ~(ALIGN - 1);
    if (bytes > arena->chunk_bytes) {
        return NULL;
    }
    void *taken = NULL;
    hp_lock_take(&arena->lock);
    if (arena->end - arena->next >= bytes || add_chunk(arena) == 0) {
        taken = (void *)arena->next;
        arena->next += bytes;
    }
    hp_lock_release(&arena->lock);
    return taken;
}
