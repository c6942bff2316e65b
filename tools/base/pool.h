/*
 * A pool: many small allocations, freed at once, never beyond a limit. A profile and all that it
 * points to live in one, so a hostile file can cost no more than the limit. Not thread-safe.
 */
#ifndef HP_TOOLS_POOL_H
#define HP_TOOLS_POOL_H

#include <stddef.h>

struct hp_pool;

/* A pool of at most `limit` bytes, its own overhead included. NULL without memory. Owned by the caller. */
struct hp_pool *hp_pool_new(size_t limit);

/* Frees the pool and everything allocated from it; NULL is fine. */
void hp_pool_free(struct hp_pool *pool);

/* `size` uninitialised bytes, aligned for any type, valid until hp_pool_free. NULL at the limit, or from no
 * pool. */
void *hp_pool_alloc(struct hp_pool *pool, size_t size);

/* `count` zeroed elements of `size` bytes; NULL at the limit or when the product overflows. */
void *hp_pool_calloc(struct hp_pool *pool, size_t count, size_t size);

/* A copy of the string; NULL at the limit. */
char *hp_pool_strdup(struct hp_pool *pool, const char *string);

#endif
