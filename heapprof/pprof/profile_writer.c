#include "heapprof/pprof/profile_writer.h"

#include <string.h>

#include "heapprof/base/weight.h"
#include "profile.pb-c.h"

typedef Heapprof__Pprof__Profile Profile;
typedef Heapprof__Pprof__ValueType ValueType;
typedef Heapprof__Pprof__Sample Sample;
typedef Heapprof__Pprof__Label Label;
typedef Heapprof__Pprof__Mapping Mapping;
typedef Heapprof__Pprof__Location Location;
typedef Heapprof__Pprof__Line Line;
typedef Heapprof__Pprof__Function Function;

/*
 * The string table is: these, in this order; then for each module its path and its build id; then the
 * comments. inuse_space comes after the three others: an old speedscope takes a string's index for a column.
 */
enum string {
    S_EMPTY,
    S_ALLOC_OBJECTS,
    S_COUNT,
    S_ALLOC_SPACE,
    S_BYTES,
    S_INUSE_OBJECTS,
    S_INUSE_SPACE,
    S_SPACE,
    S_DROP_FRAMES,
    S_TRUNCATED,
    S_LOST,
    S_FIXED
};

static const char *const fixed_strings[S_FIXED] = {
    [S_EMPTY] = "",
    [S_ALLOC_OBJECTS] = "alloc_objects",
    [S_COUNT] = "count",
    [S_ALLOC_SPACE] = "alloc_space",
    [S_BYTES] = "bytes",
    [S_INUSE_OBJECTS] = "inuse_objects",
    [S_INUSE_SPACE] = "inuse_space",
    [S_SPACE] = "space",
    /* The allocator's entries are cut off when a stack is taken; this is for those of a C++ runtime that
     * was linked statically and calls ours. */
    [S_DROP_FRAMES] = ("malloc|calloc|realloc|reallocarray|memalign|posix_memalign|aligned_alloc|valloc|pvalloc|"
                       "operator new(\\[\\])?|je_.*"),
    [S_TRUNCATED] = "[truncated]",
    [S_LOST] = "[stack lost]",
};

/* Locations behind the snapshot's frames, for what has no address; functions of the same numbers. */
enum synthetic { SYNTHETIC_TRUNCATED = 1, SYNTHETIC_LOST = 2, SYNTHETIC_COUNT = 2 };

struct writer {
    struct hp_gzip *stream;
    struct hp_snapshot *snapshot;
    const struct hp_profile_facts *facts;
    uint64_t locations[HP_STACK_DEPTH_MAX + 1];
};

static void emit(struct writer *w, const Profile *part) {
    size_t bytes = heapprof__pprof__profile__get_packed_size(part);
    if (bytes <= HP_GZIP_STAGING) {
        (void)heapprof__pprof__profile__pack(part, hp_gzip_room(w->stream, bytes));
    }
}

static void emit_string(struct writer *w, const char *text) {
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    union {
        const char *in;
        char *out;
    } string = {.in = text}; /* protobuf-c's type lacks a const that packing honours */
    part.n_string_table = 1;
    part.string_table = &string.out;
    emit(w, &part);
}

static int64_t path_string(uint32_t module) {
    return S_FIXED + 2 * (int64_t)(module - 1);
}

static int64_t build_id_string(uint32_t module) {
    return path_string(module) + 1;
}

static int64_t comment_string(const struct writer *w, uint32_t comment) {
    return S_FIXED + 2 * (int64_t)w->snapshot->modules + comment;
}

static void emit_build_id(struct writer *w, const struct hp_module *module) {
    char hex[2 * HP_BUILD_ID_MAX + 1];
    for (uint32_t i = 0; i < module->build_id_len; i++) {
        hex[2 * i] = "0123456789abcdef"[module->build_id[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[module->build_id[i] & 15];
    }
    hex[2 * module->build_id_len] = '\0';
    emit_string(w, hex);
}

static void emit_strings(struct writer *w) {
    for (int i = 0; i < S_FIXED; i++) {
        emit_string(w, fixed_strings[i]);
    }
    for (uint32_t id = 1; id <= w->snapshot->modules; id++) {
        emit_string(w, hp_module_table_get(id)->path);
        emit_build_id(w, hp_module_table_get(id));
    }
    for (uint32_t i = 0; i < w->facts->comment_count; i++) {
        emit_string(w, w->facts->comments[i]);
    }
}

static void emit_header(struct writer *w) {
    ValueType types[4] = {HEAPPROF__PPROF__VALUE_TYPE__INIT, HEAPPROF__PPROF__VALUE_TYPE__INIT,
                          HEAPPROF__PPROF__VALUE_TYPE__INIT, HEAPPROF__PPROF__VALUE_TYPE__INIT};
    static const int64_t kinds[4][2] = {
        {S_ALLOC_OBJECTS, S_COUNT}, {S_ALLOC_SPACE, S_BYTES}, {S_INUSE_OBJECTS, S_COUNT}, {S_INUSE_SPACE, S_BYTES}};
    ValueType *type_pointers[4];
    for (int i = 0; i < 4; i++) {
        types[i].type = kinds[i][0];
        types[i].unit = kinds[i][1];
        type_pointers[i] = &types[i];
    }
    ValueType period_type = HEAPPROF__PPROF__VALUE_TYPE__INIT;
    period_type.type = S_SPACE;
    period_type.unit = S_BYTES;
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_sample_type = 4;
    part.sample_type = type_pointers;
    part.drop_frames = S_DROP_FRAMES;
    part.time_nanos = w->facts->time_ns;
    part.period_type = &period_type;
    part.period = (int64_t)w->facts->period;
    part.default_sample_type = S_INUSE_SPACE;
    emit(w, &part);
}

static void emit_comments(struct writer *w) {
    for (uint32_t i = 0; i < w->facts->comment_count; i++) {
        int64_t string = comment_string(w, i);
        Profile part = HEAPPROF__PPROF__PROFILE__INIT;
        part.n_comment = 1;
        part.comment = &string;
        emit(w, &part);
    }
}

static int64_t objects_of(uint64_t weight) {
    return (int64_t)hp_weight_objects(weight);
}

static size_t list_locations(struct writer *w, const struct hp_stack_view *stack) {
    size_t n = 0;
    for (; n < stack->depth; n++) {
        w->locations[n] = stack->frames[n];
    }
    if (stack->truncated || stack->lost) {
        w->locations[n++] = w->snapshot->frames + (stack->lost ? SYNTHETIC_LOST : SYNTHETIC_TRUNCATED);
    }
    return n;
}

static void emit_sample(struct writer *w, const struct hp_stack_view *stack) {
    int64_t values[4] = {objects_of(stack->counts.alloc_objects), (int64_t)stack->counts.alloc_bytes,
                         objects_of(stack->counts.inuse_objects), (int64_t)stack->counts.inuse_bytes};
    if (values[0] == 0) {
        return; /* a stack whose first object is being recorded right now, or the lost one, unused */
    }
    Label size = HEAPPROF__PPROF__LABEL__INIT;
    Label *labels[1] = {&size};
    size.key = S_BYTES;
    size.num = (values[1] + values[0] / 2) / values[0];
    size.num_unit = S_BYTES;
    Sample sample = HEAPPROF__PPROF__SAMPLE__INIT;
    Sample *samples[1] = {&sample};
    sample.n_location_id = list_locations(w, stack);
    sample.location_id = w->locations;
    sample.n_value = 4;
    sample.value = values;
    sample.n_label = 1;
    sample.label = labels;
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_sample = 1;
    part.sample = samples;
    emit(w, &part);
}

static void emit_location(struct writer *w, Location *location) {
    Location *locations[1] = {location};
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_location = 1;
    part.location = locations;
    emit(w, &part);
}

static void emit_frames(struct writer *w) {
    for (uint32_t number = 1; number <= w->snapshot->frames; number++) {
        const struct hp_frame *frame = hp_frame_table_get(number);
        Location location = HEAPPROF__PPROF__LOCATION__INIT;
        location.id = number;
        location.mapping_id = frame->module;
        location.address = frame->pc;
        emit_location(w, &location);
    }
}

static void emit_synthetic(struct writer *w, uint32_t which, int64_t name) {
    Function function = HEAPPROF__PPROF__FUNCTION__INIT;
    Function *functions[1] = {&function};
    function.id = which;
    function.name = name;
    function.system_name = name;
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    part.n_function = 1;
    part.function = functions;
    emit(w, &part);

    Line line = HEAPPROF__PPROF__LINE__INIT;
    Line *lines[1] = {&line};
    line.function_id = which;
    Location location = HEAPPROF__PPROF__LOCATION__INIT;
    location.id = w->snapshot->frames + which;
    location.n_line = 1;
    location.line = lines;
    emit_location(w, &location);
}

static void emit_mappings(struct writer *w) {
    for (uint32_t id = 1; id <= w->snapshot->modules; id++) {
        const struct hp_module *module = hp_module_table_get(id);
        Mapping mapping = HEAPPROF__PPROF__MAPPING__INIT;
        Mapping *mappings[1] = {&mapping};
        mapping.id = id;
        mapping.memory_start = module->start;
        mapping.memory_limit = module->end;
        mapping.file_offset = module->offset;
        mapping.filename = path_string(id);
        mapping.build_id = module->build_id_len == 0 ? S_EMPTY : build_id_string(id);
        Profile part = HEAPPROF__PPROF__PROFILE__INIT;
        part.n_mapping = 1;
        part.mapping = mappings;
        emit(w, &part);
    }
}

void hp_profile_write(struct hp_gzip *stream, struct hp_snapshot *snapshot, const struct hp_profile_facts *facts) {
    struct writer w = {.stream = stream, .snapshot = snapshot, .facts = facts};
    emit_strings(&w);
    emit_header(&w);
    emit_comments(&w);
    struct hp_stack_view stack;
    while (hp_snapshot_next_stack(snapshot, &stack)) {
        emit_sample(&w, &stack);
    }
    emit_mappings(&w);
    emit_frames(&w);
    emit_synthetic(&w, SYNTHETIC_TRUNCATED, S_TRUNCATED);
    emit_synthetic(&w, SYNTHETIC_LOST, S_LOST);
}
