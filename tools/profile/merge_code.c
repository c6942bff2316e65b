#include "tools/profile/merge_code.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/hash_index.h"
#include "tools/base/memory.h"

enum { NO_BINARY = 0 };

struct binary {
    const char *identity; /* build id or file name */
    bool has_build_id;
};

struct merged_mapping {
    struct hp_mapping mapping;
    size_t binary;
    bool has_raw_frames; /* some frame in it has no symbols */
};

struct frame {
    size_t mapping; /* + 1; 0: none */
    size_t binary;  /* + 1; NO_BINARY */
    uint64_t place; /* the offset in the binary's file; the address without one */
    const struct hp_line *lines;
    size_t n_lines;
    bool is_folded;
};

struct hp_merge_code {
    struct hp_pool *pool;
    uint64_t seed;
    struct binary *binaries;
    struct merged_mapping *mappings;
    const struct hp_function **functions;
    struct frame *frames;
    size_t n_binaries, n_mappings, n_functions, n_frames;
    size_t binary_capacity, mapping_capacity, function_capacity, frame_capacity;
    /* By place: the first frame there, of binaries with a build id. By lines: all frames. */
    struct hp_hash_index binary_index, mapping_index, function_index, by_place, by_lines;
    /* Of the profile in hand. */
    const struct hp_profile *profile;
    size_t *mapping_of, *frame_of; /* + 1; 0: not asked for yet */
    struct hp_line *lines;         /* of one location, by functions of ours */
    size_t line_capacity;
};

struct hp_merge_code *hp_merge_code_new(struct hp_pool *pool) {
    struct hp_merge_code *code = hp_memory_new(1, sizeof *code);
    code->pool = pool;
    code->seed = hp_hash_seed();
    hp_hash_index_init(&code->binary_index);
    hp_hash_index_init(&code->mapping_index);
    hp_hash_index_init(&code->function_index);
    hp_hash_index_init(&code->by_place);
    hp_hash_index_init(&code->by_lines);
    return code;
}

void hp_merge_code_free(struct hp_merge_code *code) {
    if (code == NULL)
        return;
    hp_hash_index_fini(&code->binary_index);
    hp_hash_index_fini(&code->mapping_index);
    hp_hash_index_fini(&code->function_index);
    hp_hash_index_fini(&code->by_place);
    hp_hash_index_fini(&code->by_lines);
    free(code->binaries);
    free(code->mappings);
    free(code->functions);
    free(code->frames);
    free(code->mapping_of);
    free(code->frame_of);
    free(code->lines);
    free(code);
}

/* What is looked for: one of ours, not yet in its array. */
struct wanted {
    const struct hp_merge_code *code;
    const void *one;
};

static bool same_binary(const void *key, size_t place) {
    const struct wanted *wanted = key;
    const struct binary *a = wanted->one, *b = &wanted->code->binaries[place];
    return a->has_build_id == b->has_build_id && strcmp(a->identity, b->identity) == 0;
}

static size_t intern_binary(struct hp_merge_code *code, const struct hp_mapping *mapping) {
    struct binary binary = {.has_build_id = mapping->build_id[0] != '\0'};
    binary.identity = binary.has_build_id ? mapping->build_id : mapping->filename;
    uint64_t hash = hp_hash_mix_string(hp_hash_mix(code->seed, binary.has_build_id), binary.identity);
    const struct wanted wanted = {code, &binary};
    size_t place = hp_hash_index_find(&code->binary_index, hash, same_binary, &wanted);
    if (place != HP_HASH_NONE)
        return place;
    binary.identity = hp_pool_strdup(code->pool, binary.identity);
    if (binary.identity == NULL)
        return SIZE_MAX;
    code->binaries =
        hp_memory_grow(code->binaries, code->n_binaries, &code->binary_capacity, sizeof *code->binaries);
    code->binaries[code->n_binaries] = binary;
    hp_hash_index_insert(&code->binary_index, hash, code->n_binaries);
    return code->n_binaries++;
}

static uint64_t size_of(const struct hp_mapping *mapping) {
    return mapping->limit != 0 ? mapping->limit - mapping->start : 0;
}

static bool same_mapping(const void *key, size_t place) {
    const struct wanted *wanted = key;
    const struct merged_mapping *a = wanted->one, *b = &wanted->code->mappings[place];
    return a->binary == b->binary && a->mapping.offset == b->mapping.offset &&
           size_of(&a->mapping) == size_of(&b->mapping);
}

static bool add_mapping(struct hp_merge_code *code, struct merged_mapping *merged) {
    merged->mapping.filename = hp_pool_strdup(code->pool, merged->mapping.filename);
    merged->mapping.build_id = hp_pool_strdup(code->pool, merged->mapping.build_id);
    if (merged->mapping.filename == NULL || merged->mapping.build_id == NULL)
        return false;
    code->mappings =
        hp_memory_grow(code->mappings, code->n_mappings, &code->mapping_capacity, sizeof *code->mappings);
    code->mappings[code->n_mappings++] = *merged;
    return true;
}

/* A mapping of the profile in hand, as one of ours: its place, or SIZE_MAX. */
static size_t intern_mapping(struct hp_merge_code *code, const struct hp_mapping *from) {
    size_t *known = &code->mapping_of[from - code->profile->mappings];
    if (*known != 0)
        return *known - 1;
    struct merged_mapping merged = {.mapping = *from, .binary = intern_binary(code, from)};
    if (merged.binary == SIZE_MAX)
        return SIZE_MAX;
    uint64_t hash =
        hp_hash_mix(hp_hash_mix(hp_hash_mix(code->seed, merged.binary), from->offset), size_of(from));
    const struct wanted wanted = {code, &merged};
    size_t place = hp_hash_index_find(&code->mapping_index, hash, same_mapping, &wanted);
    if (place == HP_HASH_NONE) {
        place = code->n_mappings;
        if (!add_mapping(code, &merged))
            return SIZE_MAX;
        hp_hash_index_insert(&code->mapping_index, hash, place);
    }
    struct hp_mapping *into = &code->mappings[place].mapping;
    into->has_functions |= from->has_functions;
    into->has_filenames |= from->has_filenames;
    into->has_line_numbers |= from->has_line_numbers;
    into->has_inline_frames |= from->has_inline_frames;
    *known = place + 1;
    return place;
}

static bool same_function(const void *key, size_t place) {
    const struct wanted *wanted = key;
    const struct hp_function *a = wanted->one, *b = wanted->code->functions[place];
    return a->start_line == b->start_line && strcmp(a->name, b->name) == 0 &&
           strcmp(a->system_name, b->system_name) == 0 && strcmp(a->filename, b->filename) == 0;
}

static const struct hp_function *copy_function(struct hp_merge_code *code, const struct hp_function *from) {
    struct hp_function *copy = hp_pool_alloc(code->pool, sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = (struct hp_function){.name = hp_pool_strdup(code->pool, from->name),
                                 .filename = hp_pool_strdup(code->pool, from->filename),
                                 .start_line = from->start_line};
    copy->system_name = strcmp(from->system_name, from->name) == 0
                            ? copy->name
                            : hp_pool_strdup(code->pool, from->system_name);
    return copy->name != NULL && copy->system_name != NULL && copy->filename != NULL ? copy : NULL;
}

static const struct hp_function *intern_function(struct hp_merge_code *code, const struct hp_function *from) {
    uint64_t hash = hp_hash_mix_string(hp_hash_mix(code->seed, (uint64_t)from->start_line), from->name);
    hash = hp_hash_mix_string(hp_hash_mix_string(hash, from->system_name), from->filename);
    const struct wanted wanted = {code, from};
    size_t place = hp_hash_index_find(&code->function_index, hash, same_function, &wanted);
    if (place != HP_HASH_NONE)
        return code->functions[place];
    const struct hp_function *copy = copy_function(code, from);
    if (copy == NULL)
        return NULL;
    code->functions =
        hp_memory_grow(code->functions, code->n_functions, &code->function_capacity, sizeof *code->functions);
    code->functions[code->n_functions] = copy;
    hp_hash_index_insert(&code->function_index, hash, code->n_functions++);
    return copy;
}

/* The location's lines by our functions, in code->lines. */
static bool take_lines(struct hp_merge_code *code, const struct hp_location *from) {
    for (size_t i = 0; i < from->n_lines; i++) {
        code->lines = hp_memory_grow(code->lines, i, &code->line_capacity, sizeof *code->lines);
        code->lines[i] = from->lines[i];
        code->lines[i].function = intern_function(code, from->lines[i].function);
        if (code->lines[i].function == NULL)
            return false;
    }
    return true;
}

static bool same_place(const void *key, size_t place) {
    const struct wanted *wanted = key;
    const struct frame *a = wanted->one, *b = &wanted->code->frames[place];
    return a->binary == b->binary && a->place == b->place && a->is_folded == b->is_folded;
}

static bool same_lines(const struct frame *a, const struct frame *b) {
    if (a->n_lines != b->n_lines)
        return false;
    for (size_t i = 0; i < a->n_lines; i++)
        if (a->lines[i].function != b->lines[i].function || a->lines[i].line != b->lines[i].line ||
            a->lines[i].column != b->lines[i].column)
            return false;
    return true;
}

static bool same_frame(const void *key, size_t place) {
    const struct wanted *wanted = key;
    return same_place(key, place) && same_lines(wanted->one, &wanted->code->frames[place]);
}

static uint64_t hash_place(const struct hp_merge_code *code, const struct frame *frame) {
    uint64_t hash = hp_hash_mix(hp_hash_mix(code->seed, frame->binary), frame->place);
    return hp_hash_mix(hash, frame->is_folded);
}

static uint64_t hash_lines(uint64_t hash, const struct frame *frame) {
    for (size_t i = 0; i < frame->n_lines; i++) {
        hash = hp_hash_mix(hash, (uintptr_t)frame->lines[i].function);
        hash = hp_hash_mix(hash, (uint64_t)frame->lines[i].line);
        hash = hp_hash_mix(hash, (uint64_t)frame->lines[i].column);
    }
    return hash;
}

/* Moves the frame's lines from code->lines into the pool. */
static bool keep_lines(struct hp_merge_code *code, struct frame *frame) {
    struct hp_line *lines = hp_pool_calloc(code->pool, frame->n_lines, sizeof *lines);
    if (lines == NULL)
        return false;
    if (frame->n_lines > 0)
        memcpy(lines, frame->lines, frame->n_lines * sizeof *lines);
    frame->lines = lines;
    return true;
}

static size_t add_frame(struct hp_merge_code *code, struct frame frame, uint64_t hash) {
    if (!keep_lines(code, &frame))
        return SIZE_MAX;
    code->frames = hp_memory_grow(code->frames, code->n_frames, &code->frame_capacity, sizeof *code->frames);
    code->frames[code->n_frames] = frame;
    hp_hash_index_insert(&code->by_lines, hash, code->n_frames);
    return code->n_frames++;
}

/* The frame with these very lines. */
static size_t intern_by_lines(struct hp_merge_code *code, const struct frame *frame) {
    const struct wanted wanted = {code, frame};
    uint64_t hash = hash_lines(hash_place(code, frame), frame);
    size_t place = hp_hash_index_find(&code->by_lines, hash, same_frame, &wanted);
    return place != HP_HASH_NONE ? place : add_frame(code, *frame, hash);
}

/* The frame at this place of a binary whose build id proves that the code is the same. */
static size_t intern_by_place(struct hp_merge_code *code, const struct frame *frame) {
    const struct wanted wanted = {code, frame};
    uint64_t hash = hash_place(code, frame);
    size_t place = hp_hash_index_find(&code->by_place, hash, same_place, &wanted);
    if (place == HP_HASH_NONE) {
        place = intern_by_lines(code, frame);
        if (place != SIZE_MAX)
            hp_hash_index_insert(&code->by_place, hash, place);
        return place;
    }
    struct frame *first = &code->frames[place];
    if (frame->n_lines == 0 || same_lines(first, frame))
        return place;
    if (first->n_lines > 0)
        return intern_by_lines(code, frame);
    struct frame named = *frame;
    if (!keep_lines(code, &named))
        return SIZE_MAX;
    first->lines = named.lines;
    first->n_lines = named.n_lines;
    return place;
}

static size_t intern_frame(struct hp_merge_code *code, const struct hp_location *location) {
    struct frame frame = {
        .place = location->address, .n_lines = location->n_lines, .is_folded = location->is_folded};
    if (!take_lines(code, location))
        return SIZE_MAX;
    frame.lines = code->lines;
    if (location->mapping == NULL)
        return intern_by_lines(code, &frame);
    size_t mapping = intern_mapping(code, location->mapping);
    if (mapping == SIZE_MAX)
        return SIZE_MAX;
    frame.mapping = mapping + 1;
    frame.binary = code->mappings[mapping].binary + 1;
    frame.place = location->address - location->mapping->start + location->mapping->offset;
    return code->binaries[frame.binary - 1].has_build_id ? intern_by_place(code, &frame)
                                                         : intern_by_lines(code, &frame);
}

bool hp_merge_code_begin(struct hp_merge_code *code, const struct hp_profile *profile) {
    code->profile = profile;
    free(code->mapping_of);
    free(code->frame_of);
    code->mapping_of = hp_memory_new(profile->n_mappings, sizeof *code->mapping_of);
    code->frame_of = hp_memory_new(profile->n_locations, sizeof *code->frame_of);
    return code->n_mappings > 0 || profile->n_mappings == 0 ||
           intern_mapping(code, &profile->mappings[0]) != SIZE_MAX;
}

size_t hp_merge_code_location(struct hp_merge_code *code, const struct hp_location *location) {
    size_t *known = &code->frame_of[location - code->profile->locations];
    if (*known == 0) {
        size_t place = intern_frame(code, location);
        if (place == SIZE_MAX)
            return SIZE_MAX;
        *known = place + 1;
    }
    return *known - 1;
}

static void finish_locations(const struct hp_merge_code *code, struct hp_profile *profile) {
    for (size_t i = 0; i < code->n_frames; i++) {
        const struct frame *frame = &code->frames[i];
        struct hp_location *location = &profile->locations[i];
        *location = (struct hp_location){.address = frame->place,
                                         .lines = frame->lines,
                                         .n_lines = frame->n_lines,
                                         .is_folded = frame->is_folded};
        if (frame->mapping == 0)
            continue;
        struct merged_mapping *merged = &code->mappings[frame->mapping - 1];
        location->mapping = &profile->mappings[frame->mapping - 1];
        location->address = frame->place - merged->mapping.offset + merged->mapping.start;
        merged->has_raw_frames |= frame->n_lines == 0;
    }
}

bool hp_merge_code_finish(struct hp_merge_code *code, struct hp_profile *profile) {
    profile->mappings = hp_pool_calloc(code->pool, code->n_mappings, sizeof *profile->mappings);
    profile->locations = hp_pool_calloc(code->pool, code->n_frames, sizeof *profile->locations);
    if (profile->mappings == NULL || profile->locations == NULL)
        return false;
    profile->n_mappings = code->n_mappings;
    profile->n_locations = code->n_frames;
    finish_locations(code, profile);
    for (size_t i = 0; i < code->n_mappings; i++) {
        struct hp_mapping *mapping = &profile->mappings[i];
        *mapping = code->mappings[i].mapping;
        /* The marks say that nothing is left to be symbolized. */
        if (code->mappings[i].has_raw_frames)
            mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers =
                mapping->has_inline_frames = false;
    }
    return true;
}
