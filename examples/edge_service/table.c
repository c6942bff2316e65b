#include "table.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 256 };

uint64_t table_hash(uint64_t seed, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    uint64_t hash = seed ? seed : 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static struct table_node **slot_of(const struct table *table, uint64_t hash) {
    return &table->slots[(hash ^ hash >> 32) & (table->slot_count - 1)];
}

static void push(struct table *table, struct table_node *node) {
    struct table_node **slot = slot_of(table, node->hash);
    node->next = *slot;
    *slot = node;
}

/* Doubles the slots; if there is no memory for that, the chains only get longer. */
static void table_grow(struct table *table) {
    struct table old = *table;
    size_t slot_count = old.slot_count ? 2 * old.slot_count : FIRST_SLOTS;
    struct table_node **slots = calloc(slot_count, sizeof(*slots));
    if (!slots)
        return;
    account_add(table->account, slot_count * sizeof(*slots));
    table->slots = slots;
    table->slot_count = slot_count;
    for (size_t i = 0; i < old.slot_count; i++) {
        for (struct table_node *node = old.slots[i], *next; node; node = next) {
            next = node->next;
            push(table, node);
        }
    }
    account_remove(table->account, old.slot_count * sizeof(*slots));
    free(old.slots);
}

bool table_insert(struct table *table, struct table_node *node, uint64_t hash) {
    if (table->count >= table->slot_count / 4 * 3)
        table_grow(table);
    if (table->slot_count == 0)
        return false;
    node->hash = hash;
    push(table, node);
    table->count++;
    return true;
}

void table_remove(struct table *table, struct table_node *node) {
    struct table_node **link = slot_of(table, node->hash);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    table->count--;
}

static struct table_node *skip_to(struct table_node *node, uint64_t hash) {
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct table_node *table_find(const struct table *table, uint64_t hash) {
    return table->slot_count ? skip_to(*slot_of(table, hash), hash) : NULL;
}

struct table_node *table_find_next(const struct table_node *node) {
    return skip_to(node->next, node->hash);
}

void table_fini(struct table *table, void (*drop)(struct table_node *node)) {
    for (size_t i = 0; i < table->slot_count && drop; i++) {
        for (struct table_node *node = table->slots[i], *next; node; node = next) {
            next = node->next;
            drop(node);
        }
    }
    account_remove(table->account, table->slot_count * sizeof(*table->slots));
    free(table->slots);
    *table = (struct table){.account = table->account};
}
