/*
 * A profile in memory: what a pprof file says, with every reference already followed, so that no
 * reader of it has to look at an id again. Made by profile_reader, given symbols by symbolizer,
 * summed up by profile_table.
 *
 * Everything lives in `pool`, strings included: valid until hp_profile_free. No string is NULL
 * ("" where the file has none), each is valid UTF-8. Not thread-safe.
 */
#ifndef HP_TOOLS_PROFILE_H
#define HP_TOOLS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_pool;

struct hp_value_type {
    const char *type; /* "inuse_space" */
    const char *unit; /* "bytes" */
};

struct hp_function {
    const char *name;        /* for people */
    const char *system_name; /* as the binary has it */
    const char *filename;    /* the source file */
    int64_t start_line;      /* 0: unknown */
};

/* One frame: several at one location when functions were inlined. */
struct hp_line {
    const struct hp_function *function; /* never NULL */
    int64_t line;                       /* 0: unknown */
    int64_t column;
};

struct hp_mapping {
    uint64_t start, limit; /* addresses [start, limit); limit 0: unknown */
    uint64_t offset;       /* of start, in the file */
    const char *filename;
    const char *build_id; /* hex */
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct hp_location {
    const struct hp_mapping *mapping; /* NULL: none */
    uint64_t address;                 /* inside the call: return address - 1 */
    const struct hp_line *lines;      /* innermost inlined function first */
    size_t n_lines;
    bool is_folded; /* identical code that the linker kept once: the lines name one of several functions */
};

struct hp_label {
    const char *key;
    const char *text; /* "" for a number */
    int64_t number;
    const char *unit; /* of the number */
};

struct hp_sample {
    const struct hp_location **locations; /* leaf first */
    size_t n_locations;
    const int64_t *values; /* one for each of the profile's sample types */
    const struct hp_label *labels;
    size_t n_labels;
};

struct hp_profile {
    struct hp_pool *pool;
    struct hp_value_type *sample_types;
    struct hp_sample *samples;
    struct hp_mapping *mappings;
    struct hp_location *locations;
    struct hp_function *functions; /* the file's; a symbolizer's are elsewhere in the pool */
    const char **comments;
    size_t n_sample_types, n_samples, n_mappings, n_locations, n_functions, n_comments;
    struct hp_value_type period_type;
    int64_t period;
    int64_t time_nanos, duration_nanos;
    const char *default_sample_type; /* "" when the file names none */
    const char *drop_frames, *keep_frames;
    const char *doc_url;
    bool ids_sequential; /* every id is its place, from 1: some readers want it */
};

/* The place of the sample type of this name; -1 when the profile has none such. */
int hp_profile_find_type(const struct hp_profile *profile, const char *name);

/* The place of the type that is shown when nobody chose: the named default, else the last. */
size_t hp_profile_default_type(const struct hp_profile *profile);

/* The sum of |value| over all samples: what a share is a share of. Stops at INT64_MAX. */
int64_t hp_profile_total(const struct hp_profile *profile, size_t type);

/* The text after "key: " in the first comment that starts so; NULL without one. Owned by the profile. */
const char *hp_profile_comment(const struct hp_profile *profile, const char *key);

/* The same as a number; false when absent or not a plain non-negative number. */
bool hp_profile_comment_number(const struct hp_profile *profile, const char *key, uint64_t *number);

/* The location stands for no code but for something said, such as "[truncated]". */
bool hp_location_is_remark(const struct hp_location *location);

/* a + b, held at INT64_MIN and INT64_MAX: a hostile file must not overflow a sum. */
int64_t hp_profile_add(int64_t a, int64_t b);

/* Frees the profile and all that it points to; NULL is fine. */
void hp_profile_free(struct hp_profile *profile);

#endif
