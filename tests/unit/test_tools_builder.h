/*
 * A small sound profile to start from: tests spoil one thing in it, pack it and see what the tool says.
 *
 *   stack                                     alloc_objects  alloc_space  inuse_objects  inuse_space
 *   grab (inlined in) app::add(int), main                 1          100              1          100
 *   libx.so+0x1100, main                                  2          300              1          150
 *   main, main, [truncated]                               1           50              0            0
 */
#ifndef TESTS_UNIT_TEST_TOOLS_BUILDER_H
#define TESTS_UNIT_TEST_TOOLS_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "profile.pb-c.h"

enum { BUILDER_MANY = 16, BUILDER_STRINGS = 64, BUILDER_BYTES = 8192 };

struct builder {
    Heapprof__Pprof__Profile profile;
    Heapprof__Pprof__ValueType types[BUILDER_MANY], period_type, *type_list[BUILDER_MANY];
    Heapprof__Pprof__Sample samples[BUILDER_MANY], *sample_list[BUILDER_MANY];
    Heapprof__Pprof__Mapping mappings[BUILDER_MANY], *mapping_list[BUILDER_MANY];
    Heapprof__Pprof__Location locations[BUILDER_MANY], *location_list[BUILDER_MANY];
    Heapprof__Pprof__Function functions[BUILDER_MANY], *function_list[BUILDER_MANY];
    Heapprof__Pprof__Line lines[BUILDER_MANY], *line_list[BUILDER_MANY];
    uint64_t stacks[BUILDER_MANY][4];
    int64_t values[BUILDER_MANY][4];
    int64_t comments[BUILDER_MANY];
    char *strings[BUILDER_STRINGS];
};

/* The profile above. The builder points into itself: it must stay where it is. */
void builder_init(struct builder *builder);

/* The index of the string, added if new. The string must outlive the builder. */
int64_t builder_string(struct builder *builder, const char *string);

/* A comment more. */
void builder_comment(struct builder *builder, const char *comment);

/* The profile's bytes, uncompressed; returns how many. */
size_t builder_pack(const struct builder *builder, uint8_t bytes[BUILDER_BYTES]);

/* gzips them; returns how many bytes `to` got, of at most `room`. */
size_t builder_gzip(const uint8_t *from, size_t size, uint8_t *to, size_t room);

#endif
