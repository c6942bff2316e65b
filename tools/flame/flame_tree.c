#include "tools/flame/flame_tree.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/hash_index.h"
#include "tools/base/key_table.h"
#include "tools/profile/location_name.h"
#include "tools/base/memory.h"
#include "tools/base/pool.h"

enum {
    MOST_VALUES = 16 * 1024 * 1024, /* a side's values of nodes */
    DEEPEST = 1000,
    NOT_SEEN = 0
};

/* What a line of a function weighs, to know the heaviest. */
struct line {
    uint32_t function;
    int64_t number, self, total;
    size_t seen; /* the last sample that counted for its total, from 1 */
};

/* What is only needed to add more. */
struct hp_flame_building {
    struct hp_pool *pool;
    struct hp_key_table *line_keys, *function_keys;
    struct hp_hash_index children; /* nodes, by parent and function */
    uint64_t seed;
    struct line *lines;
    size_t *seen;    /* by function: the last sample that counted for its total, from 1 */
    int64_t *votes;  /* by node: how much stands behind its line */
    size_t n_sample; /* samples so far, of both sides */
    size_t line_capacity, function_capacity, seen_capacity, node_capacity, vote_capacity;
    size_t self_capacity[HP_FLAME_SIDES], function_self_capacity[HP_FLAME_SIDES],
        function_total_capacity[HP_FLAME_SIDES];
};

/* A profile while it is added. */
struct adding {
    struct hp_flame_tree *tree;
    const struct hp_profile *profile;
    enum hp_flame_side side;
    size_t *type_of;     /* by the tree's types: the profile's */
    size_t *first_frame; /* by location: its first in `frames`; one more at the end */
    uint32_t *frames;    /* lines, innermost first */
    size_t n_frames, frame_capacity;
};

/* Room for one more element of a value for each type, zeroed. */
static int64_t *grow_values(const struct hp_flame_tree *tree, int64_t *values, size_t count,
                            size_t *capacity) {
    size_t size = tree->n_types * sizeof *values;
    values = hp_memory_grow(values, count, capacity, size);
    memset(values + count * tree->n_types, 0, size);
    return values;
}

static uint32_t add_node(struct hp_flame_tree *tree, uint32_t parent, uint32_t function) {
    struct hp_flame_building *building = tree->building;
    size_t number = tree->n_nodes;
    tree->nodes = hp_memory_grow(tree->nodes, number, &building->node_capacity, sizeof *tree->nodes);
    building->votes = hp_memory_grow(building->votes, number, &building->vote_capacity, sizeof(int64_t));
    for (int side = 0; side < HP_FLAME_SIDES; side++)
        tree->self[side] = grow_values(tree, tree->self[side], number, &building->self_capacity[side]);
    tree->nodes[number] = (struct hp_flame_node){.parent = parent, .function = function};
    building->votes[number] = 0;
    tree->n_nodes++;
    return (uint32_t)number;
}

/* The functions' and lines' strings have to outlive the profile they came with. */
static const char *keep(struct hp_flame_tree *tree, const char *text) {
    const char *copy = hp_pool_strdup(tree->building->pool, text);
    return copy != NULL ? copy : "";
}

static uint32_t function_for(struct hp_flame_tree *tree, const char *name, const char *file,
                             const char *binary) {
    struct hp_flame_building *building = tree->building;
    size_t number = hp_key_table_place(building->function_keys, (struct hp_key){name, file, 0});
    if (number < tree->n_functions)
        return (uint32_t)number;
    struct hp_flame_function function = {keep(tree, name), keep(tree, file), keep(tree, binary), 0};
    hp_key_table_rebind(building->function_keys, number, function.name, function.file);
    tree->functions =
        hp_memory_grow(tree->functions, number, &building->function_capacity, sizeof *tree->functions);
    building->seen = hp_memory_grow(building->seen, number, &building->seen_capacity, sizeof(size_t));
    for (int side = 0; side < HP_FLAME_SIDES; side++) {
        tree->function_self[side] =
            grow_values(tree, tree->function_self[side], number, &building->function_self_capacity[side]);
        tree->function_total[side] =
            grow_values(tree, tree->function_total[side], number, &building->function_total_capacity[side]);
    }
    tree->functions[number] = function;
    building->seen[number] = NOT_SEEN;
    tree->n_functions++;
    return (uint32_t)number;
}

static uint32_t line_for(struct hp_flame_tree *tree, const char *name, const char *file, const char *binary,
                         int64_t number) {
    struct hp_flame_building *building = tree->building;
    size_t known = hp_key_table_count(building->line_keys);
    size_t place = hp_key_table_place(building->line_keys, (struct hp_key){name, file, number});
    if (place < known)
        return (uint32_t)place;
    uint32_t function = function_for(tree, name, file, binary);
    const struct hp_flame_function *kept = &tree->functions[function];
    hp_key_table_rebind(building->line_keys, place, kept->name, kept->file);
    building->lines = hp_memory_grow(building->lines, place, &building->line_capacity, sizeof(struct line));
    building->lines[place] = (struct line){.function = function, .number = number};
    return (uint32_t)place;
}

static void add_frame(struct adding *adding, uint32_t line) {
    adding->frames =
        hp_memory_grow(adding->frames, adding->n_frames, &adding->frame_capacity, sizeof *adding->frames);
    adding->frames[adding->n_frames++] = line;
}

static void add_location(struct adding *adding, const struct hp_location *location) {
    const struct hp_mapping *mapping = location->mapping;
    const char *binary = mapping != NULL ? hp_base_name(mapping->filename) : "";
    for (size_t i = 0; i < location->n_lines; i++) {
        const struct hp_line *line = &location->lines[i];
        add_frame(adding,
                  line_for(adding->tree, line->function->name, line->function->filename, binary, line->line));
    }
    if (location->n_lines == 0) {
        char *name = hp_location_name(location);
        add_frame(adding, line_for(adding->tree, name, "", binary, 0));
        free(name);
    }
}

static void add_locations(struct adding *adding) {
    const struct hp_profile *profile = adding->profile;
    adding->first_frame = hp_memory_new(profile->n_locations + 1, sizeof(size_t));
    for (size_t i = 0; i < profile->n_locations; i++) {
        adding->first_frame[i] = adding->n_frames;
        add_location(adding, &profile->locations[i]);
    }
    adding->first_frame[profile->n_locations] = adding->n_frames;
}

static int64_t magnitude(int64_t value) {
    return value >= 0 ? value : value == INT64_MIN ? INT64_MAX : -value;
}

/* Adds a sample's values at `number` of one of the tree's pairs of arrays. */
static void add_values(const struct adding *adding, const struct hp_sample *sample,
                       int64_t *const values[HP_FLAME_SIDES], size_t number) {
    size_t n_types = adding->tree->n_types;
    for (size_t i = 0; i < n_types; i++) {
        int64_t value = sample->values[adding->type_of[i]];
        enum hp_flame_side other = adding->side == HP_FLAME_NOW ? HP_FLAME_BEFORE : HP_FLAME_NOW;
        int64_t *to = &values[value < 0 ? other : adding->side][number * n_types + i];
        *to = hp_profile_add(*to, magnitude(value));
        adding->tree->has_before |= value < 0;
    }
}

/*
 * The node's line by a vote: what the majority of its weight goes through is found, and one of its lines
 * when there is no majority.
 */
static void vote(struct hp_flame_tree *tree, uint32_t node, int64_t line, int64_t weight) {
    int64_t *votes = &tree->building->votes[node];
    if (tree->nodes[node].line == line) {
        *votes = hp_profile_add(*votes, weight);
    } else if (*votes >= weight) {
        *votes -= weight;
    } else {
        *votes = weight - *votes;
        tree->nodes[node].line = line;
    }
}

static bool is_full(const struct hp_flame_tree *tree) {
    return tree->n_nodes >= MOST_VALUES / tree->n_types;
}

struct child {
    const struct hp_flame_tree *tree;
    uint32_t parent, function;
};

static bool is_child(const void *key, size_t place) {
    const struct child *child = key;
    const struct hp_flame_node *node = &child->tree->nodes[place];
    return node->parent == child->parent && node->function == child->function;
}

/* From `*node` to its child for this function. False: there is none, and may be none. */
static bool descend(struct hp_flame_tree *tree, uint32_t function, bool may_add, uint32_t *node) {
    struct hp_hash_index *children = &tree->building->children;
    const struct child child = {.tree = tree, .parent = *node, .function = function};
    uint64_t hash = hp_hash_mix(hp_hash_mix(tree->building->seed, *node), function);
    size_t found = hp_hash_index_find(children, hash, is_child, &child);
    if (found == HP_HASH_NONE && !may_add)
        return false;
    if (found == HP_HASH_NONE) {
        found = add_node(tree, *node, function);
        hp_hash_index_insert(children, hash, found);
    }
    *node = (uint32_t)found;
    return true;
}

/* What can't go deeper ends in a child that says so. These are beyond the bound: one for each node within. */
static void cut_off(struct hp_flame_tree *tree, uint32_t *node) {
    descend(tree, function_for(tree, "[deeper frames]", "", ""), true, node);
    tree->n_cut++;
}

/* A place on a stack, on the way from its outermost frame. */
struct place {
    uint32_t node, line;
    size_t depth;
    bool is_cut;
};

static void add_step(const struct adding *adding, const struct hp_sample *sample, uint32_t line,
                     struct place *place) {
    struct hp_flame_tree *tree = adding->tree;
    struct hp_flame_building *building = tree->building;
    struct line *weighed = &building->lines[line];
    uint32_t function = weighed->function;
    int64_t weight = magnitude(sample->values[adding->type_of[tree->default_type]]);
    if (weighed->seen != building->n_sample) {
        weighed->seen = building->n_sample;
        weighed->total = hp_profile_add(weighed->total, weight);
    }
    if (building->seen[function] != building->n_sample) {
        building->seen[function] = building->n_sample;
        add_values(adding, sample, tree->function_total, function);
    }
    place->line = line;
    if (place->is_cut)
        return;
    bool may_add = place->depth < DEEPEST && !is_full(tree);
    if (descend(tree, function, may_add, &place->node)) {
        place->depth++;
        vote(tree, place->node, weighed->number, weight > 0 ? weight : 1);
    } else {
        cut_off(tree, &place->node);
        place->is_cut = true;
    }
}

static bool is_empty(const struct adding *adding, const struct hp_sample *sample) {
    for (size_t i = 0; i < adding->tree->n_types; i++)
        if (sample->values[adding->type_of[i]] != 0)
            return false;
    return true;
}

static void add_sample(struct adding *adding, const struct hp_sample *sample) {
    struct hp_flame_tree *tree = adding->tree;
    struct hp_flame_building *building = tree->building;
    struct place place = {0};
    if (is_empty(adding, sample))
        return;
    building->n_sample++;
    tree->n_stacks += adding->side == HP_FLAME_NOW;
    for (size_t i = sample->n_locations; i > 0; i--) {
        size_t location = (size_t)(sample->locations[i - 1] - adding->profile->locations);
        for (size_t at = adding->first_frame[location + 1]; at > adding->first_frame[location]; at--)
            add_step(adding, sample, adding->frames[at - 1], &place);
    }
    if (sample->n_locations == 0)
        add_step(adding, sample, line_for(tree, "[no stack]", "", "", 0), &place);
    struct line *innermost = &building->lines[place.line];
    innermost->self =
        hp_profile_add(innermost->self, magnitude(sample->values[adding->type_of[tree->default_type]]));
    add_values(adding, sample, tree->function_self, innermost->function);
    add_values(adding, sample, tree->self, place.node);
}

/* Each function is shown with the line where most of it hangs. */
static void choose_lines(struct hp_flame_tree *tree) {
    size_t n_lines = hp_key_table_count(tree->building->line_keys);
    const struct line **best = hp_memory_new(tree->n_functions, sizeof(const struct line *));
    for (size_t i = 0; i < n_lines; i++) {
        const struct line *line = &tree->building->lines[i], *other = best[line->function];
        bool is_better =
            other == NULL || line->self > other->self ||
            (line->self == other->self && line->total > other->total) ||
            (line->self == other->self && line->total == other->total && line->number < other->number);
        if (is_better)
            best[line->function] = line;
    }
    for (size_t i = 0; i < tree->n_functions; i++)
        tree->functions[i].line = best[i] != NULL ? best[i]->number : 0;
    free(best);
}

/* The first profile's types are the tree's. */
static void take_types(struct hp_flame_tree *tree, const struct hp_profile *profile) {
    tree->n_types = profile->n_sample_types;
    tree->default_type = hp_profile_default_type(profile);
    tree->types = hp_memory_new(tree->n_types, sizeof *tree->types);
    for (size_t i = 0; i < tree->n_types; i++) {
        tree->types[i].type = keep(tree, profile->sample_types[i].type);
        tree->types[i].unit = keep(tree, profile->sample_types[i].unit);
    }
    add_node(tree, 0, HP_FLAME_NO_FUNCTION);
}

static bool match_types(struct adding *adding, struct hp_error *error) {
    const struct hp_flame_tree *tree = adding->tree;
    adding->type_of = hp_memory_new(tree->n_types, sizeof *adding->type_of);
    for (size_t i = 0; i < tree->n_types; i++) {
        const struct hp_value_type *type = &tree->types[i];
        int found = hp_profile_find_type(adding->profile, type->type);
        if (found < 0)
            return hp_error_set(error, "has no sample type %s, which the first file has", type->type);
        const char *unit = adding->profile->sample_types[found].unit;
        if (strcmp(unit, type->unit) != 0)
            return hp_error_set(error, "has %s in %s, the first file in %s", type->type, unit, type->unit);
        adding->type_of[i] = (size_t)found;
    }
    return true;
}

struct hp_flame_tree *hp_flame_tree_new(void) {
    struct hp_flame_tree *tree = hp_memory_new(1, sizeof *tree);
    tree->building = hp_memory_new(1, sizeof *tree->building);
    tree->building->pool = hp_pool_new(SIZE_MAX);
    tree->building->line_keys = hp_key_table_new();
    tree->building->function_keys = hp_key_table_new();
    hp_hash_index_init(&tree->building->children);
    tree->building->seed = hp_hash_seed();
    return tree;
}

bool hp_flame_tree_add(struct hp_flame_tree *tree, const struct hp_profile *profile, enum hp_flame_side side,
                       struct hp_error *error) {
    struct adding adding = {.tree = tree, .profile = profile, .side = side};
    if (tree->types == NULL)
        take_types(tree, profile);
    bool matches = match_types(&adding, error);
    if (matches) {
        tree->has_before |= side == HP_FLAME_BEFORE;
        add_locations(&adding);
        for (size_t i = 0; i < profile->n_samples; i++)
            add_sample(&adding, &profile->samples[i]);
        choose_lines(tree);
    }
    free(adding.type_of);
    free(adding.first_frame);
    free(adding.frames);
    return matches;
}

int64_t *hp_flame_tree_totals(const struct hp_flame_tree *tree, enum hp_flame_side side) {
    size_t n_types = tree->n_types, count = tree->n_nodes * n_types;
    int64_t *totals = hp_memory_new(count, sizeof *totals);
    memcpy(totals, tree->self[side], count * sizeof *totals);
    /* A node comes after its parent. */
    for (size_t node = tree->n_nodes; node-- > 1;)
        for (size_t i = 0; i < n_types; i++) {
            int64_t *to = &totals[tree->nodes[node].parent * n_types + i];
            *to = hp_profile_add(*to, totals[node * n_types + i]);
        }
    return totals;
}

int hp_flame_tree_find_type(const struct hp_flame_tree *tree, const char *name) {
    for (size_t i = 0; i < tree->n_types; i++)
        if (strcmp(tree->types[i].type, name) == 0)
            return (int)i;
    return -1;
}

void hp_flame_tree_free(struct hp_flame_tree *tree) {
    if (tree == NULL)
        return;
    struct hp_flame_building *building = tree->building;
    hp_key_table_free(building->line_keys);
    hp_key_table_free(building->function_keys);
    hp_hash_index_fini(&building->children);
    hp_pool_free(building->pool);
    free(building->lines);
    free(building->seen);
    free(building->votes);
    free(building);
    for (int side = 0; side < HP_FLAME_SIDES; side++) {
        free(tree->self[side]);
        free(tree->function_self[side]);
        free(tree->function_total[side]);
    }
    free(tree->types);
    free(tree->functions);
    free(tree->nodes);
    free(tree);
}
