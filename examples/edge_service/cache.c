#include "cache.h"

#include <stdlib.h>

struct cache_entry {
    struct table_node node;
    TAILQ_ENTRY(cache_entry) order;
    struct slice key, body; /* their text follows the struct, in the same block */
};

static size_t entry_size(struct slice key, struct slice body) {
    return sizeof(struct cache_entry) + key.length + body.length;
}

void cache_init(struct cache *cache, size_t max_bytes) {
    *cache = (struct cache){.entries = {.account = ACCOUNT_CACHE}, .max_bytes = max_bytes};
    pthread_mutex_init(&cache->lock, NULL);
    TAILQ_INIT(&cache->order);
}

static struct cache_entry *find(const struct cache *cache, struct slice key, uint64_t hash) {
    struct table_node *node = table_find(&cache->entries, hash);
    while (node && !slice_equal(((struct cache_entry *)node)->key, key))
        node = table_find_next(node);
    return (struct cache_entry *)node;
}

static void evict(struct cache *cache, struct cache_entry *entry) {
    size_t size = entry_size(entry->key, entry->body);
    table_remove(&cache->entries, &entry->node);
    TAILQ_REMOVE(&cache->order, entry, order);
    cache->bytes -= size;
    account_remove(ACCOUNT_CACHE, size);
    free(entry);
}

void cache_fini(struct cache *cache) {
    struct cache_entry *entry;
    while ((entry = TAILQ_FIRST(&cache->order)))
        evict(cache, entry);
    table_fini(&cache->entries, NULL);
    pthread_mutex_destroy(&cache->lock);
}

bool cache_get(struct cache *cache, struct slice key, struct text *out) {
    uint64_t hash = table_hash(0, key.at, key.length);
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = find(cache, key, hash);
    if (entry) {
        TAILQ_REMOVE(&cache->order, entry, order);
        TAILQ_INSERT_HEAD(&cache->order, entry, order);
        text_put(out, entry->body);
    }
    pthread_mutex_unlock(&cache->lock);
    return entry != NULL;
}

static struct cache_entry *entry_new(struct slice key, struct slice body) {
    struct cache_entry *entry = malloc(entry_size(key, body));
    if (!entry)
        return NULL;
    char *text = (char *)(entry + 1);
    memcpy(text, key.at, key.length);
    memcpy(text + key.length, body.at, body.length);
    entry->key = (struct slice){text, key.length};
    entry->body = (struct slice){text + key.length, body.length};
    return entry;
}

void cache_put(struct cache *cache, struct slice key, struct slice body) {
    uint64_t hash = table_hash(0, key.at, key.length);
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = find(cache, key, hash) ? NULL : entry_new(key, body);
    if (entry && !table_insert(&cache->entries, &entry->node, hash)) {
        free(entry);
        entry = NULL;
    }
    if (entry) {
        size_t size = entry_size(key, body);
        TAILQ_INSERT_HEAD(&cache->order, entry, order);
        cache->bytes += size;
        account_add(ACCOUNT_CACHE, size);
        while (cache->bytes > cache->max_bytes)
            evict(cache, TAILQ_LAST(&cache->order, cache_order));
    }
    pthread_mutex_unlock(&cache->lock);
}
