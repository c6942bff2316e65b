#include "tools/flame/flame_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/flame/flame_part.h"
#include "tools/base/json_string.h"
#include "tools/base/key_table.h"
#include "tools/base/memory.h"

static void write_comma(FILE *stream, bool is_first) {
    if (!is_first)
        fputc(',', stream);
}

static void write_number(FILE *stream, const char *key, int64_t number) {
    fprintf(stream, "\"%s\":%" PRId64 ",", key, number);
}

static void write_strings(FILE *stream, const char *key, const char *const *strings, size_t count) {
    fprintf(stream, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        write_comma(stream, i == 0);
        hp_json_string(stream, strings[i]);
    }
    fputs("],", stream);
}

static void write_types(FILE *stream, const struct hp_flame_tree *tree) {
    fputs("\"types\":[", stream);
    for (size_t i = 0; i < tree->n_types; i++) {
        fputs(i == 0 ? "[" : ",[", stream);
        hp_json_string(stream, tree->types[i].type);
        fputc(',', stream);
        hp_json_string(stream, tree->types[i].unit);
        fputc(']', stream);
    }
    fputs("],", stream);
}

static void write_facts(FILE *stream, const struct hp_flame_tree *tree, const struct hp_flame_facts *facts) {
    fputs("\"program\":\"heapprof " HP_VERSION "\",", stream);
    write_types(stream, tree);
    write_number(stream, "shown", (int64_t)facts->type);
    write_strings(stream, "files", facts->files, facts->n_files);
    write_strings(stream, "comments", facts->comments, facts->n_comments);
    if (facts->base != NULL) {
        fputs("\"base\":", stream);
        hp_json_string(stream, facts->base);
        fputc(',', stream);
    }
    write_number(stream, "time", facts->time_nanos / 1000000);
    write_number(stream, "duration", facts->duration_nanos / 1000000);
    write_number(stream, "period", facts->period);
    fputs("\"periodUnit\":", stream);
    hp_json_string(stream, facts->period_unit);
    fputc(',', stream);
    write_number(stream, "stacks", (int64_t)tree->n_stacks);
    write_number(stream, "cut", (int64_t)tree->n_cut);
}

/* An array for each type of the values at numbers[0..count), or at 0..count without numbers. */
static void write_values(FILE *stream, const char *key, const struct hp_flame_tree *tree,
                         const int64_t *values, const uint32_t *numbers, size_t count) {
    fprintf(stream, ",\"%s\":[", key);
    for (size_t type = 0; type < tree->n_types; type++) {
        fputs(type == 0 ? "[" : ",[", stream);
        for (size_t i = 0; i < count; i++) {
            size_t number = numbers != NULL ? numbers[i] : i;
            write_comma(stream, i == 0);
            fprintf(stream, "%" PRId64, values[number * tree->n_types + type]);
        }
        fputc(']', stream);
    }
    fputc(']', stream);
}

/* Numbers for the files and binaries of the functions, and those strings in the order of their numbers. */
struct names {
    struct hp_key_table *table;
    const char **strings;
    size_t capacity;
};

static size_t number_name(struct names *names, const char *text) {
    size_t known = hp_key_table_count(names->table);
    size_t place = hp_key_table_place(names->table, (struct hp_key){text, "", 0});
    if (place == known) {
        names->strings = hp_memory_grow(names->strings, place, &names->capacity, sizeof *names->strings);
        names->strings[place] = text;
    }
    return place;
}

static void write_function_names(FILE *stream, const struct hp_flame_tree *tree,
                                 const struct hp_flame_part *part) {
    fputs("\"functions\":{\"name\":[", stream);
    for (size_t i = 0; i < part->n_functions; i++) {
        write_comma(stream, i == 0);
        hp_json_string(stream, tree->functions[part->functions[i]].name);
    }
    fputs("],\"line\":[", stream);
    for (size_t i = 0; i < part->n_functions; i++) {
        write_comma(stream, i == 0);
        fprintf(stream, "%" PRId64, tree->functions[part->functions[i]].line);
    }
}

static void write_functions(FILE *stream, const struct hp_flame_tree *tree,
                            const struct hp_flame_part *part) {
    struct names names = {.table = hp_key_table_new()};
    write_function_names(stream, tree, part);
    fputs("],\"file\":[", stream);
    for (size_t i = 0; i < part->n_functions; i++) {
        write_comma(stream, i == 0);
        fprintf(stream, "%zu", number_name(&names, tree->functions[part->functions[i]].file));
    }
    fputs("],\"binary\":[", stream);
    for (size_t i = 0; i < part->n_functions; i++) {
        write_comma(stream, i == 0);
        fprintf(stream, "%zu", number_name(&names, tree->functions[part->functions[i]].binary));
    }
    fputc(']', stream);
    write_values(stream, "self", tree, tree->function_self[HP_FLAME_NOW], part->functions, part->n_functions);
    write_values(stream, "total", tree, tree->function_total[HP_FLAME_NOW], part->functions,
                 part->n_functions);
    if (tree->has_before) {
        write_values(stream, "selfBefore", tree, tree->function_self[HP_FLAME_BEFORE], part->functions,
                     part->n_functions);
        write_values(stream, "totalBefore", tree, tree->function_total[HP_FLAME_BEFORE], part->functions,
                     part->n_functions);
    }
    fputs("},", stream);
    write_strings(stream, "strings", names.strings, hp_key_table_count(names.table));
    hp_key_table_free(names.table);
    free(names.strings);
}

static int64_t function_number(const struct hp_flame_part_node *node) {
    return node->function != HP_FLAME_NO_FUNCTION ? (int64_t)node->function : -1 - (int64_t)node->left_out;
}

static void write_nodes(FILE *stream, const struct hp_flame_tree *tree, const struct hp_flame_part *part) {
    fputs("\"nodes\":{\"parent\":[", stream);
    for (size_t i = 0; i < part->n_nodes; i++)
        fprintf(stream, i == 0 ? "%" PRIu32 : ",%" PRIu32, part->nodes[i].parent);
    fputs("],\"function\":[", stream);
    for (size_t i = 0; i < part->n_nodes; i++)
        fprintf(stream, i == 0 ? "%" PRId64 : ",%" PRId64, function_number(&part->nodes[i]));
    fputs("],\"line\":[", stream);
    for (size_t i = 0; i < part->n_nodes; i++)
        fprintf(stream, i == 0 ? "%" PRId64 : ",%" PRId64, part->nodes[i].line);
    fputc(']', stream);
    write_values(stream, "self", tree, part->self[HP_FLAME_NOW], NULL, part->n_nodes);
    if (tree->has_before)
        write_values(stream, "selfBefore", tree, part->self[HP_FLAME_BEFORE], NULL, part->n_nodes);
    fputs("},", stream);
}

void hp_flame_json_write(FILE *stream, const struct hp_flame_tree *tree, const struct hp_flame_facts *facts,
                         size_t most_shown) {
    struct hp_flame_part part = hp_flame_part_new(tree, most_shown);
    fputc('{', stream);
    write_facts(stream, tree, facts);
    write_functions(stream, tree, &part);
    write_nodes(stream, tree, &part);
    write_number(stream, "nodesLeftOut", (int64_t)part.nodes_left_out);
    fprintf(stream, "\"functionsLeftOut\":%zu}", part.functions_left_out);
    hp_flame_part_free(&part);
}
