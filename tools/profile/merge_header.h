/* What a merged profile says beside its code and samples; profile_merge.h has the rules. Not thread-safe. */
#ifndef HP_TOOLS_MERGE_HEADER_H
#define HP_TOOLS_MERGE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/error.h"
#include "tools/base/hash_index.h"
#include "tools/base/pool.h"
#include "tools/profile/profile.h"

enum { HP_MERGE_COUNTERS = 3 }; /* comments that count something are summed up: "samples lost", … */

struct hp_merge_comment {
    const char *text;
    size_t seen; /* the number of profiles that have it, as long as all do; HP_MERGE_ALWAYS */
};

struct hp_merge_header {
    struct hp_pool *pool;
    /* The first profile's types; whether all profiles so far have them; their places in the profile in hand.
     */
    struct hp_value_type *sample_types;
    bool *is_common;
    size_t *column;
    size_t n_sample_types;
    struct hp_value_type period_type;
    int64_t period, first_time, last_time, duration;
    const char *default_sample_type, *drop_frames, *keep_frames, *doc_url;
    struct hp_merge_comment *comments; /* the first profile's */
    size_t n_comments, comment_capacity;
    struct hp_hash_index comment_index;
    uint64_t seed;
    bool has_counter[HP_MERGE_COUNTERS];
    uint64_t counters[HP_MERGE_COUNTERS];
    size_t n_profiles, n_added; /* all; those that were not taken off */
};

void hp_merge_header_init(struct hp_merge_header *header, struct hp_pool *pool);
void hp_merge_header_fini(struct hp_merge_header *header);

/*
 * Takes in what the profile says of itself, and finds its columns. `is_added`: it is not taken off. False:
 * `error` says why it does not fit.
 */
bool hp_merge_header_add(struct hp_merge_header *header, const struct hp_profile *profile, bool is_added,
                         struct hp_error *error);

/* A comment that the result will have. False: the pool is full. */
bool hp_merge_header_comment(struct hp_merge_header *header, const char *text);

/* Fills all of the profile but its code and samples. False: the pool is full. */
bool hp_merge_header_finish(struct hp_merge_header *header, struct hp_profile *profile);

#endif
