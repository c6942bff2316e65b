#include "pointer_table.h"

#include <stdint.h>
#include <stdlib.h>

#include "memory.h"

struct hp_pointer_table {
    const void **pointers;
    size_t *slots; /* place + 1; 0: empty; their number is a power of two */
    size_t count, capacity, n_slots;
};

enum { FIRST_SLOTS = 256 };

struct hp_pointer_table *hp_pointer_table_new(void) {
    struct hp_pointer_table *table = hp_memory_new(1, sizeof *table);
    table->n_slots = FIRST_SLOTS;
    table->slots = hp_memory_new(table->n_slots, sizeof *table->slots);
    return table;
}

/* The pointer's slot, or the empty one where it belongs. Addresses are our own: nobody chose them to collide.
 */
static size_t *slot_of(const struct hp_pointer_table *table, const void *pointer) {
    size_t at = (size_t)(((uintptr_t)pointer * 0x9e3779b97f4a7c15U) >> 20) & (table->n_slots - 1);
    while (table->slots[at] != 0 && table->pointers[table->slots[at] - 1] != pointer)
        at = (at + 1) & (table->n_slots - 1);
    return &table->slots[at];
}

static void double_slots(struct hp_pointer_table *table) {
    free(table->slots);
    table->n_slots *= 2;
    table->slots = hp_memory_new(table->n_slots, sizeof *table->slots);
    for (size_t i = 0; i < table->count; i++)
        *slot_of(table, table->pointers[i]) = i + 1;
}

size_t hp_pointer_table_place(struct hp_pointer_table *table, const void *pointer) {
    size_t *slot = slot_of(table, pointer);
    if (*slot != 0)
        return *slot - 1;
    if (2 * (table->count + 1) > table->n_slots) {
        double_slots(table);
        slot = slot_of(table, pointer);
    }
    table->pointers =
        hp_memory_grow(table->pointers, table->count, &table->capacity, sizeof *table->pointers);
    table->pointers[table->count] = pointer;
    *slot = table->count + 1;
    return table->count++;
}

const void *const *hp_pointer_table_all(const struct hp_pointer_table *table, size_t *count) {
    *count = table->count;
    return table->pointers;
}

void hp_pointer_table_free(struct hp_pointer_table *table) {
    if (table == NULL)
        return;
    free(table->pointers);
    free(table->slots);
    free(table);
}
