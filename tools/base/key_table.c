#include "tools/base/key_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/hash_index.h"
#include "tools/base/memory.h"

struct hp_key_table {
    struct hp_key *keys;
    size_t count, capacity;
    struct hp_hash_index index;
    uint64_t seed;
};

struct wanted {
    const struct hp_key *keys, *key;
};

struct hp_key_table *hp_key_table_new(void) {
    struct hp_key_table *table = hp_memory_new(1, sizeof *table);
    table->seed = hp_hash_seed();
    hp_hash_index_init(&table->index);
    return table;
}

static uint64_t hash_key(uint64_t seed, const struct hp_key *key) {
    uint64_t hash = hp_hash_mix(seed, (uint64_t)key->line);
    return hp_hash_mix_string(hp_hash_mix_string(hash, key->name), key->file);
}

static bool same_key(const void *context, size_t place) {
    const struct wanted *wanted = context;
    const struct hp_key *a = wanted->key, *b = &wanted->keys[place];
    return a->line == b->line && strcmp(a->name, b->name) == 0 && strcmp(a->file, b->file) == 0;
}

size_t hp_key_table_place(struct hp_key_table *table, struct hp_key key) {
    uint64_t hash = hash_key(table->seed, &key);
    const struct wanted wanted = {table->keys, &key};
    size_t place = hp_hash_index_find(&table->index, hash, same_key, &wanted);
    if (place != HP_HASH_NONE)
        return place;
    table->keys = hp_memory_grow(table->keys, table->count, &table->capacity, sizeof *table->keys);
    table->keys[table->count] = key;
    hp_hash_index_insert(&table->index, hash, table->count);
    return table->count++;
}

size_t hp_key_table_count(const struct hp_key_table *table) {
    return table->count;
}

void hp_key_table_rebind(struct hp_key_table *table, size_t place, const char *name, const char *file) {
    table->keys[place].name = name;
    table->keys[place].file = file;
}

void hp_key_table_free(struct hp_key_table *table) {
    if (table == NULL)
        return;
    hp_hash_index_fini(&table->index);
    free(table->keys);
    free(table);
}
