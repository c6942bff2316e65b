#include "tools/profile/profile_writer.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/gzip_writer.h"
#include "tools/base/key_table.h"
#include "tools/base/memory.h"
#include "tools/base/pointer_table.h"
#include "profile.pb-c.h"

typedef Heapprof__Pprof__Profile message_t;

/*
 * Each part is packed as a Profile message that holds it alone: concatenated, the parts are one message, and
 * the whole is never in memory twice. Strings get their numbers as they are first asked for, so they
 * come last.
 */
struct writing {
    const struct hp_profile *profile;
    struct hp_gzip_writer *gzip;
    struct hp_key_table *strings;
    struct hp_pointer_table *functions;
    const char **texts; /* the strings by number, as packing wants them */
    size_t text_capacity;
    uint64_t *location_ids, *mapping_ids; /* by place; 0: nobody asked for it */
    uint64_t *stack;                      /* of one sample, by id */
    size_t stack_capacity;
    uint8_t *packed;
    size_t packed_capacity;
};

static void *at_least(void *array, size_t count, size_t *capacity, size_t size) {
    if (count <= *capacity && array != NULL)
        return array;
    free(array);
    *capacity = count < 64 ? 64 : 2 * count;
    return hp_memory_new(*capacity, size);
}

static int64_t string_number(struct writing *writing, const char *text) {
    size_t known = hp_key_table_count(writing->strings);
    size_t place = hp_key_table_place(writing->strings, (struct hp_key){text, "", 0});
    if (place == known) {
        writing->texts =
            hp_memory_grow(writing->texts, place, &writing->text_capacity, sizeof *writing->texts);
        writing->texts[place] = text;
    }
    return (int64_t)place;
}

static void emit(struct writing *writing, const message_t *part) {
    size_t size = heapprof__pprof__profile__get_packed_size(part);
    writing->packed = at_least(writing->packed, size, &writing->packed_capacity, 1);
    heapprof__pprof__profile__pack(part, writing->packed);
    hp_gzip_writer_put(writing->gzip, writing->packed, size);
}

static Heapprof__Pprof__ValueType value_type(struct writing *writing, const struct hp_value_type *from) {
    Heapprof__Pprof__ValueType type = HEAPPROF__PPROF__VALUE_TYPE__INIT;
    type.type = string_number(writing, from->type);
    type.unit = string_number(writing, from->unit);
    return type;
}

static void emit_sample_type(struct writing *writing, const struct hp_value_type *from) {
    Heapprof__Pprof__ValueType type = value_type(writing, from), *types[1] = {&type};
    message_t part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_sample_type = 1;
    part.sample_type = types;
    emit(writing, &part);
}

static void emit_comment(struct writing *writing, const char *text) {
    int64_t comment = string_number(writing, text);
    message_t part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_comment = 1;
    part.comment = &comment;
    emit(writing, &part);
}

static void emit_header(struct writing *writing) {
    const struct hp_profile *profile = writing->profile;
    string_number(writing, "");
    for (size_t i = 0; i < profile->n_sample_types; i++)
        emit_sample_type(writing, &profile->sample_types[i]);
    Heapprof__Pprof__ValueType period_type = value_type(writing, &profile->period_type);
    message_t part = HEAPPROF__PPROF__PROFILE__INIT;
    if (profile->period_type.type[0] != '\0')
        part.period_type = &period_type;
    part.period = profile->period;
    part.time_nanos = profile->time_nanos;
    part.duration_nanos = profile->duration_nanos;
    part.drop_frames = string_number(writing, profile->drop_frames);
    part.keep_frames = string_number(writing, profile->keep_frames);
    part.default_sample_type = string_number(writing, profile->default_sample_type);
    part.doc_url = string_number(writing, profile->doc_url);
    emit(writing, &part);
    for (size_t i = 0; i < profile->n_comments; i++)
        emit_comment(writing, profile->comments[i]);
}

static void mark_used(struct writing *writing) {
    const struct hp_profile *profile = writing->profile;
    for (size_t i = 0; i < profile->n_samples; i++)
        for (size_t at = 0; at < profile->samples[i].n_locations; at++)
            writing->location_ids[profile->samples[i].locations[at] - profile->locations] = 1;
    for (size_t i = 0; i < profile->n_locations; i++)
        if (writing->location_ids[i] != 0 && profile->locations[i].mapping != NULL)
            writing->mapping_ids[profile->locations[i].mapping - profile->mappings] = 1;
    if (profile->n_mappings > 0)
        writing->mapping_ids[0] = 1;
}

/* Makes 1, 2, 3, … of the marks. */
static void number_marked(uint64_t *ids, size_t count) {
    uint64_t next = 1;
    for (size_t i = 0; i < count; i++)
        if (ids[i] != 0)
            ids[i] = next++;
}

static void emit_labelled(struct writing *writing, const struct hp_sample *from,
                          Heapprof__Pprof__Sample *sample) {
    Heapprof__Pprof__Label *labels = hp_memory_new(from->n_labels, sizeof *labels);
    Heapprof__Pprof__Label **list = hp_memory_new(from->n_labels, sizeof *list);
    for (size_t i = 0; i < from->n_labels; i++) {
        heapprof__pprof__label__init(&labels[i]);
        labels[i].key = string_number(writing, from->labels[i].key);
        labels[i].str = string_number(writing, from->labels[i].text);
        labels[i].num = from->labels[i].number;
        labels[i].num_unit = string_number(writing, from->labels[i].unit);
        list[i] = &labels[i];
    }
    sample->n_label = from->n_labels;
    sample->label = list;
    message_t part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_sample = 1;
    part.sample = &sample;
    emit(writing, &part);
    free(labels);
    free(list);
}

static void emit_sample(struct writing *writing, const struct hp_sample *from) {
    writing->stack =
        at_least(writing->stack, from->n_locations, &writing->stack_capacity, sizeof *writing->stack);
    for (size_t i = 0; i < from->n_locations; i++)
        writing->stack[i] = writing->location_ids[from->locations[i] - writing->profile->locations];
    Heapprof__Pprof__Sample sample = HEAPPROF__PPROF__SAMPLE__INIT;
    sample.n_location_id = from->n_locations;
    sample.location_id = writing->stack;
    sample.n_value = writing->profile->n_sample_types;
    sample.value =
        (int64_t *)(uintptr_t)from->values; /* protobuf-c's type lacks a const that packing honours */
    emit_labelled(writing, from, &sample);
}

static void emit_mapping(struct writing *writing, size_t place) {
    const struct hp_mapping *from = &writing->profile->mappings[place];
    Heapprof__Pprof__Mapping mapping = HEAPPROF__PPROF__MAPPING__INIT, *mappings[1] = {&mapping};
    mapping.id = writing->mapping_ids[place];
    mapping.memory_start = from->start;
    mapping.memory_limit = from->limit;
    mapping.file_offset = from->offset;
    mapping.filename = string_number(writing, from->filename);
    mapping.build_id = string_number(writing, from->build_id);
    mapping.has_functions = from->has_functions;
    mapping.has_filenames = from->has_filenames;
    mapping.has_line_numbers = from->has_line_numbers;
    mapping.has_inline_frames = from->has_inline_frames;
    message_t part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_mapping = 1;
    part.mapping = mappings;
    emit(writing, &part);
}

static void emit_location(struct writing *writing, size_t place) {
    const struct hp_location *from = &writing->profile->locations[place];
    Heapprof__Pprof__Line *lines = hp_memory_new(from->n_lines, sizeof *lines);
    Heapprof__Pprof__Line **list = hp_memory_new(from->n_lines, sizeof *list);
    Heapprof__Pprof__Location location = HEAPPROF__PPROF__LOCATION__INIT, *locations[1] = {&location};
    location.id = writing->location_ids[place];
    if (from->mapping != NULL)
        location.mapping_id = writing->mapping_ids[from->mapping - writing->profile->mappings];
    location.address = from->address;
    location.is_folded = from->is_folded;
    for (size_t i = 0; i < from->n_lines; i++) {
        heapprof__pprof__line__init(&lines[i]);
        lines[i].function_id = hp_pointer_table_place(writing->functions, from->lines[i].function) + 1;
        lines[i].line = from->lines[i].line;
        lines[i].column = from->lines[i].column;
        list[i] = &lines[i];
    }
    location.n_line = from->n_lines;
    location.line = list;
    message_t part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_location = 1;
    part.location = locations;
    emit(writing, &part);
    free(lines);
    free(list);
}

static void emit_functions(struct writing *writing) {
    size_t count = 0;
    const void *const *functions = hp_pointer_table_all(writing->functions, &count);
    for (size_t i = 0; i < count; i++) {
        const struct hp_function *from = functions[i];
        Heapprof__Pprof__Function function = HEAPPROF__PPROF__FUNCTION__INIT, *list[1] = {&function};
        function.id = i + 1;
        function.name = string_number(writing, from->name);
        function.system_name = string_number(writing, from->system_name);
        function.filename = string_number(writing, from->filename);
        function.start_line = from->start_line;
        message_t part = HEAPPROF__PPROF__PROFILE__INIT;
        part.n_function = 1;
        part.function = list;
        emit(writing, &part);
    }
}

static void emit_strings(struct writing *writing) {
    for (size_t i = 0; i < hp_key_table_count(writing->strings); i++) {
        char *text = (char *)(uintptr_t)writing->texts[i];
        message_t part = HEAPPROF__PPROF__PROFILE__INIT;
        part.n_string_table = 1;
        part.string_table = &text;
        emit(writing, &part);
    }
}

static void emit_all(struct writing *writing) {
    const struct hp_profile *profile = writing->profile;
    mark_used(writing);
    number_marked(writing->location_ids, profile->n_locations);
    number_marked(writing->mapping_ids, profile->n_mappings);
    emit_header(writing);
    for (size_t i = 0; i < profile->n_samples; i++)
        emit_sample(writing, &profile->samples[i]);
    for (size_t i = 0; i < profile->n_mappings; i++)
        if (writing->mapping_ids[i] != 0)
            emit_mapping(writing, i);
    for (size_t i = 0; i < profile->n_locations; i++)
        if (writing->location_ids[i] != 0)
            emit_location(writing, i);
    emit_functions(writing);
    emit_strings(writing);
}

bool hp_profile_write_to(const struct hp_profile *profile, struct hp_output *output, struct hp_error *error) {
    struct writing writing = {.profile = profile,
                              .gzip = hp_memory_new(1, sizeof *writing.gzip),
                              .strings = hp_key_table_new(),
                              .functions = hp_pointer_table_new(),
                              .location_ids =
                                  hp_memory_new(profile->n_locations, sizeof *writing.location_ids),
                              .mapping_ids = hp_memory_new(profile->n_mappings, sizeof *writing.mapping_ids)};
    hp_gzip_writer_begin(writing.gzip, output, error);
    emit_all(&writing);
    bool done = hp_gzip_writer_end(writing.gzip);
    free(writing.gzip);
    hp_key_table_free(writing.strings);
    hp_pointer_table_free(writing.functions);
    free(writing.texts);
    free(writing.location_ids);
    free(writing.mapping_ids);
    free(writing.stack);
    free(writing.packed);
    return done;
}

bool hp_profile_save(const struct hp_profile *profile, const char *path, struct hp_error *error) {
    struct hp_output output;
    if (!hp_output_open(&output, path, HP_OUTPUT_BINARY, error))
        return false;
    if (hp_profile_write_to(profile, &output, error))
        return hp_output_commit(&output, error);
    hp_output_abort(&output);
    return false;
}
