/*
 * A chained hash table whose nodes live inside the caller's objects. The table owns its slots, the caller
 * its objects. Not thread-safe: the owner's lock covers it.
 */
#ifndef EDGE_TABLE_H
#define EDGE_TABLE_H

#include "account.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_node { /* the first member of what is kept */
    struct table_node *next;
    uint64_t hash;
};

struct table {
    struct table_node **slots;
    size_t slot_count; /* a power of two, or 0 before the first insert */
    size_t count;
    enum account account; /* pays for the slots */
};

/* FNV-1a; `seed` is 0 or the hash of what came before. */
uint64_t table_hash(uint64_t seed, const void *bytes, size_t length);

/* False, and nothing changed, if there is no memory for the very first slots. */
bool table_insert(struct table *table, struct table_node *node, uint64_t hash);

/* The node must be in the table. */
void table_remove(struct table *table, struct table_node *node);

/* The first node of this hash, then each further one; NULL at the end. */
struct table_node *table_find(const struct table *table, uint64_t hash);
struct table_node *table_find_next(const struct table_node *node);

/* Gives every node to `drop`, which may free it, and frees the slots. `drop` may be NULL if the table is
 * empty. */
void table_fini(struct table *table, void (*drop)(struct table_node *node));

#endif
