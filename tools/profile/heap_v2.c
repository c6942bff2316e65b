#include "tools/profile/heap_v2.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/symbols/elf_binary.h"
#include "tools/base/hash_index.h"
#include "tools/base/memory.h"
#include "tools/base/pool.h"
#include "tools/base/utf8.h"

static const size_t pool_limit = (size_t)512 * 1024 * 1024;

enum { MOST_FRAMES = 4096, MOST_MAPPINGS = 65536 /* as the kernel has it */, MOST_TYPES = 4 };

/* Where a caller enters jemalloc, for programs that have it inside; readers hide what these call, too. */
static const char drop_frames[] =
    "malloc|calloc|realloc|reallocarray|memalign|posix_memalign|aligned_alloc|valloc|pvalloc|mallocx|rallocx|"
    "operator new(\\[\\])?|je_.*|_rjem_.*";

/* The dump's own numbers of a stack. */
struct counters {
    uint64_t objects, bytes, ever_objects, ever_bytes;
};

struct reading {
    const char *at, *end;  /* what is left of the text */
    const char *line;      /* the line in hand, without its end */
    size_t length, number; /* of it */
    struct hp_error *error;
    struct hp_pool *pool;
    struct hp_profile *profile;
    uint64_t period;
    bool has_ever; /* taken with prof_accum */
    /* Stacks as they come: addresses of all, one after the other; where each begins; its counters. */
    uint64_t *addresses;
    size_t *begins;
    struct counters *counters;
    size_t n_addresses, n_stacks, address_capacity, begin_capacity, counter_capacity;
    bool in_stack; /* the line in hand may count for the last stack */
    struct hp_mapping *mappings;
    size_t n_mappings, mapping_capacity;
    struct hp_location *locations;
    size_t location_capacity;
    struct hp_hash_index by_address;
    uint64_t seed;
};

double hp_heap_v2_scale(uint64_t count, uint64_t bytes, uint64_t period) {
    /*
     * jemalloc samples as a Poisson process of bytes, so that an object of s bytes is sampled with
     * probability 1 - exp(-s / period). The dump has sums a stack, not single objects: the stack's mean size
     * stands for s. So does jeprof, which comes with jemalloc (sub AdjustSamples, "sampling algorithm 2");
     * jemalloc 5.3 prepares its numbers for just this formula (prof_unbias;
     * doc_internal/PROFILING_INTERNALS.md). A period of 1 samples all.
     */
    if (count == 0 || bytes == 0 || period <= 1)
        return 1;
    return 1 / -expm1(-((double)bytes / (double)count) / (double)period);
}

static bool is_wrong(const struct reading *reading, const char *what) {
    return hp_error_set(reading->error, "%s in line %zu", what, reading->number);
}

static bool is_too_large(const struct reading *reading) {
    return hp_error_set(reading->error, "is too large to be held in memory");
}

/* Turns to the next line. False at the end, or, with the error set, at one that has no end itself. */
static bool next_line(struct reading *reading) {
    if (reading->at == reading->end)
        return false;
    const char *newline = memchr(reading->at, '\n', (size_t)(reading->end - reading->at));
    if (newline == NULL)
        return hp_error_set(reading->error, "is cut short: its last line has no end");
    reading->line = reading->at;
    reading->length = (size_t)(newline - reading->at);
    reading->length -= reading->length > 0 && newline[-1] == '\r';
    reading->number++;
    reading->at = newline + 1;
    return true;
}

static bool starts_with(const struct reading *reading, const char *text) {
    size_t length = strlen(text);
    return reading->length >= length && memcmp(reading->line, text, length) == 0;
}

/* The value of a digit; 16 for what is none. */
static unsigned digit_of(unsigned char letter) {
    if (letter >= '0' && letter <= '9')
        return letter - (unsigned)'0';
    if (letter >= 'a' && letter <= 'f')
        return letter - (unsigned)'a' + 10;
    if (letter >= 'A' && letter <= 'F')
        return letter - (unsigned)'A' + 10;
    return 16;
}

/* A number of the base at *at, which moves behind it. False: none, or above the bound. */
static bool read_number(const char **at, const char *end, unsigned base, uint64_t most, uint64_t *number) {
    const char *begin = *at;
    *number = 0;
    for (; *at < end; (*at)++) {
        unsigned digit = digit_of((unsigned char)**at);
        if (digit >= base)
            break;
        if (*number > (most - digit) / base)
            return false;
        *number = *number * base + digit;
    }
    return *at > begin;
}

static bool take_text(const char **at, const char *end, const char *text) {
    size_t length = strlen(text);
    if ((size_t)(end - *at) < length || memcmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool read_header(struct reading *reading) {
    const char *at = reading->at;
    if (!next_line(reading) || !take_text(&at, reading->line + reading->length, "heap_v2/"))
        return hp_error_set(reading->error, "is no heap_v2 dump of jemalloc");
    if (!read_number(&at, reading->line + reading->length, 10, INT64_MAX, &reading->period) ||
        at != reading->line + reading->length || reading->period == 0)
        return is_wrong(reading, "has no sample period");
    return true;
}

/* "@ 0x1 0x2 ...": the innermost frame first. */
static bool read_stack(struct reading *reading) {
    const char *at = reading->line + 1, *end = reading->line + reading->length;
    reading->begins =
        hp_memory_grow(reading->begins, reading->n_stacks, &reading->begin_capacity, sizeof *reading->begins);
    reading->counters = hp_memory_grow(reading->counters, reading->n_stacks, &reading->counter_capacity,
                                       sizeof *reading->counters);
    reading->begins[reading->n_stacks] = reading->n_addresses;
    reading->counters[reading->n_stacks++] = (struct counters){0};
    reading->in_stack = true;
    while (at < end) {
        uint64_t address = 0;
        if (!take_text(&at, end, " 0x") || !read_number(&at, end, 16, UINT64_MAX, &address) || address == 0)
            return is_wrong(reading, "has a broken stack");
        if (reading->n_addresses - reading->begins[reading->n_stacks - 1] == MOST_FRAMES)
            return is_wrong(reading, "has more than 4096 frames");
        reading->addresses = hp_memory_grow(reading->addresses, reading->n_addresses,
                                            &reading->address_capacity, sizeof *reading->addresses);
        reading->addresses[reading->n_addresses++] = address;
    }
    return true;
}

/* "  t*: OBJECTS: BYTES [OBJECTS: BYTES]", now and ever; a thread's line may end in its name. */
static bool read_counters(struct reading *reading) {
    const char *at = reading->line, *end = reading->line + reading->length;
    struct counters counters;
    uint64_t thread = 0;
    at += strspn(at, " ");
    bool is_sum = take_text(&at, end, "t*");
    if ((!is_sum && !(take_text(&at, end, "t") && read_number(&at, end, 10, UINT64_MAX, &thread))) ||
        !take_text(&at, end, ": ") || !read_number(&at, end, 10, INT64_MAX, &counters.objects) ||
        !take_text(&at, end, ": ") || !read_number(&at, end, 10, INT64_MAX, &counters.bytes) ||
        !take_text(&at, end, " [") || !read_number(&at, end, 10, INT64_MAX, &counters.ever_objects) ||
        !take_text(&at, end, ": ") || !read_number(&at, end, 10, INT64_MAX, &counters.ever_bytes) ||
        !take_text(&at, end, "]"))
        return is_wrong(reading, "has broken counters");
    reading->has_ever |= counters.ever_objects > 0 || counters.ever_bytes > 0;
    /* Those of single threads add up to it. */
    if (is_sum && reading->in_stack)
        reading->counters[reading->n_stacks - 1] = counters;
    return true;
}

static bool read_stacks(struct reading *reading) {
    while (next_line(reading)) {
        if (starts_with(reading, "MAPPED_LIBRARIES:"))
            return true;
        bool sound = reading->length == 0        ? true
                     : starts_with(reading, "@") ? read_stack(reading)
                     : starts_with(reading, "  t")
                         ? read_counters(reading)
                         : is_wrong(reading, "has what is no part of a heap_v2 dump");
        if (!sound)
            return false;
    }
    return reading->error->text[0] == '\0' &&
           hp_error_set(reading->error, "is cut short: it has no MAPPED_LIBRARIES");
}

static bool keep_mapping(struct reading *reading, struct hp_mapping mapping, const char *path,
                         size_t length) {
    static const char deleted[] = " (deleted)";
    size_t end = sizeof deleted - 1;
    char build_id[HP_BUILD_ID_HEX];
    if (length > end && memcmp(path + length - end, deleted, end) == 0)
        length -= end;
    char *name = hp_pool_alloc(reading->pool, length + 1);
    if (name == NULL)
        return is_too_large(reading);
    memcpy(name, path, length);
    name[length] = '\0';
    if (memchr(name, 0, length) != NULL || !hp_utf8_is_valid((const uint8_t *)name, length))
        return is_wrong(reading, "has a file name that is not UTF-8");
    mapping.filename = name;
    hp_elf_binary_build_id(name, build_id);
    mapping.build_id = hp_pool_strdup(reading->pool, build_id);
    if (mapping.build_id == NULL)
        return is_too_large(reading);
    if (reading->n_mappings == MOST_MAPPINGS)
        return is_wrong(reading, "has more than 65536 mappings");
    if (reading->n_mappings > 0 && mapping.start < reading->mappings[reading->n_mappings - 1].limit)
        return is_wrong(reading, "has a mapping out of order");
    reading->mappings = hp_memory_grow(reading->mappings, reading->n_mappings, &reading->mapping_capacity,
                                       sizeof *reading->mappings);
    reading->mappings[reading->n_mappings++] = mapping;
    return true;
}

/* "START-LIMIT r-xp OFFSET MAJOR:MINOR INODE   PATH", as in /proc/PID/maps. */
static bool read_mapping(struct reading *reading) {
    const char *at = reading->line, *end = reading->line + reading->length;
    struct hp_mapping mapping = {0};
    if (!read_number(&at, end, 16, UINT64_MAX, &mapping.start) || !take_text(&at, end, "-") ||
        !read_number(&at, end, 16, UINT64_MAX, &mapping.limit) || !take_text(&at, end, " ") || end - at < 5 ||
        at[4] != ' ' || mapping.limit <= mapping.start)
        return is_wrong(reading, "has a broken mapping");
    bool is_code = at[2] == 'x';
    at += 5;
    if (!read_number(&at, end, 16, UINT64_MAX, &mapping.offset) || !take_text(&at, end, " "))
        return is_wrong(reading, "has a broken mapping");
    const char *path = memchr(at, '/', (size_t)(end - at));
    return !is_code || path == NULL || keep_mapping(reading, mapping, path, (size_t)(end - path));
}

static bool read_mappings(struct reading *reading) {
    while (next_line(reading))
        if (reading->length > 0 && !read_mapping(reading))
            return false;
    return reading->error->text[0] == '\0';
}

static const struct hp_mapping *mapping_at(const struct reading *reading, uint64_t address) {
    size_t low = 0, high = reading->n_mappings;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reading->mappings[middle].limit <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct hp_mapping *mapping = &reading->profile->mappings[low];
    return low < reading->n_mappings && address >= mapping->start ? mapping : NULL;
}

/* jemalloc's own library, or ours, which has it inside. */
static bool is_jemalloc(const struct hp_mapping *mapping) {
    static const char *const libraries[] = {"libjemalloc", "libheapprof"};
    const char *slash = mapping != NULL ? strrchr(mapping->filename, '/') : NULL;
    for (size_t i = 0; slash != NULL && i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(slash + 1, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

struct wanted {
    const struct hp_location *locations;
    uint64_t address;
};

static bool same_address(const void *key, size_t place) {
    const struct wanted *wanted = key;
    return wanted->locations[place].address == wanted->address;
}

static size_t location_at(struct reading *reading, uint64_t address) {
    const struct wanted wanted = {reading->locations, address};
    uint64_t hash = hp_hash_mix(reading->seed, address);
    size_t place = hp_hash_index_find(&reading->by_address, hash, same_address, &wanted);
    if (place != HP_HASH_NONE)
        return place;
    place = reading->profile->n_locations++;
    reading->locations =
        hp_memory_grow(reading->locations, place, &reading->location_capacity, sizeof *reading->locations);
    reading->locations[place] =
        (struct hp_location){.address = address, .mapping = mapping_at(reading, address)};
    hp_hash_index_insert(&reading->by_address, hash, place);
    return place;
}

static int64_t scaled(uint64_t value, double scale) {
    double result = (double)value * scale + 0.5;
    return result < (double)INT64_MAX ? (int64_t)result : INT64_MAX;
}

static bool add_values(struct reading *reading, const struct counters *from, struct hp_sample *to) {
    int64_t *values = hp_pool_calloc(reading->pool, reading->profile->n_sample_types, sizeof *values);
    if (values == NULL)
        return is_too_large(reading);
    double now = hp_heap_v2_scale(from->objects, from->bytes, reading->period);
    double ever = hp_heap_v2_scale(from->ever_objects, from->ever_bytes, reading->period);
    to->values = values;
    if (reading->has_ever) {
        *values++ = scaled(from->ever_objects, ever);
        *values++ = scaled(from->ever_bytes, ever);
    }
    *values++ = scaled(from->objects, now);
    *values = scaled(from->bytes, now);
    return true;
}

/* The stack from its first frame outside of jemalloc's library on, by numbers of locations. */
static bool add_frames(struct reading *reading, size_t from, size_t to, struct hp_sample *sample) {
    while (to - from > 1 && is_jemalloc(mapping_at(reading, reading->addresses[from] - 1)))
        from++;
    sample->n_locations = to - from;
    sample->locations = hp_pool_calloc(reading->pool, to - from, sizeof *sample->locations);
    if (sample->locations == NULL)
        return is_too_large(reading);
    /* An address is where the call returns to; the call is before it. */
    for (size_t i = from; i < to; i++)
        sample->locations[i - from] =
            (const struct hp_location *)(uintptr_t)location_at(reading, reading->addresses[i] - 1);
    return true;
}

static bool add_samples(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    profile->samples = hp_pool_calloc(reading->pool, reading->n_stacks, sizeof *profile->samples);
    if (profile->samples == NULL)
        return is_too_large(reading);
    for (size_t i = 0; i < reading->n_stacks; i++) {
        size_t end = i + 1 < reading->n_stacks ? reading->begins[i + 1] : reading->n_addresses;
        struct hp_sample *sample = &profile->samples[profile->n_samples++];
        if (!add_frames(reading, reading->begins[i], end, sample) ||
            !add_values(reading, &reading->counters[i], sample))
            return false;
    }
    return true;
}

/* An array that grew, moved into the pool. */
static bool settle(struct reading *reading, const void *from, size_t count, size_t size, void *to) {
    void *copy = hp_pool_calloc(reading->pool, count, size);
    if (copy == NULL)
        return is_too_large(reading);
    if (count > 0)
        memcpy(copy, from, count * size);
    memcpy(to, &copy, sizeof copy);
    return true;
}

static bool settle_locations(struct reading *reading) {
    struct hp_profile *profile = reading->profile;
    if (!settle(reading, reading->locations, profile->n_locations, sizeof *profile->locations,
                &profile->locations))
        return false;
    for (size_t i = 0; i < profile->n_samples; i++)
        for (size_t at = 0; at < profile->samples[i].n_locations; at++)
            profile->samples[i].locations[at] =
                &profile->locations[(uintptr_t)profile->samples[i].locations[at]];
    return true;
}

static bool set_header(struct reading *reading) {
    static const struct hp_value_type types[MOST_TYPES] = {{"alloc_objects", "count"},
                                                           {"alloc_space", "bytes"},
                                                           {"inuse_objects", "count"},
                                                           {"inuse_space", "bytes"}};
    struct hp_profile *profile = hp_pool_calloc(reading->pool, 1, sizeof *profile);
    size_t skipped = reading->has_ever ? 0 : 2;
    reading->profile = profile;
    if (profile == NULL)
        return is_too_large(reading);
    *profile = (struct hp_profile){.pool = reading->pool,
                                   .n_sample_types = MOST_TYPES - skipped,
                                   .n_mappings = reading->n_mappings,
                                   .period_type = {"space", "bytes"},
                                   .period = (int64_t)reading->period,
                                   .default_sample_type = "inuse_space",
                                   .drop_frames = drop_frames,
                                   .keep_frames = "",
                                   .doc_url = "",
                                   .ids_sequential = true};
    return settle(reading, types + skipped, profile->n_sample_types, sizeof *types, &profile->sample_types) &&
           settle(reading, reading->mappings, reading->n_mappings, sizeof *profile->mappings,
                  &profile->mappings);
}

static bool read_all(struct reading *reading) {
    return read_header(reading) && read_stacks(reading) && read_mappings(reading) && set_header(reading) &&
           add_samples(reading) && settle_locations(reading);
}

struct hp_profile *hp_heap_v2_parse(const uint8_t *data, size_t size, struct hp_error *error) {
    struct reading reading = {.at = (const char *)data,
                              .end = (const char *)data + size,
                              .error = error,
                              .pool = hp_pool_new(pool_limit),
                              .seed = hp_hash_seed()};
    error->text[0] = '\0';
    hp_hash_index_init(&reading.by_address);
    bool done = reading.pool != NULL ? read_all(&reading) : is_too_large(&reading);
    hp_hash_index_fini(&reading.by_address);
    free(reading.addresses);
    free(reading.begins);
    free(reading.counters);
    free(reading.mappings);
    free(reading.locations);
    if (!done)
        hp_pool_free(reading.pool);
    return done ? reading.profile : NULL;
}
