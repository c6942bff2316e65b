#include "tools/live/capture_delta.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/pool.h"
#include "tools/profile/profile_merge.h"

static const struct {
    const char *name, *objects, *bytes;
} types[HP_CAPTURE_TYPES] = {[HP_CAPTURE_HEAP] = {"heap", "inuse_objects", "inuse_space"},
                             [HP_CAPTURE_ALLOCS] = {"allocs", "alloc_objects", "alloc_space"},
                             [HP_CAPTURE_GROWTH] = {"growth", "inuse_objects", "inuse_space"}};

const char *hp_capture_type_name(enum hp_capture_type type) {
    return types[type].name;
}

bool hp_capture_columns(const struct hp_profile *profile, enum hp_capture_type type, size_t *objects,
                        size_t *bytes) {
    int first = hp_profile_find_type(profile, types[type].objects);
    int second = hp_profile_find_type(profile, types[type].bytes);
    *objects = (size_t)first;
    *bytes = (size_t)second;
    return first >= 0 && second >= 0;
}

static bool is_same(const struct hp_profile *first, const struct hp_profile *last, const char *key) {
    const char *a = hp_profile_comment(first, key), *b = hp_profile_comment(last, key);
    return a == NULL || b == NULL || strcmp(a, b) == 0;
}

static struct hp_profile *subtract(const struct hp_profile *first, const struct hp_profile *last,
                                   enum hp_capture_type type, struct hp_error *error) {
    struct hp_profile_merge *merge = hp_profile_merge_new();
    char *comment = hp_memory_format("profile type: %s", types[type].name);
    struct hp_profile *delta = NULL;
    if (hp_profile_merge_add(merge, last, HP_MERGE_ADD, error) &&
        hp_profile_merge_add(merge, first, HP_MERGE_SUBTRACT, error) &&
        hp_profile_merge_comment(merge, comment, error))
        delta = hp_profile_merge_finish(merge, error);
    free(comment);
    hp_profile_merge_free(merge);
    return delta;
}

/* The mean size of these objects. */
static bool set_label(struct hp_pool *pool, struct hp_sample *sample, const int64_t values[2]) {
    sample->labels = NULL;
    sample->n_labels = 0;
    if (values[0] == 0)
        return true;
    struct hp_label *label = hp_pool_alloc(pool, sizeof *label);
    if (label == NULL)
        return false;
    *label = (struct hp_label){"bytes", "", llabs(values[1] / values[0]), "bytes"};
    sample->labels = label;
    sample->n_labels = 1;
    return true;
}

/* Keeps two columns, and the samples that have something in them. False: the pool is full. */
static bool keep_columns(struct hp_profile *profile, size_t objects, size_t bytes) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        struct hp_sample sample = profile->samples[i];
        int64_t *values = hp_pool_calloc(profile->pool, 2, sizeof *values);
        if (values == NULL)
            return false;
        values[0] = sample.values[objects];
        values[1] = sample.values[bytes];
        if (values[0] == 0 && values[1] == 0)
            continue;
        sample.values = values;
        if (!set_label(profile->pool, &sample, values))
            return false;
        profile->samples[kept++] = sample;
    }
    struct hp_value_type pair[2] = {profile->sample_types[objects], profile->sample_types[bytes]};
    memcpy(profile->sample_types, pair, sizeof pair);
    profile->n_sample_types = 2;
    profile->default_sample_type = pair[1].type;
    profile->n_samples = kept;
    return true;
}

struct hp_profile *hp_capture_delta(const struct hp_profile *first, const struct hp_profile *last,
                                    enum hp_capture_type type, struct hp_error *error) {
    size_t objects = 0, bytes = 0;
    if (!is_same(first, last, "process start") || !is_same(first, last, "pid")) {
        hp_error_set(error, "has started another program in the meantime: there is nothing to compare");
        return NULL;
    }
    struct hp_profile *delta = subtract(first, last, type, error);
    if (delta == NULL)
        return NULL;
    bool done = hp_capture_columns(delta, type, &objects, &bytes)
                    ? keep_columns(delta, objects, bytes) || hp_error_set(error, "is too large")
                    : hp_error_set(error, "has no %s in its profile", types[type].bytes);
    if (!done) {
        hp_profile_free(delta);
        return NULL;
    }
    delta->time_nanos = last->time_nanos;
    delta->duration_nanos = last->time_nanos - first->time_nanos;
    return delta;
}
