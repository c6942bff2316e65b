/* A call tree in the formats of other tools. Both end early when the stream fails; ferror tells. */
#ifndef HP_TOOLS_FLAME_FORMATS_H
#define HP_TOOLS_FLAME_FORMATS_H

#include <stddef.h>
#include <stdio.h>

#include "tools/flame/flame_tree.h"

/*
 * Folded stacks, as flamegraph.pl, inferno and others read: "outermost;…;innermost VALUE", a line a path;
 * with a side to compare with "… BEFORE NOW", as difffolded.pl writes. A ';' in a name becomes ':', a control
 * character an escape.
 */
void hp_flame_write_folded(FILE *stream, const struct hp_flame_tree *tree, size_t type);

/*
 * speedscope's file format (https://www.speedscope.app/file-format-schema.json): a profile of the kind
 * "sampled" for each sample type, `type` shown first. `name` is the title. The side that was is left out.
 */
void hp_flame_write_speedscope(FILE *stream, const struct hp_flame_tree *tree, size_t type, const char *name);

#endif
