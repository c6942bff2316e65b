/*
 * The part of a call tree that a page shows: its largest nodes and functions. What is left out of a node
 * hangs on it as one remainder, so that all sums stay.
 */
#ifndef HP_TOOLS_FLAME_PART_H
#define HP_TOOLS_FLAME_PART_H

#include <stddef.h>
#include <stdint.h>

#include "tools/flame/flame_tree.h"

struct hp_flame_part_node {
    uint32_t parent;   /* in this part; always a smaller number; the root, 0, is its own */
    uint32_t function; /* in this part; HP_FLAME_NO_FUNCTION: the root, or a remainder */
    int64_t line;
    size_t left_out; /* of a remainder: how many nodes, with their own, it stands for; else 0 */
};

struct hp_flame_part {
    struct hp_flame_part_node *nodes;
    int64_t *self[HP_FLAME_SIDES]; /* by node, then by sample type */
    uint32_t *functions;           /* the tree's numbers of the functions that are shown */
    size_t n_nodes, n_functions;
    size_t nodes_left_out, functions_left_out;
};

/*
 * At most `most` nodes beside the remainders, of which each node has at most one; their functions, and
 * the largest `most` others. Largest is what has the largest share in any sample type, on any side. The
 * caller ends it with hp_flame_part_free.
 */
struct hp_flame_part hp_flame_part_new(const struct hp_flame_tree *tree, size_t most);

void hp_flame_part_free(struct hp_flame_part *part);

#endif
