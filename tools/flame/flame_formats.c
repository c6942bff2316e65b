#include "tools/flame/flame_formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/json_string.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

/* The path from below the root to `node` into path[]; returns how long it is. */
static size_t find_path(const struct hp_flame_tree *tree, uint32_t node, uint32_t *path) {
    size_t length = 0;
    for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
        length++;
    for (size_t i = length; i > 0; i--) {
        path[i - 1] = node;
        node = tree->nodes[node].parent;
    }
    return length;
}

/* Room for the longest path. */
static uint32_t *new_path(const struct hp_flame_tree *tree) {
    size_t longest = 0, *depths = hp_memory_new(tree->n_nodes, sizeof *depths);
    for (size_t i = 1; i < tree->n_nodes; i++) {
        depths[i] = depths[tree->nodes[i].parent] + 1;
        longest = depths[i] > longest ? depths[i] : longest;
    }
    free(depths);
    return hp_memory_new(longest, sizeof(uint32_t));
}

static char *folded_name(const char *name) {
    char *clean = hp_text_clean(name);
    for (char *at = clean; (at = strchr(at, ';')) != NULL;)
        *at = ':';
    return clean;
}

static char **folded_names(const struct hp_flame_tree *tree) {
    char **names = hp_memory_new(tree->n_functions, sizeof *names);
    for (size_t i = 0; i < tree->n_functions; i++)
        names[i] = folded_name(tree->functions[i].name);
    return names;
}

void hp_flame_write_folded(FILE *stream, const struct hp_flame_tree *tree, size_t type) {
    uint32_t *path = new_path(tree);
    char **names = folded_names(tree);
    for (uint32_t node = 1; node < tree->n_nodes && ferror(stream) == 0; node++) {
        int64_t now = tree->self[HP_FLAME_NOW][node * tree->n_types + type];
        int64_t before = tree->self[HP_FLAME_BEFORE][node * tree->n_types + type];
        if (now == 0 && before == 0)
            continue;
        size_t length = find_path(tree, node, path);
        for (size_t i = 0; i < length; i++)
            fprintf(stream, i == 0 ? "%s" : ";%s", names[tree->nodes[path[i]].function]);
        if (tree->has_before)
            fprintf(stream, " %" PRId64, before);
        fprintf(stream, " %" PRId64 "\n", now);
    }
    for (size_t i = 0; i < tree->n_functions; i++)
        free(names[i]);
    free(names);
    free(path);
}

static void write_frames(FILE *stream, const struct hp_flame_tree *tree) {
    fputs("\"shared\":{\"frames\":[", stream);
    for (size_t i = 0; i < tree->n_functions; i++) {
        const struct hp_flame_function *function = &tree->functions[i];
        fputs(i == 0 ? "\n{\"name\":" : ",\n{\"name\":", stream);
        hp_json_string(stream, function->name);
        if (function->file[0] != '\0') {
            fputs(",\"file\":", stream);
            hp_json_string(stream, function->file);
        }
        if (function->line > 0)
            fprintf(stream, ",\"line\":%" PRId64, function->line);
        fputc('}', stream);
    }
    fputs("]},\n", stream);
}

static void write_stacks(FILE *stream, const struct hp_flame_tree *tree, const int64_t *values, size_t type) {
    uint32_t *path = new_path(tree);
    bool is_first = true;
    fputs("\"samples\":[", stream);
    for (uint32_t node = 1; node < tree->n_nodes && ferror(stream) == 0; node++) {
        if (values[node * tree->n_types + type] == 0)
            continue;
        size_t length = find_path(tree, node, path);
        for (size_t i = 0; i < length; i++)
            fprintf(stream, "%s%" PRIu32,
                    i > 0      ? ","
                    : is_first ? "\n["
                               : ",\n[",
                    tree->nodes[path[i]].function);
        fputc(']', stream);
        is_first = false;
    }
    fputs("],\n", stream);
    free(path);
}

/* The sum of the weights, which are on the same line. */
static int64_t write_weights(FILE *stream, const struct hp_flame_tree *tree, const int64_t *values,
                             size_t type) {
    int64_t sum = 0;
    bool is_first = true;
    fputs("\"weights\":[", stream);
    for (size_t node = 1; node < tree->n_nodes; node++) {
        int64_t value = values[node * tree->n_types + type];
        if (value == 0)
            continue;
        fprintf(stream, is_first ? "%" PRId64 : ",%" PRId64, value);
        sum = hp_profile_add(sum, value);
        is_first = false;
    }
    fputs("],\n", stream);
    return sum;
}

/* The units that the format knows are none, nanoseconds to seconds, and bytes. */
static const char *speedscope_unit(const char *unit) {
    static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(unit, known[i]) == 0)
            return unit;
    return "none";
}

static void write_profile(FILE *stream, const struct hp_flame_tree *tree, size_t type) {
    const int64_t *values = tree->self[HP_FLAME_NOW];
    fputs("{\"type\":\"sampled\",\"name\":", stream);
    hp_json_string(stream, tree->types[type].type);
    fprintf(stream, ",\"unit\":\"%s\",\n", speedscope_unit(tree->types[type].unit));
    write_stacks(stream, tree, values, type);
    int64_t sum = write_weights(stream, tree, values, type);
    fprintf(stream, "\"startValue\":0,\"endValue\":%" PRId64 "}", sum);
}

void hp_flame_write_speedscope(FILE *stream, const struct hp_flame_tree *tree, size_t type,
                               const char *name) {
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n", stream);
    fputs("\"exporter\":\"heapprof " HP_VERSION "\",\"name\":", stream);
    hp_json_string(stream, name);
    fprintf(stream, ",\"activeProfileIndex\":%zu,\n", type);
    write_frames(stream, tree);
    fputs("\"profiles\":[", stream);
    for (size_t i = 0; i < tree->n_types; i++) {
        fputs(i == 0 ? "\n" : ",\n", stream);
        write_profile(stream, tree, i);
    }
    fputs("]}\n", stream);
}
