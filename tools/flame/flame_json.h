/* A call tree as the JSON that the page of `heapprof flame` reads (tools/flame/profile.js). */
#ifndef HP_TOOLS_FLAME_JSON_H
#define HP_TOOLS_FLAME_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "tools/flame/flame_tree.h"
#include "tools/profile/profile.h"

/* What the page says about the profile beside its tree. */
struct hp_flame_facts {
    const char *const *files; /* as the user named them */
    size_t n_files;
    const char *base;            /* NULL: none */
    const char *const *comments; /* the first file's, "key: value" */
    size_t n_comments;
    int64_t time_nanos, duration_nanos, period; /* 0: unknown */
    const char *period_unit;
    size_t type; /* the sample type to show first */
};

/* The most nodes, and other functions, that a page gets: what a browser shows at once, and without delay. */
enum { HP_FLAME_MOST_SHOWN = 50000 };

/*
 * One JSON object:
 *   program    "heapprof 0.1.0"
 *   types      [[type, unit], …]; shown: which of them first
 *   files, base, comments, time, duration, period, periodUnit, stacks, cut (stacks)
 *   strings    source files and binaries, which the functions name by number
 *   functions  name, file, binary, line: an array each; self, total, and with a base selfBefore, totalBefore:
 *              an array of values for each type
 *   nodes      parent, function, line: an array each; self, selfBefore: an array for each type. The function
 * of the root is -1, that of a remainder which stands for N left out nodes -1 - N. nodesLeftOut,
 * functionsLeftOut Safe inside a <script> element. Of a tree without any profile: nothing may be written.
 */
void hp_flame_json_write(FILE *stream, const struct hp_flame_tree *tree, const struct hp_flame_facts *facts,
                         size_t most_shown);

#endif
