#include "tools/base/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, CHUNK = 64 * 1024 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HP_POOL_EXACT 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HP_POOL_EXACT 1
#endif

struct chunk {
    struct chunk *next;
    size_t size; /* bytes in `bytes` */
    _Alignas(ALIGNMENT) char bytes[];
};

struct hp_pool {
    struct chunk *chunks; /* the newest first */
    size_t used;          /* in the newest */
    size_t left;          /* of the limit */
};

struct hp_pool *hp_pool_new(size_t limit) {
    struct hp_pool *pool = calloc(1, sizeof *pool);
    if (pool != NULL)
        pool->left = limit;
    return pool;
}

void hp_pool_free(struct hp_pool *pool) {
    if (pool == NULL)
        return;
    for (struct chunk *chunk = pool->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(pool);
}

static size_t chunk_size_for(size_t size) {
#ifdef HP_POOL_EXACT
    /* Under AddressSanitizer each allocation is malloc's own, so that it sees every overrun. */
    return size;
#else
    return size > CHUNK / 4 ? size : CHUNK;
#endif
}

static struct chunk *add_chunk(struct hp_pool *pool, size_t size) {
    size_t total = sizeof(struct chunk) + size;
    if (total > pool->left)
        return NULL;
    struct chunk *chunk = malloc(total);
    if (chunk == NULL)
        return NULL;
    pool->left -= total;
    chunk->next = pool->chunks;
    chunk->size = size;
    pool->chunks = chunk;
    pool->used = 0;
    return chunk;
}

void *hp_pool_alloc(struct hp_pool *pool, size_t size) {
    if (pool == NULL || size > PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    struct chunk *chunk = pool->chunks;
    if (chunk == NULL || chunk->size - pool->used < size) {
        chunk = add_chunk(pool, chunk_size_for(size));
        if (chunk == NULL)
            return NULL;
    }
    void *memory = chunk->bytes + pool->used;
    size_t step = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    size_t room = chunk->size - pool->used;
#ifdef HP_POOL_EXACT
    step = room;
#endif
    pool->used += step < room ? step : room;
    return memory;
}

void *hp_pool_calloc(struct hp_pool *pool, size_t count, size_t size) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    void *memory = hp_pool_alloc(pool, total);
    return memory != NULL ? memset(memory, 0, total) : NULL;
}

char *hp_pool_strdup(struct hp_pool *pool, const char *string) {
    size_t size = strlen(string) + 1;
    char *copy = hp_pool_alloc(pool, size);
    return copy != NULL ? memcpy(copy, string, size) : NULL;
}
