/* A hash table that numbers distinct (name, file, line) keys from 0, in the order they come. */
#ifndef HP_TOOLS_KEY_TABLE_H
#define HP_TOOLS_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct hp_key {
    const char *name, *file; /* not NULL; owned by the caller, who keeps them as long as the table */
    int64_t line;
};

struct hp_key_table;

/* Never NULL; the caller frees it with hp_key_table_free. */
struct hp_key_table *hp_key_table_new(void);

/* The number of the key; equal to the count before the call when the key is new. */
size_t hp_key_table_place(struct hp_key_table *table, struct hp_key key);

/* How many keys there are. */
size_t hp_key_table_count(const struct hp_key_table *table);

/* Replaces the strings of a key by equal ones that live longer. */
void hp_key_table_rebind(struct hp_key_table *table, size_t place, const char *name, const char *file);

void hp_key_table_free(struct hp_key_table *table);

#endif
