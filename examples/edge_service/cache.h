/*
 * The response cache: rendered bodies by path, at most `max_bytes` of them; the least recently used ones go
 * first. Thread-safe.
 */
#ifndef EDGE_CACHE_H
#define EDGE_CACHE_H

#include "table.h"
#include "text.h"

#include <pthread.h>
#include <sys/queue.h>

struct cache_entry;
TAILQ_HEAD(cache_order, cache_entry);

struct cache {
    pthread_mutex_t lock;
    struct table entries;
    struct cache_order order; /* most recently used first */
    size_t bytes, max_bytes;
};

void cache_init(struct cache *cache, size_t max_bytes);
void cache_fini(struct cache *cache);

/* Appends the body kept for `key` to `out`; false if there is none. */
bool cache_get(struct cache *cache, struct slice key, struct text *out);

/* Keeps a copy of the body. Does nothing when memory is out or the key is kept already. */
void cache_put(struct cache *cache, struct slice key, struct slice body);

#endif
