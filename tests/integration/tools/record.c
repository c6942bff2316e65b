#include "record.h"

#include <elfutils/libdwelf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "profile.pb-c.h"

enum { MOST_SAMPLES = 64, DEEPEST = 32, MOST_STRINGS = 512, MOST_MAPPINGS = 64 };

static struct {
    void *frames[DEEPEST];
    int depth;
    long bytes;
} samples[MOST_SAMPLES];
static int n_samples;

static char *strings[MOST_STRINGS];
static Heapprof__Pprof__Mapping mappings[MOST_MAPPINGS], *mapping_list[MOST_MAPPINGS];
static Heapprof__Pprof__Location locations[MOST_SAMPLES * DEEPEST], *location_list[MOST_SAMPLES * DEEPEST];
static Heapprof__Pprof__Sample packed[MOST_SAMPLES], *sample_list[MOST_SAMPLES];
static uint64_t stacks[MOST_SAMPLES][DEEPEST];
static int64_t values[MOST_SAMPLES][2];
static Heapprof__Pprof__Profile profile = HEAPPROF__PPROF__PROFILE__INIT;

void record_sample(long bytes) {
    if (n_samples == MOST_SAMPLES)
        abort();
    samples[n_samples].depth = backtrace(samples[n_samples].frames, DEEPEST);
    samples[n_samples++].bytes = bytes;
}

static int64_t string(const char *text) {
    for (size_t i = 0; i < profile.n_string_table; i++)
        if (strcmp(strings[i], text) == 0)
            return (int64_t)i;
    if (profile.n_string_table == MOST_STRINGS || (strings[profile.n_string_table] = strdup(text)) == NULL)
        abort();
    return (int64_t)profile.n_string_table++;
}

static int64_t build_id_of(const char *path) {
    char hex[129] = "";
    int fd = open(path, O_RDONLY);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    const void *bits = NULL;
    ssize_t length = elf != NULL ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
    for (ssize_t i = 0; i < length && i < 64; i++)
        sprintf(hex + 2 * i, "%02x", ((const unsigned char *)bits)[i]);
    elf_end(elf);
    close(fd);
    return string(hex);
}

static void read_mappings(void) {
    char line[4096], rights[8], path[4000];
    unsigned long start, limit, offset;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (maps == NULL)
        abort();
    elf_version(EV_CURRENT);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %3999s", &start, &limit, rights, &offset, path) != 5 ||
            rights[2] != 'x' || profile.n_mapping == MOST_MAPPINGS)
            continue;
        Heapprof__Pprof__Mapping *mapping = &mappings[profile.n_mapping];
        heapprof__pprof__mapping__init(mapping);
        mapping_list[profile.n_mapping++] = mapping;
        mapping->id = profile.n_mapping;
        mapping->memory_start = start;
        mapping->memory_limit = limit;
        mapping->file_offset = offset;
        mapping->filename = string(path);
        mapping->build_id = build_id_of(path);
    }
    fclose(maps);
}

static uint64_t location_at(uint64_t address) {
    for (size_t i = 0; i < profile.n_location; i++)
        if (locations[i].address == address)
            return i + 1;
    Heapprof__Pprof__Location *location = &locations[profile.n_location];
    heapprof__pprof__location__init(location);
    location_list[profile.n_location++] = location;
    location->id = profile.n_location;
    location->address = address;
    for (size_t i = 0; i < profile.n_mapping; i++)
        if (address >= mappings[i].memory_start && address < mappings[i].memory_limit)
            location->mapping_id = i + 1;
    return location->id;
}

static void add_sample(int number) {
    Heapprof__Pprof__Sample *sample = sample_list[number] = &packed[number];
    heapprof__pprof__sample__init(sample);
    /* Frame 0 is record_sample itself. */
    for (int i = 1; i < samples[number].depth; i++)
        stacks[number][sample->n_location_id++] = location_at((uintptr_t)samples[number].frames[i] - 1);
    sample->location_id = stacks[number];
    values[number][0] = 1;
    values[number][1] = samples[number].bytes;
    sample->value = values[number];
    sample->n_value = 2;
}

static void write_zipped(const char *path) {
    size_t size = heapprof__pprof__profile__get_packed_size(&profile);
    uint8_t *bytes = malloc(size);
    gzFile file = gzopen(path, "wb");
    if (bytes == NULL || file == NULL)
        abort();
    heapprof__pprof__profile__pack(&profile, bytes);
    if (gzwrite(file, bytes, (unsigned)size) != (int)size || gzclose(file) != Z_OK)
        abort();
    free(bytes);
}

void record_write(const char *path) {
    static Heapprof__Pprof__ValueType types[2] = {HEAPPROF__PPROF__VALUE_TYPE__INIT,
                                                  HEAPPROF__PPROF__VALUE_TYPE__INIT};
    static Heapprof__Pprof__ValueType *type_list[2] = {&types[0], &types[1]};
    static int64_t comments[2];
    profile.string_table = strings;
    string("");
    types[0].type = string("inuse_objects");
    types[0].unit = string("count");
    types[1].type = string("inuse_space");
    types[1].unit = string("bytes");
    profile.sample_type = type_list;
    profile.n_sample_type = 2;
    profile.mapping = mapping_list;
    profile.location = location_list;
    profile.sample = sample_list;
    profile.time_nanos = (int64_t)time(NULL) * 1000000000;
    read_mappings();
    for (int i = 0; i < n_samples; i++)
        add_sample(i);
    profile.n_sample = (size_t)n_samples;
    comments[0] = string("service: leaky");
    comments[1] = string("reason: request");
    profile.comment = comments;
    profile.n_comment = 2;
    write_zipped(path);
}
