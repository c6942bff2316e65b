#include "tools/base/pointer_table.h"

#include <stdint.h>
#include <stdlib.h>

#include "tools/base/hash_index.h"
#include "tools/base/memory.h"

struct hp_pointer_table {
    const void **pointers;
    size_t count, capacity;
    struct hp_hash_index index;
};

struct wanted {
    const void *const *pointers;
    const void *pointer;
};

struct hp_pointer_table *hp_pointer_table_new(void) {
    struct hp_pointer_table *table = hp_memory_new(1, sizeof *table);
    hp_hash_index_init(&table->index);
    return table;
}

static bool same_pointer(const void *key, size_t place) {
    const struct wanted *wanted = key;
    return wanted->pointers[place] == wanted->pointer;
}

size_t hp_pointer_table_place(struct hp_pointer_table *table, const void *pointer) {
    /* Addresses are our own: nobody chose them to collide, so no seed. */
    uint64_t hash = hp_hash_mix(0, (uintptr_t)pointer);
    const struct wanted wanted = {table->pointers, pointer};
    size_t place = hp_hash_index_find(&table->index, hash, same_pointer, &wanted);
    if (place != HP_HASH_NONE)
        return place;
    table->pointers =
        hp_memory_grow(table->pointers, table->count, &table->capacity, sizeof *table->pointers);
    table->pointers[table->count] = pointer;
    hp_hash_index_insert(&table->index, hash, table->count);
    return table->count++;
}

const void *const *hp_pointer_table_all(const struct hp_pointer_table *table, size_t *count) {
    *count = table->count;
    return table->pointers;
}

void hp_pointer_table_free(struct hp_pointer_table *table) {
    if (table == NULL)
        return;
    hp_hash_index_fini(&table->index);
    free(table->pointers);
    free(table);
}
