#include "tools/flame/flame_part.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

struct ranked {
    double share; /* of all that there is, in the type where it is largest */
    uint32_t number;
};

enum { NOT_SHOWN = UINT32_MAX };

/* Largest first. A parent, never smaller than its child and always before it, stays before it. */
static int by_share(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    if (a->share != b->share)
        return a->share < b->share ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static struct ranked *rank(const struct hp_flame_tree *tree, int64_t *const values[HP_FLAME_SIDES],
                           size_t count, const int64_t *const roots[HP_FLAME_SIDES]) {
    struct ranked *ranked = hp_memory_new(count, sizeof *ranked);
    for (size_t number = 0; number < count; number++) {
        ranked[number].number = (uint32_t)number;
        for (size_t i = 0; i < tree->n_types * HP_FLAME_SIDES; i++) {
            size_t side = i / tree->n_types, type = i % tree->n_types;
            int64_t root = roots[side][type];
            double value = (double)values[side][number * tree->n_types + type];
            double share = root > 0 ? value / (double)root : 0;
            if (share > ranked[number].share)
                ranked[number].share = share;
        }
    }
    qsort(ranked, count, sizeof *ranked, by_share);
    return ranked;
}

/* By number: true for the `most` largest. */
static bool *choose_largest(const struct hp_flame_tree *tree, int64_t *const values[HP_FLAME_SIDES],
                            size_t count, size_t most, const int64_t *const roots[HP_FLAME_SIDES]) {
    bool *chosen = hp_memory_new(count, sizeof *chosen);
    if (count <= most) {
        memset(chosen, true, count);
        return chosen;
    }
    struct ranked *ranked = rank(tree, values, count, roots);
    for (size_t i = 0; i < most; i++)
        chosen[ranked[i].number] = true;
    free(ranked);
    return chosen;
}

/* A place in the part for everything that is chosen. */
static uint32_t *number_chosen(const bool *chosen, size_t count, size_t *n_chosen) {
    uint32_t *places = hp_memory_new(count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i] = chosen[i] ? (uint32_t)(*n_chosen)++ : (uint32_t)NOT_SHOWN;
    return places;
}

static void add_values(const struct hp_flame_tree *tree, int64_t *to, const int64_t *from) {
    for (size_t i = 0; i < tree->n_types; i++)
        to[i] = hp_profile_add(to[i], from[i]);
}

static void copy_nodes(struct hp_flame_part *part, const struct hp_flame_tree *tree, const uint32_t *places) {
    for (size_t node = 0; node < tree->n_nodes; node++) {
        if (places[node] == NOT_SHOWN)
            continue;
        const struct hp_flame_node *from = &tree->nodes[node];
        part->nodes[places[node]] = (struct hp_flame_part_node){
            .parent = places[from->parent], .function = from->function, .line = from->line};
        for (int side = 0; side < HP_FLAME_SIDES; side++)
            memcpy(&part->self[side][places[node] * tree->n_types], &tree->self[side][node * tree->n_types],
                   tree->n_types * sizeof(int64_t));
    }
}

/* The shown node that the node's remainder hangs on; an ancestor's when its parent is not shown either. */
static uint32_t *find_holders(const struct hp_flame_tree *tree, const uint32_t *places) {
    uint32_t *holders = hp_memory_new(tree->n_nodes, sizeof *holders);
    for (size_t node = 1; node < tree->n_nodes; node++) {
        uint32_t parent = tree->nodes[node].parent;
        holders[node] = places[parent] != NOT_SHOWN ? places[parent] : holders[parent];
    }
    return holders;
}

/* What is left out below a shown node becomes one child of it. */
static void add_remainders(struct hp_flame_part *part, const struct hp_flame_tree *tree,
                           const uint32_t *places) {
    uint32_t *holders = find_holders(tree, places);
    uint32_t *remainders = hp_memory_new(part->n_nodes, sizeof *remainders); /* by holder; 0: none */
    for (size_t node = 1; node < tree->n_nodes; node++) {
        if (places[node] != NOT_SHOWN)
            continue;
        uint32_t holder = holders[node];
        if (remainders[holder] == 0) {
            remainders[holder] = (uint32_t)part->n_nodes++;
            part->nodes[remainders[holder]] =
                (struct hp_flame_part_node){.parent = holder, .function = HP_FLAME_NO_FUNCTION};
        }
        uint32_t to = remainders[holder];
        part->nodes[to].left_out++;
        part->nodes_left_out++;
        for (int side = 0; side < HP_FLAME_SIDES; side++)
            add_values(tree, &part->self[side][to * tree->n_types], &tree->self[side][node * tree->n_types]);
    }
    free(holders);
    free(remainders);
}

static void take_nodes(struct hp_flame_part *part, const struct hp_flame_tree *tree, const bool *chosen) {
    size_t n_chosen = 0;
    uint32_t *places = number_chosen(chosen, tree->n_nodes, &n_chosen);
    size_t room = n_chosen < tree->n_nodes ? 2 * n_chosen : n_chosen;
    part->nodes = hp_memory_new(room, sizeof *part->nodes);
    for (int side = 0; side < HP_FLAME_SIDES; side++)
        part->self[side] = hp_memory_new(room * tree->n_types, sizeof(int64_t));
    part->n_nodes = n_chosen;
    copy_nodes(part, tree, places);
    add_remainders(part, tree, places);
    free(places);
}

/* Beside the largest functions, those of the nodes that are shown. */
static void take_functions(struct hp_flame_part *part, const struct hp_flame_tree *tree, bool *chosen) {
    for (size_t i = 0; i < part->n_nodes; i++)
        if (part->nodes[i].function != HP_FLAME_NO_FUNCTION)
            chosen[part->nodes[i].function] = true;
    uint32_t *places = number_chosen(chosen, tree->n_functions, &part->n_functions);
    part->functions = hp_memory_new(part->n_functions, sizeof *part->functions);
    for (size_t i = 0; i < tree->n_functions; i++)
        if (places[i] != NOT_SHOWN)
            part->functions[places[i]] = (uint32_t)i;
    for (size_t i = 0; i < part->n_nodes; i++)
        if (part->nodes[i].function != HP_FLAME_NO_FUNCTION)
            part->nodes[i].function = places[part->nodes[i].function];
    part->functions_left_out = tree->n_functions - part->n_functions;
    free(places);
}

struct hp_flame_part hp_flame_part_new(const struct hp_flame_tree *tree, size_t most) {
    struct hp_flame_part part = {0};
    int64_t *totals[HP_FLAME_SIDES];
    const int64_t *roots[HP_FLAME_SIDES];
    for (int side = 0; side < HP_FLAME_SIDES; side++)
        roots[side] = totals[side] = hp_flame_tree_totals(tree, (enum hp_flame_side)side);
    bool *nodes = choose_largest(tree, totals, tree->n_nodes, most, roots);
    bool *functions = choose_largest(tree, tree->function_total, tree->n_functions, most, roots);
    nodes[0] = true; /* also of a profile in which all is zero */
    take_nodes(&part, tree, nodes);
    take_functions(&part, tree, functions);
    free(nodes);
    free(functions);
    for (int side = 0; side < HP_FLAME_SIDES; side++)
        free(totals[side]);
    return part;
}

void hp_flame_part_free(struct hp_flame_part *part) {
    for (int side = 0; side < HP_FLAME_SIDES; side++)
        free(part->self[side]);
    free(part->nodes);
    free(part->functions);
    *part = (struct hp_flame_part){0};
}
