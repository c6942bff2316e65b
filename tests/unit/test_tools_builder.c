#include "test_tools_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int64_t builder_string(struct builder *builder, const char *string) {
    Heapprof__Pprof__Profile *profile = &builder->profile;
    for (size_t i = 0; i < profile->n_string_table; i++)
        if (strcmp(profile->string_table[i], string) == 0)
            return (int64_t)i;
    if (profile->n_string_table == BUILDER_STRINGS)
        abort();
    profile->string_table[profile->n_string_table] = (char *)(uintptr_t)string;
    return (int64_t)profile->n_string_table++;
}

static void add_type(struct builder *builder, const char *type, const char *unit) {
    size_t place = builder->profile.n_sample_type++;
    heapprof__pprof__value_type__init(&builder->types[place]);
    builder->types[place].type = builder_string(builder, type);
    builder->types[place].unit = builder_string(builder, unit);
    builder->type_list[place] = &builder->types[place];
}

static void add_mapping(struct builder *builder, uint64_t start, uint64_t limit, const char *file,
                        const char *build_id) {
    size_t place = builder->profile.n_mapping++;
    Heapprof__Pprof__Mapping *mapping = builder->mapping_list[place] = &builder->mappings[place];
    heapprof__pprof__mapping__init(mapping);
    mapping->id = place + 1;
    mapping->memory_start = start;
    mapping->memory_limit = limit;
    mapping->file_offset = 0x1000;
    mapping->filename = builder_string(builder, file);
    mapping->build_id = builder_string(builder, build_id);
}

static void add_function(struct builder *builder, const char *name, const char *system_name,
                         const char *file) {
    size_t place = builder->profile.n_function++;
    Heapprof__Pprof__Function *function = builder->function_list[place] = &builder->functions[place];
    heapprof__pprof__function__init(function);
    function->id = place + 1;
    function->name = builder_string(builder, name);
    function->system_name = builder_string(builder, system_name);
    function->filename = builder_string(builder, file);
}

/* With `n_lines` lines, starting at lines[first]. */
static void add_location(struct builder *builder, uint64_t mapping, uint64_t address, size_t first,
                         size_t n_lines) {
    size_t place = builder->profile.n_location++;
    Heapprof__Pprof__Location *location = builder->location_list[place] = &builder->locations[place];
    heapprof__pprof__location__init(location);
    location->id = place + 1;
    location->mapping_id = mapping;
    location->address = address;
    location->n_line = n_lines;
    location->line = &builder->line_list[first];
}

static void set_line(struct builder *builder, size_t place, uint64_t function, int64_t line) {
    heapprof__pprof__line__init(&builder->lines[place]);
    builder->lines[place].function_id = function;
    builder->lines[place].line = line;
    builder->line_list[place] = &builder->lines[place];
}

static void add_sample(struct builder *builder, const uint64_t stack[4], size_t depth,
                       const int64_t values[4]) {
    size_t place = builder->profile.n_sample++;
    Heapprof__Pprof__Sample *sample = builder->sample_list[place] = &builder->samples[place];
    heapprof__pprof__sample__init(sample);
    memcpy(builder->stacks[place], stack, sizeof builder->stacks[place]);
    memcpy(builder->values[place], values, sizeof builder->values[place]);
    sample->location_id = builder->stacks[place];
    sample->n_location_id = depth;
    sample->value = builder->values[place];
    sample->n_value = 4;
}

void builder_comment(struct builder *builder, const char *comment) {
    builder->comments[builder->profile.n_comment++] = builder_string(builder, comment);
}

static void point_to_lists(struct builder *builder) {
    Heapprof__Pprof__Profile *profile = &builder->profile;
    profile->sample_type = builder->type_list;
    profile->sample = builder->sample_list;
    profile->mapping = builder->mapping_list;
    profile->location = builder->location_list;
    profile->function = builder->function_list;
    profile->string_table = builder->strings;
    profile->comment = builder->comments;
    profile->period_type = &builder->period_type;
}

static void add_code(struct builder *builder) {
    add_mapping(builder, 0x400000, 0x408000, "/bin/app", "ab12cd34");
    add_mapping(builder, 0x7f0000, 0x7f8000, "/lib/libx.so", "");
    add_function(builder, "grab", "grab", "/src/app.c");
    add_function(builder, "app::add(int)", "_ZN3app3addEi", "/src/app.c");
    add_function(builder, "main", "main", "/src/main.c");
    add_function(builder, "[truncated]", "[truncated]", "");
    set_line(builder, 0, 1, 10);
    set_line(builder, 1, 2, 20);
    set_line(builder, 2, 3, 30);
    set_line(builder, 3, 4, 0);
    add_location(builder, 1, 0x400100, 0, 2);
    add_location(builder, 1, 0x400200, 2, 1);
    add_location(builder, 2, 0x7f0100, 0, 0);
    add_location(builder, 0, 0, 3, 1);
}

void builder_init(struct builder *builder) {
    memset(builder, 0, sizeof *builder);
    Heapprof__Pprof__Profile *profile = &builder->profile;
    heapprof__pprof__profile__init(profile);
    heapprof__pprof__value_type__init(&builder->period_type);
    point_to_lists(builder);
    builder_string(builder, "");
    add_type(builder, "alloc_objects", "count");
    add_type(builder, "alloc_space", "bytes");
    add_type(builder, "inuse_objects", "count");
    add_type(builder, "inuse_space", "bytes");
    add_code(builder);
    add_sample(builder, (const uint64_t[4]){1, 2}, 2, (const int64_t[4]){1, 100, 1, 100});
    add_sample(builder, (const uint64_t[4]){3, 2}, 2, (const int64_t[4]){2, 300, 1, 150});
    add_sample(builder, (const uint64_t[4]){2, 2, 4}, 3, (const int64_t[4]){1, 50, 0, 0});
    profile->default_sample_type = builder_string(builder, "inuse_space");
    builder->period_type.type = builder_string(builder, "space");
    builder->period_type.unit = builder_string(builder, "bytes");
    profile->period = 1024;
    profile->time_nanos = 1700000000000000000;
    builder_comment(builder, "service: edge_service");
    builder_comment(builder, "usage: 127926272");
    builder_comment(builder, "limit: 134217728");
}

size_t builder_pack(const struct builder *builder, uint8_t bytes[BUILDER_BYTES]) {
    if (heapprof__pprof__profile__get_packed_size(&builder->profile) > BUILDER_BYTES)
        abort();
    return heapprof__pprof__profile__pack(&builder->profile, bytes);
}

size_t builder_gzip(const uint8_t *from, size_t size, uint8_t *to, size_t room) {
    z_stream stream = {.next_in = (z_const Bytef *)(uintptr_t)from,
                       .avail_in = (uInt)size,
                       .next_out = to,
                       .avail_out = (uInt)room};
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    deflateEnd(&stream);
    return room - stream.avail_out;
}
