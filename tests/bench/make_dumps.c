/*
 * Writes profiles as a service's dumps are: the four sample types, no symbols, a dozen mappings at another
 * random base in each file, stacks that share their outer frames. For tests/bench/compare_pprof.sh. The same
 * arguments make the same files.
 *
 *   make_dumps FOLDER FILES STACKS KNOWN DEPTH    FILES profiles of STACKS stacks each, out of
 *                                               KNOWN different ones
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile.pb-c.h"

enum { MODULES = 12, MODULE_BYTES = 1 << 20, FRAMES = 6000, DEEPEST = 128 };

typedef Heapprof__Pprof__Profile Profile;

struct dump {
    gzFile file;
    uint64_t bases[MODULES], random;
    uint64_t ids[FRAMES + 1], frames[FRAMES + 1], n_frames; /* in the order in which they come; 0: not yet */
};

static uint64_t mix(uint64_t value) {
    value = (value ^ value >> 32) * 0x9e3779b97f4a7c15U;
    value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9U;
    return value ^ value >> 32;
}

static uint64_t draw(struct dump *dump) {
    return dump->random = mix(dump->random + 0x9e3779b97f4a7c15U);
}

static void emit(struct dump *dump, const Profile *part) {
    uint8_t bytes[4096];
    size_t size = heapprof__pprof__profile__get_packed_size(part);
    if (size > sizeof bytes)
        abort();
    heapprof__pprof__profile__pack(part, bytes);
    if (gzwrite(dump->file, bytes, (unsigned)size) != (int)size)
        abort();
}

static void emit_string(struct dump *dump, const char *string) {
    char text[64], *strings[1] = {text};
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    snprintf(text, sizeof text, "%s", string);
    part.n_string_table = 1;
    part.string_table = strings;
    emit(dump, &part);
}

/* Strings 1 to 9; then each module's path and build id. */
static void emit_strings(struct dump *dump, unsigned number) {
    static const char *const words[] = {
        "",      "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space",
        "space", "service: bench"};
    char text[64];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        emit_string(dump, words[i]);
    snprintf(text, sizeof text, "pid: %u", number);
    emit_string(dump, text);
    for (unsigned i = 0; i < MODULES; i++) {
        snprintf(text, sizeof text, "/usr/lib/bench/libmodule%u.so", i);
        emit_string(dump, text);
        snprintf(text, sizeof text, "%032x", i + 1);
        emit_string(dump, text);
    }
}

static void emit_header(struct dump *dump, unsigned number) {
    static const int64_t kinds[4][2] = {{1, 2}, {3, 4}, {5, 2}, {6, 4}};
    Heapprof__Pprof__ValueType types[5], *list[4];
    int64_t comments[2] = {8, 9};
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    for (int i = 0; i < 5; i++)
        heapprof__pprof__value_type__init(&types[i]);
    for (int i = 0; i < 4; i++) {
        types[i].type = kinds[i][0];
        types[i].unit = kinds[i][1];
        list[i] = &types[i];
    }
    types[4].type = 7;
    types[4].unit = 4;
    part.sample_type = list;
    part.n_sample_type = 4;
    part.period_type = &types[4];
    part.period = 524288;
    part.default_sample_type = 6;
    part.time_nanos = INT64_C(1700000000000000000) + (int64_t)number * 1000000000;
    part.comment = comments;
    part.n_comment = 2;
    emit(dump, &part);
}

static void emit_mappings(struct dump *dump) {
    for (unsigned i = 0; i < MODULES; i++) {
        Heapprof__Pprof__Mapping mapping = HEAPPROF__PPROF__MAPPING__INIT, *list[1] = {&mapping};
        Profile part = HEAPPROF__PPROF__PROFILE__INIT;
        mapping.id = i + 1;
        mapping.memory_start = dump->bases[i];
        mapping.memory_limit = dump->bases[i] + MODULE_BYTES;
        mapping.file_offset = 0x1000;
        mapping.filename = 10 + 2 * (int64_t)i;
        mapping.build_id = 11 + 2 * (int64_t)i;
        part.mapping = list;
        part.n_mapping = 1;
        emit(dump, &part);
    }
}

static uint64_t id_of(struct dump *dump, uint64_t frame) {
    if (dump->ids[frame] == 0) {
        dump->ids[frame] = ++dump->n_frames;
        dump->frames[dump->n_frames] = frame;
    }
    return dump->ids[frame];
}

/* Each level calls one of two sites, as the stack's number says: outer frames are few, inner ones many. */
static void list_frames(struct dump *dump, uint64_t stack, size_t depth, uint64_t ids[DEEPEST]) {
    uint64_t path = mix(stack + 1), frame = 1;
    for (size_t level = 0; level < depth; level++) {
        frame = mix(frame * 64 + level * 2 + (path >> level % 64 & 1)) % FRAMES + 1;
        ids[depth - 1 - level] = id_of(dump, frame);
    }
}

static void emit_sample(struct dump *dump, uint64_t stack, size_t depth) {
    uint64_t ids[DEEPEST];
    int64_t size = (int64_t)(mix(stack) % 4096 + 16), live = (int64_t)(draw(dump) % 100 + 1);
    int64_t ever = live + (int64_t)(draw(dump) % 1000);
    int64_t values[4] = {ever, ever * size, live, live * size};
    Heapprof__Pprof__Label label = HEAPPROF__PPROF__LABEL__INIT, *labels[1] = {&label};
    Heapprof__Pprof__Sample sample = HEAPPROF__PPROF__SAMPLE__INIT, *list[1] = {&sample};
    Profile part = HEAPPROF__PPROF__PROFILE__INIT;
    label.key = label.num_unit = 4;
    label.num = size;
    list_frames(dump, stack, depth, ids);
    sample.n_location_id = depth;
    sample.location_id = ids;
    sample.n_value = 4;
    sample.value = values;
    sample.n_label = 1;
    sample.label = labels;
    part.sample = list;
    part.n_sample = 1;
    emit(dump, &part);
}

static void emit_locations(struct dump *dump) {
    for (uint64_t id = 1; id <= dump->n_frames; id++) {
        Heapprof__Pprof__Location location = HEAPPROF__PPROF__LOCATION__INIT, *list[1] = {&location};
        Profile part = HEAPPROF__PPROF__PROFILE__INIT;
        uint64_t frame = dump->frames[id];
        location.id = id;
        location.mapping_id = frame % MODULES + 1;
        location.address = dump->bases[frame % MODULES] + mix(frame) % MODULE_BYTES;
        part.location = list;
        part.n_location = 1;
        emit(dump, &part);
    }
}

static void write_dump(const char *folder, unsigned number, uint64_t stacks, uint64_t known, size_t depth) {
    char path[4096];
    struct dump dump = {.random = number};
    snprintf(path, sizeof path, "%s/%05u.pb.gz", folder, number);
    dump.file = gzopen(path, "wb");
    if (dump.file == NULL)
        abort();
    for (unsigned i = 0; i < MODULES; i++)
        dump.bases[i] = 0x7f0000000000 + (draw(&dump) % 4096 * MODULES + i) * 2 * MODULE_BYTES;
    emit_strings(&dump, number);
    emit_header(&dump, number);
    uint64_t first = draw(&dump) % known;
    for (uint64_t i = 0; i < stacks; i++)
        emit_sample(&dump, (first + i) % known, depth);
    emit_mappings(&dump);
    emit_locations(&dump);
    if (gzclose(dump.file) != Z_OK)
        abort();
}

int main(int argc, char **argv) {
    if (argc != 6 || strtoul(argv[5], NULL, 10) > DEEPEST || strtoul(argv[4], NULL, 10) == 0) {
        fputs("usage: make_dumps FOLDER FILES STACKS KNOWN DEPTH\n", stderr);
        return 2;
    }
    for (unsigned i = 0; i < strtoul(argv[2], NULL, 10); i++)
        write_dump(argv[1], i, strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10),
                   strtoul(argv[5], NULL, 10));
    return 0;
}
