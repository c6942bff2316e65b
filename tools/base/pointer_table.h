/* A hash table that numbers distinct pointers from 0, in the order they come. */
#ifndef HP_TOOLS_POINTER_TABLE_H
#define HP_TOOLS_POINTER_TABLE_H

#include <stddef.h>

struct hp_pointer_table;

/* Never NULL; the caller frees it with hp_pointer_table_free. */
struct hp_pointer_table *hp_pointer_table_new(void);

/* The number of the pointer, which is not NULL; equal to the count before the call when it is new. */
size_t hp_pointer_table_place(struct hp_pointer_table *table, const void *pointer);

/* All of them, by their numbers; valid until the next new one. */
const void *const *hp_pointer_table_all(const struct hp_pointer_table *table, size_t *count);

void hp_pointer_table_free(struct hp_pointer_table *table);

#endif
