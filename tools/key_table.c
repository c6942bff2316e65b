#include "key_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "memory.h"

struct hp_key_table {
    struct hp_key *keys;
    uint64_t *hashes; /* of the keys */
    size_t *slots;    /* place + 1; 0: empty; their number is a power of two */
    size_t count, key_capacity, hash_capacity, n_slots;
    uint64_t seed; /* a file must not be able to choose names that all collide */
};

enum { FIRST_SLOTS = 256 };

struct hp_key_table *hp_key_table_new(void) {
    struct hp_key_table *table = hp_memory_new(1, sizeof *table);
    table->n_slots = FIRST_SLOTS;
    table->slots = hp_memory_new(table->n_slots, sizeof *table->slots);
    if (getrandom(&table->seed, sizeof table->seed, GRND_NONBLOCK) != (ssize_t)sizeof table->seed)
        table->seed = 0;
    return table;
}

/* Multiply and fold: each byte passes through all 64 bits, the seed included. */
static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
}

static uint64_t hash_key(uint64_t seed, const struct hp_key *key) {
    uint64_t hash = mix(seed, (uint64_t)key->line);
    for (const char *at = key->name; *at != '\0'; at++)
        hash = mix(hash, (unsigned char)*at);
    hash = mix(hash, 0x100);
    for (const char *at = key->file; *at != '\0'; at++)
        hash = mix(hash, (unsigned char)*at);
    return hash;
}

static bool same_key(const struct hp_key *a, const struct hp_key *b) {
    return a->line == b->line && strcmp(a->name, b->name) == 0 && strcmp(a->file, b->file) == 0;
}

static size_t *free_slot(struct hp_key_table *table, uint64_t hash) {
    size_t at = (size_t)hash & (table->n_slots - 1);
    while (table->slots[at] != 0)
        at = (at + 1) & (table->n_slots - 1);
    return &table->slots[at];
}

static void double_slots(struct hp_key_table *table) {
    free(table->slots);
    table->n_slots *= 2;
    table->slots = hp_memory_new(table->n_slots, sizeof *table->slots);
    for (size_t i = 0; i < table->count; i++)
        *free_slot(table, table->hashes[i]) = i + 1;
}

size_t hp_key_table_place(struct hp_key_table *table, struct hp_key key) {
    uint64_t hash = hash_key(table->seed, &key);
    for (size_t at = (size_t)hash & (table->n_slots - 1); table->slots[at] != 0;
         at = (at + 1) & (table->n_slots - 1)) {
        size_t place = table->slots[at] - 1;
        if (table->hashes[place] == hash && same_key(&table->keys[place], &key))
            return place;
    }
    if (2 * (table->count + 1) > table->n_slots)
        double_slots(table);
    table->keys = hp_memory_grow(table->keys, table->count, &table->key_capacity, sizeof *table->keys);
    table->hashes = hp_memory_grow(table->hashes, table->count, &table->hash_capacity, sizeof *table->hashes);
    table->keys[table->count] = key;
    table->hashes[table->count] = hash;
    *free_slot(table, hash) = table->count + 1;
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
    free(table->keys);
    free(table->hashes);
    free(table->slots);
    free(table);
}
