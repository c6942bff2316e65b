/*
 * A call tree: profiles summed up by call path, for all sample types at once. A path is a list of
 * functions, each known by its name and source file, so that the same code meets itself in the profiles of
 * several processes, hosts and builds. A node has two sides: what is, and what was before in a profile to
 * compare with.
 *
 * The strings are the tree's own: a profile may be freed once it was added. Not thread-safe.
 */
#ifndef HP_TOOLS_FLAME_TREE_H
#define HP_TOOLS_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/error.h"
#include "tools/profile/profile.h"

enum hp_flame_side { HP_FLAME_NOW, HP_FLAME_BEFORE, HP_FLAME_SIDES };

struct hp_flame_function {
    const char *name;   /* "binary+0xoffset" when it has none */
    const char *file;   /* "" when unknown */
    const char *binary; /* the last part of its path; "" when unknown */
    int64_t line;       /* the line where most of it hangs, as in `heapprof top`; 0: unknown */
};

struct hp_flame_node {
    uint32_t parent;   /* always a smaller number; the root, 0, is its own */
    uint32_t function; /* HP_FLAME_NO_FUNCTION: the root */
    int64_t line;      /* the one that most of the node goes through; 0: unknown */
};

enum { HP_FLAME_NO_FUNCTION = UINT32_MAX };

struct hp_flame_tree {
    struct hp_value_type *types; /* those of the first profile */
    size_t n_types, default_type;
    struct hp_flame_function *functions;
    struct hp_flame_node *nodes; /* the root first */
    size_t n_functions, n_nodes;
    /* By node or function, then by sample type; never negative. */
    int64_t *self[HP_FLAME_SIDES];           /* of a node, without what it called */
    int64_t *function_self[HP_FLAME_SIDES];  /* where the function is innermost */
    int64_t *function_total[HP_FLAME_SIDES]; /* where it is on the stack, once or more often */
    bool has_before;                         /* something is on that side */
    size_t n_stacks;                         /* samples added, on the side that is */
    size_t n_cut; /* stacks too deep, or beyond the tree's bounds: they end in "[deeper frames]" */
    struct hp_flame_building *building;
};

/* An empty tree; the caller ends it with hp_flame_tree_free. */
struct hp_flame_tree *hp_flame_tree_new(void);

/*
 * Adds a profile's samples to one side. A negative value, as profiles of a difference have, counts for the
 * other side. The names are as the profile has them by now: symbolize it before. False: it has not the
 * sample types of the first; nothing was added and `error` says so.
 *
 * A tree has at most 4 million nodes (fewer for a profile with more than four sample types), and none
 * deeper than 1000: some 750 MiB at the most.
 */
bool hp_flame_tree_add(struct hp_flame_tree *tree, const struct hp_profile *profile, enum hp_flame_side side,
                       struct hp_error *error);

/*
 * The values of all nodes of a side with what they called, laid out as `self`. The caller frees them.
 */
int64_t *hp_flame_tree_totals(const struct hp_flame_tree *tree, enum hp_flame_side side);

/* The place of the sample type of this name; -1 when there is none such. */
int hp_flame_tree_find_type(const struct hp_flame_tree *tree, const char *name);

/* NULL is fine. */
void hp_flame_tree_free(struct hp_flame_tree *tree);

#endif
