/*
 * The part of a hash table that is the same for every kind of key: from a hash to the places of an array that
 * the caller keeps. Not thread-safe.
 */
#ifndef HP_TOOLS_HASH_INDEX_H
#define HP_TOOLS_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_hash_slot {
    uint64_t hash;
    size_t place; /* + 1; 0: empty */
};

struct hp_hash_index {
    struct hp_hash_slot *slots;
    size_t n_slots; /* a power of two */
    size_t count;
};

/* What hp_hash_index_find gives when there is none such. */
#define HP_HASH_NONE SIZE_MAX

void hp_hash_index_init(struct hp_hash_index *index);
void hp_hash_index_fini(struct hp_hash_index *index);

/* The first place of this hash for which same(key, place) holds. */
size_t hp_hash_index_find(const struct hp_hash_index *index, uint64_t hash,
                          bool (*same)(const void *key, size_t place), const void *key);

/* Adds a place; that it is not there yet is the caller's knowledge. */
void hp_hash_index_insert(struct hp_hash_index *index, uint64_t hash, size_t place);

/* A random number for the start of every hash: a file must not be able to choose keys that all collide. */
uint64_t hp_hash_seed(void);

/* One value, or one string, more in a hash. Every bit of it passes through all 64. */
static inline uint64_t hp_hash_mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
}

uint64_t hp_hash_mix_string(uint64_t hash, const char *string);

#endif
