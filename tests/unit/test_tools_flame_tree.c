/* tools/flame: flame_tree, flame_part: call trees of profiles that are made here, beside sums made by hand. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flame/flame_part.h"
#include "tools/flame/flame_tree.h"
#include "tools/profile/profile_reader.h"
#include "test_tools_builder.h"
#include "tests/unit/cmocka_first.h"

static struct builder builder;

static struct hp_profile *parse(void) {
    static uint8_t packed[BUILDER_BYTES];
    struct hp_error error = {""};
    struct hp_profile *profile =
        hp_profile_parse(packed, builder_pack(&builder, packed), &hp_input_limits_default, &error);
    assert_string_equal(error.text, "");
    return profile;
}

/* The builder's profile, as it is now, added to the tree, which then must not need it any more. */
static void add(struct hp_flame_tree *tree, enum hp_flame_side side) {
    struct hp_error error = {""};
    struct hp_profile *profile = parse();
    assert_true(hp_flame_tree_add(tree, profile, side, &error));
    hp_profile_free(profile);
}

static void print_path(FILE *stream, const struct hp_flame_tree *tree, uint32_t node) {
    if (node == 0)
        return;
    print_path(stream, tree, tree->nodes[node].parent);
    fprintf(stream, "/%s", tree->functions[tree->nodes[node].function].name);
}

/* A line for each node: path, line, and for both sides the values of its own of two types; malloc'ed. */
static char *tree_text(const struct hp_flame_tree *tree) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    for (uint32_t node = 1; node < tree->n_nodes; node++) {
        print_path(stream, tree, node);
        const int64_t *now = &tree->self[HP_FLAME_NOW][node * tree->n_types];
        const int64_t *before = &tree->self[HP_FLAME_BEFORE][node * tree->n_types];
        fprintf(stream, ":%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                tree->nodes[node].line, now[1], now[3], before[1], before[3]);
    }
    fclose(stream);
    return text;
}

static const struct hp_flame_function *function_named(const struct hp_flame_tree *tree, const char *name,
                                                      size_t *number) {
    for (*number = 0; *number < tree->n_functions; ++*number)
        if (strcmp(tree->functions[*number].name, name) == 0)
            return &tree->functions[*number];
    return NULL;
}

static void sums_up_by_path(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    char *text = tree_text(tree);
    assert_string_equal(text, "/main:30 0 0 0 0\n"
                              "/main/app::add(int):20 0 0 0 0\n"
                              "/main/app::add(int)/grab:10 100 100 0 0\n"
                              "/main/libx.so+0x1100:0 300 150 0 0\n"
                              "/[truncated]:0 0 0 0 0\n"
                              "/[truncated]/main:30 0 0 0 0\n"
                              "/[truncated]/main/main:30 50 0 0 0\n");
    free(text);
    assert_int_equal(tree->n_stacks, 3);
    assert_int_equal(tree->n_cut, 0);
    assert_false(tree->has_before);
    assert_int_equal(tree->default_type, 3);
    hp_flame_tree_free(tree);
}

static void totals_are_of_all_below(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    int64_t *totals = hp_flame_tree_totals(tree, HP_FLAME_NOW);
    static const int64_t root[] = {4, 450, 2, 250}, main[] = {3, 400, 2, 250}, truncated[] = {1, 50, 0, 0};
    assert_memory_equal(&totals[0], root, sizeof root);
    assert_memory_equal(&totals[4], main, sizeof main);
    assert_memory_equal(&totals[20], truncated, sizeof truncated);
    free(totals);
    hp_flame_tree_free(tree);
}

/* As `top` has them: a function that is on a stack twice counts once. */
static void functions_count_once_a_stack(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    size_t number = 0;
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    const struct hp_flame_function *function = function_named(tree, "main", &number);
    static const int64_t self[] = {1, 50, 0, 0}, total[] = {4, 450, 2, 250};
    assert_memory_equal(&tree->function_self[HP_FLAME_NOW][number * 4], self, sizeof self);
    assert_memory_equal(&tree->function_total[HP_FLAME_NOW][number * 4], total, sizeof total);
    assert_string_equal(function->file, "/src/main.c");
    assert_string_equal(function->binary, "app");
    function = function_named(tree, "libx.so+0x1100", &number);
    assert_string_equal(function->binary, "libx.so");
    assert_string_equal(function->file, "");
    hp_flame_tree_free(tree);
}

static void several_profiles_add_up(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    size_t n_nodes = tree->n_nodes;
    builder_init(&builder);
    builder.values[0][3] = 7;
    add(tree, HP_FLAME_NOW);
    assert_int_equal(tree->n_nodes, n_nodes);
    assert_int_equal(tree->n_stacks, 6);
    assert_int_equal(tree->self[HP_FLAME_NOW][3 * 4 + 3], 107);
    assert_int_equal(tree->self[HP_FLAME_NOW][3 * 4 + 1], 200);
    hp_flame_tree_free(tree);
}

static void a_base_is_the_other_side(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    builder.values[0][3] = 30;
    builder.values[1][3] = -20; /* a difference: what it lost is now what the other side has */
    add(tree, HP_FLAME_BEFORE);
    assert_true(tree->has_before);
    assert_int_equal(tree->n_stacks, 3);
    char *text = tree_text(tree);
    assert_non_null(strstr(text, "/grab:10 100 100 100 30\n"));
    assert_non_null(strstr(text, "/libx.so+0x1100:0 300 170 300 0\n"));
    free(text);
    hp_flame_tree_free(tree);
}

static void negative_values_are_before(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    builder.values[0][3] = -100;
    builder.values[1][3] = INT64_MIN;
    add(tree, HP_FLAME_NOW);
    assert_true(tree->has_before);
    char *text = tree_text(tree);
    assert_non_null(strstr(text, "/grab:10 100 0 0 100\n"));
    assert_non_null(strstr(text, "/libx.so+0x1100:0 300 0 0 9223372036854775807\n"));
    free(text);
    int64_t *totals = hp_flame_tree_totals(tree, HP_FLAME_BEFORE);
    assert_int_equal(totals[3], INT64_MAX);
    free(totals);
    hp_flame_tree_free(tree);
}

static void other_sample_types_are_refused(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    struct hp_error error = {""};
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    size_t n_nodes = tree->n_nodes;
    builder.types[1].type = builder_string(&builder, "cpu");
    struct hp_profile *profile = parse();
    assert_false(hp_flame_tree_add(tree, profile, HP_FLAME_NOW, &error));
    assert_string_equal(error.text, "has no sample type alloc_space, which the first file has");
    hp_profile_free(profile);
    builder_init(&builder);
    builder.types[1].unit = builder_string(&builder, "pages");
    profile = parse();
    assert_false(hp_flame_tree_add(tree, profile, HP_FLAME_NOW, &error));
    assert_string_equal(error.text, "has alloc_space in pages, the first file in bytes");
    hp_profile_free(profile);
    assert_int_equal(tree->n_nodes, n_nodes);
    hp_flame_tree_free(tree);
}

/* The line that most of a node goes through, of two that it has. */
static void lines_are_the_heaviest(void **state) {
    (void)state;
    for (int heavier = 0; heavier < 2; heavier++) {
        struct hp_flame_tree *tree = hp_flame_tree_new();
        size_t number = 0;
        builder_init(&builder);
        builder.values[0][3] = heavier == 0 ? 1000 : 10;
        add(tree, HP_FLAME_NOW);
        builder.lines[0].line = 11; /* grab */
        builder.values[0][3] = 100;
        add(tree, HP_FLAME_NOW);
        int64_t expected = heavier == 0 ? 10 : 11;
        assert_int_equal(tree->nodes[3].line, expected);
        assert_int_equal(function_named(tree, "grab", &number)->line, expected);
        hp_flame_tree_free(tree);
    }
}

/* A profile of one type with `n_samples` stacks, each the first depths[i] of the locations, of value 1. */
struct chain {
    struct hp_profile profile;
    struct hp_value_type type;
    struct hp_function *functions;
    struct hp_line *lines;
    struct hp_location *locations;
    const struct hp_location **stack; /* the innermost first */
    struct hp_sample *samples;
    char (*names)[32];
    int64_t value;
};

static void chain_init(struct chain *chain, size_t n_locations, size_t n_samples) {
    *chain = (struct chain){.type = {"space", "bytes"}, .value = 1};
    chain->functions = calloc(n_locations, sizeof *chain->functions);
    chain->lines = calloc(n_locations, sizeof *chain->lines);
    chain->locations = calloc(n_locations, sizeof *chain->locations);
    chain->stack = calloc(n_locations, sizeof *chain->stack);
    chain->names = calloc(n_locations, sizeof *chain->names);
    chain->samples = calloc(n_samples, sizeof *chain->samples);
    for (size_t i = 0; i < n_locations; i++) {
        snprintf(chain->names[i], sizeof chain->names[i], "f%zu", i);
        chain->functions[i] = (struct hp_function){chain->names[i], chain->names[i], "f.c", 0};
        chain->lines[i] = (struct hp_line){&chain->functions[i], 1, 0};
        chain->locations[i] = (struct hp_location){.lines = &chain->lines[i], .n_lines = 1};
        chain->stack[n_locations - 1 - i] = &chain->locations[i];
    }
    chain->profile = (struct hp_profile){.sample_types = &chain->type,
                                         .n_sample_types = 1,
                                         .samples = chain->samples,
                                         .n_samples = n_samples,
                                         .locations = chain->locations,
                                         .n_locations = n_locations,
                                         .default_sample_type = ""};
}

static void chain_fini(struct chain *chain) {
    free(chain->functions);
    free(chain->lines);
    free(chain->locations);
    free(chain->stack);
    free(chain->names);
    free(chain->samples);
}

static void deep_stacks_are_cut(void **state) {
    (void)state;
    enum { DEPTH = 5000 };
    struct chain chain;
    struct hp_error error = {""};
    size_t number = 0;
    chain_init(&chain, DEPTH, 1);
    chain.samples[0] =
        (struct hp_sample){.locations = chain.stack, .n_locations = DEPTH, .values = &chain.value};
    struct hp_flame_tree *tree = hp_flame_tree_new();
    assert_true(hp_flame_tree_add(tree, &chain.profile, HP_FLAME_NOW, &error));
    assert_int_equal(tree->n_cut, 1);
    assert_int_equal(tree->n_nodes, 1 + 1000 + 1);
    assert_string_equal(tree->functions[tree->nodes[1001].function].name, "[deeper frames]");
    assert_int_equal(tree->self[HP_FLAME_NOW][1001], 1);
    /* The table of functions does not suffer. */
    function_named(tree, "f4999", &number);
    assert_int_equal(tree->function_self[HP_FLAME_NOW][number], 1);
    hp_flame_tree_free(tree);
    chain_fini(&chain);
}

static void a_stack_without_frames_says_so(void **state) {
    (void)state;
    struct chain chain;
    struct hp_error error = {""};
    chain_init(&chain, 1, 1);
    chain.samples[0] = (struct hp_sample){.locations = chain.stack, .n_locations = 0, .values = &chain.value};
    struct hp_flame_tree *tree = hp_flame_tree_new();
    assert_true(hp_flame_tree_add(tree, &chain.profile, HP_FLAME_NOW, &error));
    assert_int_equal(tree->n_nodes, 2);
    assert_string_equal(tree->functions[tree->nodes[1].function].name, "[no stack]");
    hp_flame_tree_free(tree);
    chain_fini(&chain);
}

/* One stack for each of many leaves below the same caller, the first leaves the heaviest. */
static struct hp_flame_tree *bush(size_t leaves) {
    struct chain chain;
    struct hp_error error = {""};
    int64_t *values = calloc(leaves, sizeof *values);
    const struct hp_location **stacks = calloc(2 * leaves, sizeof *stacks);
    chain_init(&chain, leaves + 1, leaves);
    for (size_t i = 0; i < leaves; i++) {
        values[i] = (int64_t)(leaves - i);
        stacks[2 * i] = &chain.locations[i + 1];
        stacks[2 * i + 1] = &chain.locations[0];
        chain.samples[i] =
            (struct hp_sample){.locations = &stacks[2 * i], .n_locations = 2, .values = &values[i]};
    }
    struct hp_flame_tree *tree = hp_flame_tree_new();
    assert_true(hp_flame_tree_add(tree, &chain.profile, HP_FLAME_NOW, &error));
    chain_fini(&chain);
    free(stacks);
    free(values);
    return tree;
}

static void a_part_keeps_all_sums(void **state) {
    (void)state;
    enum { LEAVES = 1000, MOST = 12 };
    struct hp_flame_tree *tree = bush(LEAVES);
    assert_int_equal(tree->n_nodes, LEAVES + 2);
    struct hp_flame_part part = hp_flame_part_new(tree, MOST);
    /* The root, f0, its ten largest leaves, and the remainder of f0. */
    assert_int_equal(part.n_nodes, MOST + 1);
    assert_int_equal(part.nodes_left_out, LEAVES - 10);
    assert_int_equal(part.functions_left_out, LEAVES + 1 - MOST);
    int64_t sum = 0;
    for (size_t i = 0; i < part.n_nodes; i++) {
        sum += part.self[HP_FLAME_NOW][i];
        assert_true(i == 0 || part.nodes[i].parent < i);
    }
    assert_int_equal(sum, LEAVES * (LEAVES + 1) / 2);
    const struct hp_flame_part_node *rest = &part.nodes[MOST];
    assert_int_equal(rest->parent, 1);
    assert_int_equal(rest->left_out, LEAVES - 10);
    assert_int_equal(part.self[HP_FLAME_NOW][MOST], (LEAVES - 10) * (LEAVES - 9) / 2);
    assert_string_equal(tree->functions[part.functions[part.nodes[2].function]].name, "f1");
    hp_flame_part_free(&part);
    hp_flame_tree_free(tree);
}

static void a_small_tree_is_whole(void **state) {
    (void)state;
    struct hp_flame_tree *tree = hp_flame_tree_new();
    builder_init(&builder);
    add(tree, HP_FLAME_NOW);
    struct hp_flame_part part = hp_flame_part_new(tree, 100);
    assert_int_equal(part.n_nodes, tree->n_nodes);
    assert_int_equal(part.n_functions, tree->n_functions);
    assert_int_equal(part.nodes_left_out, 0);
    assert_memory_equal(part.self[HP_FLAME_NOW], tree->self[HP_FLAME_NOW],
                        tree->n_nodes * 4 * sizeof(int64_t));
    hp_flame_part_free(&part);
    hp_flame_tree_free(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_up_by_path),
        cmocka_unit_test(totals_are_of_all_below),
        cmocka_unit_test(functions_count_once_a_stack),
        cmocka_unit_test(several_profiles_add_up),
        cmocka_unit_test(a_base_is_the_other_side),
        cmocka_unit_test(negative_values_are_before),
        cmocka_unit_test(other_sample_types_are_refused),
        cmocka_unit_test(lines_are_the_heaviest),
        cmocka_unit_test(deep_stacks_are_cut),
        cmocka_unit_test(a_stack_without_frames_says_so),
        cmocka_unit_test(a_part_keeps_all_sums),
        cmocka_unit_test(a_small_tree_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
