#include "tools/base/hash_index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "tools/base/memory.h"

enum { FIRST_SLOTS = 64 };

void hp_hash_index_init(struct hp_hash_index *index) {
    *index = (struct hp_hash_index){.n_slots = FIRST_SLOTS};
    index->slots = hp_memory_new(index->n_slots, sizeof *index->slots);
}

void hp_hash_index_fini(struct hp_hash_index *index) {
    free(index->slots);
    *index = (struct hp_hash_index){0};
}

size_t hp_hash_index_find(const struct hp_hash_index *index, uint64_t hash,
                          bool (*same)(const void *key, size_t place), const void *key) {
    size_t mask = index->n_slots - 1;
    for (size_t at = (size_t)hash & mask; index->slots[at].place != 0; at = (at + 1) & mask) {
        const struct hp_hash_slot *slot = &index->slots[at];
        if (slot->hash == hash && same(key, slot->place - 1))
            return slot->place - 1;
    }
    return HP_HASH_NONE;
}

static void fill_slot(struct hp_hash_index *index, struct hp_hash_slot slot) {
    size_t mask = index->n_slots - 1, at = (size_t)slot.hash & mask;
    while (index->slots[at].place != 0)
        at = (at + 1) & mask;
    index->slots[at] = slot;
}

static void double_slots(struct hp_hash_index *index) {
    struct hp_hash_index larger = {.n_slots = 2 * index->n_slots, .count = index->count};
    larger.slots = hp_memory_new(larger.n_slots, sizeof *larger.slots);
    for (size_t i = 0; i < index->n_slots; i++)
        if (index->slots[i].place != 0)
            fill_slot(&larger, index->slots[i]);
    free(index->slots);
    *index = larger;
}

void hp_hash_index_insert(struct hp_hash_index *index, uint64_t hash, size_t place) {
    if (2 * (index->count + 1) > index->n_slots)
        double_slots(index);
    fill_slot(index, (struct hp_hash_slot){hash, place + 1});
    index->count++;
}

uint64_t hp_hash_seed(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = 0;
    return seed;
}

uint64_t hp_hash_mix_string(uint64_t hash, const char *string) {
    size_t length = strlen(string), at = 0;
    for (; at + sizeof(uint64_t) <= length; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, string + at, sizeof word);
        hash = hp_hash_mix(hash, word);
    }
    uint64_t rest = 0;
    memcpy(&rest, string + at, length - at);
    return hp_hash_mix(hp_hash_mix(hash, rest), length);
}
