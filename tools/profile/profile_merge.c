#include "tools/profile/profile_merge.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/hash_index.h"
#include "tools/base/memory.h"
#include "tools/profile/merge_code.h"
#include "tools/profile/merge_header.h"
#include "tools/base/pool.h"

/* Of the result, with all its strings: some two million stacks. */
static const size_t pool_limit = (size_t)1024 * 1024 * 1024;

struct merged_sample {
    const struct hp_location **locations; /* until the end, the numbers of the frames in their place */
    const struct hp_label *labels;
    int64_t *values;
    uint32_t n_locations, n_labels;
    bool has_mean; /* among the labels */
};

struct hp_profile_merge {
    struct hp_pool *pool;
    struct hp_merge_header header;
    struct hp_merge_code *code;
    struct merged_sample *samples;
    size_t n_samples, sample_capacity;
    struct hp_hash_index index;
    uint64_t seed;
    /* One sample on its way in. */
    const struct hp_location **stack;
    size_t stack_capacity;
};

struct hp_profile_merge *hp_profile_merge_new(void) {
    struct hp_profile_merge *merge = hp_memory_new(1, sizeof *merge);
    merge->pool = hp_pool_new(pool_limit);
    merge->code = hp_merge_code_new(merge->pool);
    merge->seed = hp_hash_seed();
    hp_merge_header_init(&merge->header, merge->pool);
    hp_hash_index_init(&merge->index);
    return merge;
}

void hp_profile_merge_free(struct hp_profile_merge *merge) {
    if (merge == NULL)
        return;
    hp_merge_code_free(merge->code);
    hp_merge_header_fini(&merge->header);
    hp_hash_index_fini(&merge->index);
    hp_pool_free(merge->pool);
    free(merge->samples);
    free(merge->stack);
    free(merge);
}

static bool is_too_large(struct hp_error *error) {
    return hp_error_set(error, "makes the result too large to be held in memory");
}

/* The mean object size that heapprof writes with each stack. */
static bool is_mean(const struct hp_label *label) {
    return label->text[0] == '\0' && strcmp(label->key, "bytes") == 0;
}

struct wanted {
    const struct hp_profile_merge *merge;
    const struct merged_sample *sample;
    bool has_means;
};

static bool same_label(const struct hp_label *a, const struct hp_label *b, bool has_means) {
    return strcmp(a->key, b->key) == 0 && strcmp(a->text, b->text) == 0 && strcmp(a->unit, b->unit) == 0 &&
           (a->number == b->number || (has_means && is_mean(a)));
}

static bool same_sample(const void *key, size_t place) {
    const struct wanted *wanted = key;
    const struct merged_sample *a = wanted->sample, *b = &wanted->merge->samples[place];
    if (a->n_locations != b->n_locations || a->n_labels != b->n_labels ||
        memcmp(a->locations, b->locations, a->n_locations * sizeof *a->locations) != 0)
        return false;
    for (size_t i = 0; i < a->n_labels; i++)
        if (!same_label(&a->labels[i], &b->labels[i], wanted->has_means))
            return false;
    return true;
}

static uint64_t hash_sample(const struct hp_profile_merge *merge, const struct merged_sample *sample,
                            bool has_means) {
    uint64_t hash = hp_hash_mix(merge->seed, sample->n_locations);
    for (size_t i = 0; i < sample->n_locations; i++)
        hash = hp_hash_mix(hash, (uintptr_t)sample->locations[i]);
    for (size_t i = 0; i < sample->n_labels; i++) {
        const struct hp_label *label = &sample->labels[i];
        hash = hp_hash_mix_string(hp_hash_mix_string(hash, label->key), label->text);
        if (!has_means || !is_mean(label))
            hash = hp_hash_mix(hash, (uint64_t)label->number);
    }
    return hash;
}

/* The stack by numbers of frames, in merge->stack. */
static bool take_stack(struct hp_profile_merge *merge, const struct hp_sample *from) {
    for (size_t i = 0; i < from->n_locations; i++) {
        size_t number = hp_merge_code_location(merge->code, from->locations[i]);
        if (number == SIZE_MAX)
            return false;
        merge->stack = hp_memory_grow(merge->stack, i, &merge->stack_capacity, sizeof *merge->stack);
        merge->stack[i] = (const struct hp_location *)(uintptr_t)number;
    }
    return true;
}

static bool copy_labels(struct hp_pool *pool, struct merged_sample *sample) {
    struct hp_label *labels = hp_pool_calloc(pool, sample->n_labels, sizeof *labels);
    for (size_t i = 0; labels != NULL && i < sample->n_labels; i++) {
        labels[i].key = hp_pool_strdup(pool, sample->labels[i].key);
        labels[i].text = hp_pool_strdup(pool, sample->labels[i].text);
        labels[i].unit = hp_pool_strdup(pool, sample->labels[i].unit);
        labels[i].number = sample->labels[i].number;
        if (labels[i].key == NULL || labels[i].text == NULL || labels[i].unit == NULL)
            return false;
    }
    sample->labels = labels;
    return labels != NULL;
}

static bool has_mean(const struct merged_sample *sample) {
    for (uint32_t i = 0; i < sample->n_labels; i++)
        if (is_mean(&sample->labels[i]))
            return true;
    return false;
}

static bool add_sample(struct hp_profile_merge *merge, struct merged_sample sample, uint64_t hash) {
    size_t bytes = sample.n_locations * sizeof *sample.locations;
    const struct hp_location **stack = hp_pool_alloc(merge->pool, bytes);
    sample.values = hp_pool_calloc(merge->pool, merge->header.n_sample_types, sizeof *sample.values);
    if (stack == NULL || sample.values == NULL || !copy_labels(merge->pool, &sample))
        return false;
    if (bytes > 0)
        memcpy(stack, sample.locations, bytes);
    sample.locations = stack;
    merge->samples =
        hp_memory_grow(merge->samples, merge->n_samples, &merge->sample_capacity, sizeof *merge->samples);
    hp_hash_index_insert(&merge->index, hash, merge->n_samples);
    merge->samples[merge->n_samples++] = sample;
    return true;
}

static int64_t signed_value(int64_t value, enum hp_merge_sign sign) {
    if (sign == HP_MERGE_ADD)
        return value;
    return value == INT64_MIN ? INT64_MAX : -value;
}

static void add_values(const struct hp_merge_header *header, const int64_t *from, enum hp_merge_sign sign,
                       int64_t *to) {
    for (size_t i = 0; i < header->n_sample_types; i++)
        if (header->column[i] != SIZE_MAX)
            to[i] = hp_profile_add(to[i], signed_value(from[header->column[i]], sign));
}

static bool merge_sample(struct hp_profile_merge *merge, const struct hp_sample *from,
                         enum hp_merge_sign sign, bool has_means) {
    if (from->n_locations > UINT32_MAX || from->n_labels > UINT32_MAX || !take_stack(merge, from))
        return false;
    struct merged_sample sample = {.locations = merge->stack,
                                   .n_locations = (uint32_t)from->n_locations,
                                   .labels = from->labels,
                                   .n_labels = (uint32_t)from->n_labels};
    sample.has_mean = has_means && has_mean(&sample);
    const struct wanted wanted = {merge, &sample, has_means};
    uint64_t hash = hash_sample(merge, &sample, has_means);
    size_t place = hp_hash_index_find(&merge->index, hash, same_sample, &wanted);
    if (place == HP_HASH_NONE) {
        place = merge->n_samples;
        if (!add_sample(merge, sample, hash))
            return false;
    }
    add_values(&merge->header, from->values, sign, merge->samples[place].values);
    return true;
}

bool hp_profile_merge_add(struct hp_profile_merge *merge, const struct hp_profile *profile,
                          enum hp_merge_sign sign, struct hp_error *error) {
    bool has_means = hp_profile_comment(profile, "heapprof") != NULL;
    if (!hp_merge_header_add(&merge->header, profile, sign == HP_MERGE_ADD, error))
        return false;
    if (!hp_merge_code_begin(merge->code, profile))
        return is_too_large(error);
    for (size_t i = 0; i < profile->n_samples; i++)
        if (!merge_sample(merge, &profile->samples[i], sign, has_means))
            return is_too_large(error);
    return true;
}

char *hp_profile_merge_left_out(const struct hp_profile_merge *merge) {
    char *names = NULL;
    for (size_t i = 0; i < merge->header.n_sample_types; i++) {
        if (merge->header.is_common[i])
            continue;
        char *longer = hp_memory_format("%s%s%s", names != NULL ? names : "", names != NULL ? ", " : "",
                                        merge->header.sample_types[i].type);
        free(names);
        names = longer;
    }
    return names;
}

bool hp_profile_merge_comment(struct hp_profile_merge *merge, const char *text, struct hp_error *error) {
    return hp_merge_header_comment(&merge->header, text) || is_too_large(error);
}

/* Moves the values of the types that remain together; false when all of them are 0. */
static bool keep_values(const struct hp_merge_header *header, int64_t *values) {
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < header->n_sample_types; i++) {
        if (!header->is_common[i])
            continue;
        any |= values[i] != 0;
        values[kept++] = values[i];
    }
    return any;
}

static uint64_t magnitude(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* The mean object size again, of the sums, as the library computes it; 0 when they allow for none. */
static int64_t mean_of(const struct hp_profile *profile, const int64_t *values) {
    int objects = hp_profile_find_type(profile, "alloc_objects");
    int bytes = hp_profile_find_type(profile, "alloc_space");
    if (objects < 0 || bytes < 0 || values[objects] == 0 || (values[objects] < 0) != (values[bytes] < 0))
        return 0;
    uint64_t count = magnitude(values[objects]), size = magnitude(values[bytes]);
    return (int64_t)(size / count + (size % count >= count - count / 2));
}

/* Puts the mean right; without one the label goes. */
static void renew_mean(const struct hp_profile *profile, struct merged_sample *sample) {
    struct hp_label *labels = (struct hp_label *)(uintptr_t)sample->labels; /* our own copy */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sample->n_labels; i++) {
        struct hp_label label = labels[i];
        if (is_mean(&label))
            label.number = mean_of(profile, sample->values);
        if (!is_mean(&label) || label.number != 0)
            labels[kept++] = label;
    }
    sample->n_labels = kept;
}

static void finish_sample(const struct hp_profile *profile, struct merged_sample *from,
                          struct hp_sample *to) {
    for (size_t i = 0; i < from->n_locations; i++)
        from->locations[i] = &profile->locations[(uintptr_t)from->locations[i]];
    if (from->has_mean)
        renew_mean(profile, from);
    *to = (struct hp_sample){.locations = from->locations,
                             .n_locations = from->n_locations,
                             .values = from->values,
                             .labels = from->labels,
                             .n_labels = from->n_labels};
}

struct hp_profile *hp_profile_merge_finish(struct hp_profile_merge *merge, struct hp_error *error) {
    struct hp_profile *profile = hp_pool_calloc(merge->pool, 1, sizeof *profile);
    if (profile == NULL || !hp_merge_header_finish(&merge->header, profile) ||
        !hp_merge_code_finish(merge->code, profile)) {
        is_too_large(error);
        return NULL;
    }
    profile->samples = hp_pool_calloc(merge->pool, merge->n_samples, sizeof *profile->samples);
    if (profile->samples == NULL) {
        is_too_large(error);
        return NULL;
    }
    for (size_t i = 0; i < merge->n_samples; i++)
        if (keep_values(&merge->header, merge->samples[i].values))
            finish_sample(profile, &merge->samples[i], &profile->samples[profile->n_samples++]);
    profile->ids_sequential = true;
    profile->pool = merge->pool;
    merge->pool = NULL;
    return profile;
}
