#include "tools/profile/profile_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/id_map.h"
#include "tools/base/pool.h"
#include "profile.pb-c.h"
#include "tools/profile/profile_wire.h"

typedef Heapprof__Pprof__Profile message_t;

/*
 * protobuf-c allocates some 100 bytes for a sample that took two in the file, so what it may have is
 * bounded too. It never frees on the way: the pool goes as a whole.
 */
static const size_t pool_limit = (size_t)512 * 1024 * 1024;

enum { MAX_SAMPLE_TYPES = 64 };

struct reading {
    const message_t *message;
    struct hp_profile *profile;
    struct hp_pool *pool;
    struct hp_error *error;
    struct hp_id_map mappings, locations, functions;
    bool pool_is_full;
};

static bool is_too_large(struct reading *reading) {
    return hp_error_set(reading->error, "is too large to be held in memory");
}

/* protobuf-c's allocator interface over the pool. */
static void *allocate(void *context, size_t size) {
    struct reading *reading = context;
    void *memory = hp_pool_alloc(reading->pool, size);
    if (memory == NULL)
        reading->pool_is_full = true;
    return memory;
}

static void forget(void *context, void *memory) {
    (void)context;
    (void)memory;
}

static bool unpack(struct reading *reading, const uint8_t *data, size_t size) {
    ProtobufCAllocator allocator = {.alloc = allocate, .free = forget, .allocator_data = reading};
    if (!hp_wire_check(data, size, reading->error))
        return false;
    reading->message = heapprof__pprof__profile__unpack(&allocator, size, data);
    if (reading->message != NULL)
        return true;
    return reading->pool_is_full
               ? is_too_large(reading)
               : hp_error_set(reading->error,
                              "is not a pprof profile, or a damaged one (a message in it is invalid)");
}

/* An array for the profile; false, with the error set, when the pool is full. */
static bool take_array(struct reading *reading, void *array, size_t count, size_t size) {
    void *memory = hp_pool_calloc(reading->pool, count, size);
    if (memory == NULL)
        return is_too_large(reading);
    memcpy(array, &memory, sizeof memory);
    return true;
}

static bool take_string(struct reading *reading, int64_t index, const char *what, const char **string) {
    const message_t *message = reading->message;
    if (index < 0 || (uint64_t)index >= message->n_string_table)
        return hp_error_set(reading->error, "has %s with string %" PRId64 " of %zu", what, index,
                            message->n_string_table);
    *string = message->string_table[index];
    return true;
}

static bool read_value_type(struct reading *reading, const Heapprof__Pprof__ValueType *from, const char *what,
                            struct hp_value_type *to) {
    return take_string(reading, from->type, what, &to->type) &&
           take_string(reading, from->unit, what, &to->unit);
}

static bool read_sample_types(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    const message_t *message = reading->message;
    if (message->n_sample_type == 0)
        return hp_error_set(reading->error, "has no sample types");
    if (message->n_sample_type > MAX_SAMPLE_TYPES)
        return hp_error_set(reading->error, "has %zu sample types: not read", message->n_sample_type);
    if (!take_array(reading, &profile->sample_types, message->n_sample_type, sizeof *profile->sample_types))
        return false;
    for (size_t i = 0; i < message->n_sample_type; i++) {
        struct hp_value_type *type = &profile->sample_types[i];
        if (!read_value_type(reading, message->sample_type[i], "a sample type", type))
            return false;
        if (type->type[0] == '\0')
            return hp_error_set(reading->error, "has a sample type without a name");
        if (hp_profile_find_type(profile, type->type) >= 0)
            return hp_error_set(reading->error, "has the sample type %s twice", type->type);
        profile->n_sample_types = i + 1;
    }
    return true;
}

static bool read_header(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    const message_t *message = reading->message;
    profile->time_nanos = message->time_nanos;
    profile->duration_nanos = message->duration_nanos;
    profile->period = message->period;
    profile->period_type = (struct hp_value_type){"", ""};
    if (message->period_type != NULL &&
        !read_value_type(reading, message->period_type, "the period type", &profile->period_type))
        return false;
    if (!take_array(reading, &profile->comments, message->n_comment, sizeof *profile->comments))
        return false;
    profile->n_comments = message->n_comment;
    for (size_t i = 0; i < message->n_comment; i++)
        if (!take_string(reading, message->comment[i], "a comment", &profile->comments[i]))
            return false;
    if (!take_string(reading, message->default_sample_type, "a default sample type",
                     &profile->default_sample_type))
        return false;
    if (profile->default_sample_type[0] != '\0' &&
        hp_profile_find_type(profile, profile->default_sample_type) < 0)
        return hp_error_set(reading->error, "has the default sample type %s, which it does not have",
                            profile->default_sample_type);
    return take_string(reading, message->drop_frames, "drop_frames", &profile->drop_frames) &&
           take_string(reading, message->keep_frames, "keep_frames", &profile->keep_frames) &&
           take_string(reading, message->doc_url, "a documentation URL", &profile->doc_url);
}

/* Notes the id of the object at `place`; 0 is no id. */
static bool note_id(struct reading *reading, const char *what, struct hp_id *ids, size_t place, uint64_t id) {
    ids[place] = (struct hp_id){id, place};
    return id != 0 || hp_error_set(reading->error, "has a %s with the reserved id 0", what);
}

static bool seal_ids(struct reading *reading, const char *what, struct hp_id_map *map, struct hp_id *ids,
                     size_t count) {
    uint64_t twice = 0;
    if (!hp_id_map_seal(map, ids, count, &twice))
        return hp_error_set(reading->error, "has several %ss with the id %" PRIu64, what, twice);
    reading->profile->ids_sequential &= map->sequential;
    return true;
}

static bool read_mapping(struct reading *reading, const Heapprof__Pprof__Mapping *from,
                         struct hp_mapping *to) {
    *to = (struct hp_mapping){.start = from->memory_start,
                              .limit = from->memory_limit,
                              .offset = from->file_offset,
                              .has_functions = from->has_functions,
                              .has_filenames = from->has_filenames,
                              .has_line_numbers = from->has_line_numbers,
                              .has_inline_frames = from->has_inline_frames};
    if (to->limit != 0 && to->limit < to->start)
        return hp_error_set(reading->error, "has mapping %" PRIu64 " ending before its start", from->id);
    return take_string(reading, from->filename, "a mapping", &to->filename) &&
           take_string(reading, from->build_id, "a mapping", &to->build_id);
}

static bool read_mappings(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    const message_t *message = reading->message;
    struct hp_id *ids = NULL;
    profile->n_mappings = message->n_mapping;
    if (!take_array(reading, &profile->mappings, message->n_mapping, sizeof *profile->mappings) ||
        !take_array(reading, &ids, message->n_mapping, sizeof *ids))
        return false;
    for (size_t i = 0; i < message->n_mapping; i++)
        if (!note_id(reading, "mapping", ids, i, message->mapping[i]->id) ||
            !read_mapping(reading, message->mapping[i], &profile->mappings[i]))
            return false;
    return seal_ids(reading, "mapping", &reading->mappings, ids, message->n_mapping);
}

static bool read_function(struct reading *reading, const Heapprof__Pprof__Function *from,
                          struct hp_function *to) {
    to->start_line = from->start_line;
    return take_string(reading, from->name, "a function", &to->name) &&
           take_string(reading, from->system_name, "a function", &to->system_name) &&
           take_string(reading, from->filename, "a function", &to->filename);
}

static bool read_functions(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    const message_t *message = reading->message;
    struct hp_id *ids = NULL;
    profile->n_functions = message->n_function;
    if (!take_array(reading, &profile->functions, message->n_function, sizeof *profile->functions) ||
        !take_array(reading, &ids, message->n_function, sizeof *ids))
        return false;
    for (size_t i = 0; i < message->n_function; i++)
        if (!note_id(reading, "function", ids, i, message->function[i]->id) ||
            !read_function(reading, message->function[i], &profile->functions[i]))
            return false;
    return seal_ids(reading, "function", &reading->functions, ids, message->n_function);
}

static bool read_lines(struct reading *reading, const Heapprof__Pprof__Location *from,
                       struct hp_location *to) {
    struct hp_line *lines = NULL;
    if (!take_array(reading, &lines, from->n_line, sizeof *lines))
        return false;
    for (size_t i = 0; i < from->n_line; i++) {
        size_t place = 0;
        uint64_t id = from->line[i]->function_id;
        if (!hp_id_map_find(&reading->functions, id, &place))
            return hp_error_set(reading->error,
                                "has location %" PRIu64 " in function %" PRIu64 ", which it does not have",
                                from->id, id);
        lines[i] =
            (struct hp_line){&reading->profile->functions[place], from->line[i]->line, from->line[i]->column};
    }
    to->lines = lines;
    to->n_lines = from->n_line;
    return true;
}

static bool read_location(struct reading *reading, const Heapprof__Pprof__Location *from,
                          struct hp_location *to) {
    to->address = from->address;
    to->is_folded = from->is_folded;
    if (from->mapping_id != 0) {
        size_t place = 0;
        if (!hp_id_map_find(&reading->mappings, from->mapping_id, &place))
            return hp_error_set(reading->error,
                                "has location %" PRIu64 " in mapping %" PRIu64 ", which it does not have",
                                from->id, from->mapping_id);
        const struct hp_mapping *mapping = &reading->profile->mappings[place];
        if (mapping->limit != 0 && (to->address < mapping->start || to->address >= mapping->limit))
            return hp_error_set(reading->error,
                                "has location %" PRIu64 " at 0x%" PRIx64 ", outside its mapping %" PRIu64,
                                from->id, to->address, from->mapping_id);
        to->mapping = mapping;
    }
    return read_lines(reading, from, to);
}

static bool read_locations(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    const message_t *message = reading->message;
    struct hp_id *ids = NULL;
    profile->n_locations = message->n_location;
    if (!take_array(reading, &profile->locations, message->n_location, sizeof *profile->locations) ||
        !take_array(reading, &ids, message->n_location, sizeof *ids))
        return false;
    for (size_t i = 0; i < message->n_location; i++)
        if (!note_id(reading, "location", ids, i, message->location[i]->id) ||
            !read_location(reading, message->location[i], &profile->locations[i]))
            return false;
    return seal_ids(reading, "location", &reading->locations, ids, message->n_location);
}

static bool read_labels(struct reading *reading, const Heapprof__Pprof__Sample *from, struct hp_sample *to) {
    struct hp_label *labels = NULL;
    if (!take_array(reading, &labels, from->n_label, sizeof *labels))
        return false;
    for (size_t i = 0; i < from->n_label; i++) {
        const Heapprof__Pprof__Label *label = from->label[i];
        labels[i].number = label->num;
        if (!take_string(reading, label->key, "a label", &labels[i].key) ||
            !take_string(reading, label->str, "a label", &labels[i].text) ||
            !take_string(reading, label->num_unit, "a label", &labels[i].unit))
            return false;
    }
    to->labels = labels;
    to->n_labels = from->n_label;
    return true;
}

static bool read_sample(struct reading *reading, size_t number, const Heapprof__Pprof__Sample *from,
                        struct hp_sample *to) {
    if (from->n_value != reading->profile->n_sample_types)
        return hp_error_set(reading->error, "has sample %zu with %zu values for %zu sample types", number + 1,
                            from->n_value, reading->profile->n_sample_types);
    if (!take_array(reading, &to->locations, from->n_location_id, sizeof *to->locations))
        return false;
    for (size_t i = 0; i < from->n_location_id; i++) {
        size_t place = 0;
        if (!hp_id_map_find(&reading->locations, from->location_id[i], &place))
            return hp_error_set(reading->error,
                                "has sample %zu at location %" PRIu64 ", which it does not have", number + 1,
                                from->location_id[i]);
        to->locations[i] = &reading->profile->locations[place];
    }
    to->n_locations = from->n_location_id;
    to->values = from->value; /* stays in the pool with the message */
    return read_labels(reading, from, to);
}

static bool read_samples(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    const message_t *message = reading->message;
    profile->n_samples = message->n_sample;
    if (!take_array(reading, &profile->samples, message->n_sample, sizeof *profile->samples))
        return false;
    for (size_t i = 0; i < message->n_sample; i++)
        if (!read_sample(reading, i, message->sample[i], &profile->samples[i]))
            return false;
    return true;
}

static bool read_all(struct reading *reading, const uint8_t *data, size_t size) {
    if (!unpack(reading, data, size) || !take_array(reading, &reading->profile, 1, sizeof *reading->profile))
        return false;
    reading->profile->pool = reading->pool;
    reading->profile->ids_sequential = true;
    return read_sample_types(reading) && read_header(reading) && read_mappings(reading) &&
           read_functions(reading) && read_locations(reading) && read_samples(reading);
}

/* Frees the bytes. */
static struct hp_profile *profile_of(struct hp_bytes *bytes, struct hp_error *error) {
    struct reading reading = {.pool = hp_pool_new(pool_limit), .error = error};
    bool done = reading.pool != NULL ? read_all(&reading, bytes->data, bytes->size) : is_too_large(&reading);
    free(bytes->data);
    if (!done)
        hp_pool_free(reading.pool);
    return done ? reading.profile : NULL;
}

struct hp_profile *hp_profile_read(const char *path, struct hp_error *error) {
    struct hp_bytes bytes = {0};
    if (!hp_input_read(path, &hp_input_limits_default, &bytes, error))
        return NULL;
    return profile_of(&bytes, error);
}

struct hp_profile *hp_profile_parse(const uint8_t *data, size_t size, const struct hp_input_limits *limits,
                                    struct hp_error *error) {
    struct hp_bytes bytes = {0};
    if (!hp_input_unpack(data, size, limits, &bytes, error))
        return NULL;
    return profile_of(&bytes, error);
}
