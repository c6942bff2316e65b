#include "tools/profile/merge_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

static const size_t always = SIZE_MAX; /* of a comment: it was not read, but made */

static const char *const counter_keys[HP_MERGE_COUNTERS] = {"samples lost", "bytes lost", "stacks truncated"};

void hp_merge_header_init(struct hp_merge_header *header, struct hp_pool *pool) {
    *header = (struct hp_merge_header){.pool = pool, .seed = hp_hash_seed()};
    hp_hash_index_init(&header->comment_index);
}

void hp_merge_header_fini(struct hp_merge_header *header) {
    hp_hash_index_fini(&header->comment_index);
    free(header->comments);
    free(header->is_common);
    free(header->column);
}

static bool is_too_large(struct hp_error *error) {
    return hp_error_set(error, "makes the result too large to be held in memory");
}

static bool copy_string(struct hp_merge_header *header, const char *from, const char **to) {
    *to = hp_pool_strdup(header->pool, from);
    return *to != NULL;
}

static bool copy_type(struct hp_merge_header *header, const struct hp_value_type *from,
                      struct hp_value_type *to) {
    return copy_string(header, from->type, &to->type) && copy_string(header, from->unit, &to->unit);
}

static bool is_counter(const char *comment) {
    for (size_t i = 0; i < HP_MERGE_COUNTERS; i++) {
        size_t length = strlen(counter_keys[i]);
        if (strncmp(comment, counter_keys[i], length) == 0 && comment[length] == ':')
            return true;
    }
    return false;
}

static bool same_comment(const void *key, size_t place) {
    const struct hp_merge_comment *const *comments = key;
    return strcmp(comments[0]->text, comments[1][place].text) == 0;
}

/* The comment's place; HP_HASH_NONE when there is none such. */
static size_t find_comment(const struct hp_merge_header *header, const char *text) {
    const struct hp_merge_comment wanted = {.text = text};
    const struct hp_merge_comment *key[2] = {&wanted, header->comments};
    return hp_hash_index_find(&header->comment_index, hp_hash_mix_string(header->seed, text), same_comment,
                              key);
}

static bool add_comment(struct hp_merge_header *header, const char *text, size_t seen) {
    struct hp_merge_comment comment = {.seen = seen};
    if (!copy_string(header, text, &comment.text))
        return false;
    header->comments = hp_memory_grow(header->comments, header->n_comments, &header->comment_capacity,
                                      sizeof *header->comments);
    hp_hash_index_insert(&header->comment_index, hp_hash_mix_string(header->seed, text), header->n_comments);
    header->comments[header->n_comments++] = comment;
    return true;
}

bool hp_merge_header_comment(struct hp_merge_header *header, const char *text) {
    return add_comment(header, text, always);
}

/* Keeps the first profile's comments, and counts in how many of the others each is. */
static bool take_comments(struct hp_merge_header *header, const struct hp_profile *profile) {
    for (size_t i = 0; i < profile->n_comments; i++) {
        const char *text = profile->comments[i];
        size_t place = is_counter(text) ? HP_HASH_NONE : find_comment(header, text);
        if (place != HP_HASH_NONE && header->comments[place].seen == header->n_added)
            header->comments[place].seen++;
        else if (place == HP_HASH_NONE && header->n_added == 0 && !is_counter(text) &&
                 !add_comment(header, text, 1))
            return false;
    }
    for (size_t i = 0; i < HP_MERGE_COUNTERS; i++) {
        uint64_t number = 0;
        if (!hp_profile_comment_number(profile, counter_keys[i], &number))
            continue;
        header->has_counter[i] = true;
        if (__builtin_add_overflow(header->counters[i], number, &header->counters[i]))
            header->counters[i] = UINT64_MAX;
    }
    return true;
}

static bool take_first(struct hp_merge_header *header, const struct hp_profile *profile) {
    header->n_sample_types = profile->n_sample_types;
    header->is_common = hp_memory_new(profile->n_sample_types, sizeof *header->is_common);
    header->column = hp_memory_new(profile->n_sample_types, sizeof *header->column);
    header->sample_types =
        hp_pool_calloc(header->pool, profile->n_sample_types, sizeof *header->sample_types);
    if (header->sample_types == NULL || !copy_type(header, &profile->period_type, &header->period_type))
        return false;
    for (size_t i = 0; i < profile->n_sample_types; i++) {
        header->is_common[i] = true;
        if (!copy_type(header, &profile->sample_types[i], &header->sample_types[i]))
            return false;
    }
    return copy_string(header, profile->default_sample_type, &header->default_sample_type) &&
           copy_string(header, profile->drop_frames, &header->drop_frames) &&
           copy_string(header, profile->keep_frames, &header->keep_frames) &&
           copy_string(header, profile->doc_url, &header->doc_url);
}

static bool find_columns(struct hp_merge_header *header, const struct hp_profile *profile,
                         struct hp_error *error) {
    bool any = false;
    for (size_t i = 0; i < header->n_sample_types; i++) {
        const struct hp_value_type *type = &header->sample_types[i];
        int place = hp_profile_find_type(profile, type->type);
        header->column[i] = place >= 0 ? (size_t)place : SIZE_MAX;
        if (place >= 0 && strcmp(profile->sample_types[place].unit, type->unit) != 0)
            return hp_error_set(error, "has %s in %s, the first profile in %s: they don't add up", type->type,
                                profile->sample_types[place].unit, type->unit);
        header->is_common[i] &= place >= 0;
        any |= header->is_common[i];
    }
    return any || hp_error_set(error, "has none of the sample types that the profiles before it share");
}

/* "space/bytes"; malloc'ed. */
static char *type_text(const struct hp_value_type *type) {
    return type->type[0] != '\0' ? hp_memory_format("%s/%s", type->type, type->unit)
                                 : hp_memory_format("nothing that is said");
}

static bool check_period(const struct hp_merge_header *header, const struct hp_profile *profile,
                         struct hp_error *error) {
    const struct hp_value_type *first = &header->period_type, *now = &profile->period_type;
    if (strcmp(first->type, now->type) == 0 && strcmp(first->unit, now->unit) == 0)
        return true;
    char *first_text = type_text(first), *now_text = type_text(now);
    hp_error_set(error, "was sampled by %s, the first profile by %s: they don't add up", now_text,
                 first_text);
    free(first_text);
    free(now_text);
    return false;
}

static void take_times(struct hp_merge_header *header, const struct hp_profile *profile) {
    int64_t time = profile->time_nanos;
    if (time != 0 && (header->first_time == 0 || time < header->first_time))
        header->first_time = time;
    if (time > header->last_time)
        header->last_time = time;
    header->duration = hp_profile_add(header->duration, profile->duration_nanos);
}

bool hp_merge_header_add(struct hp_merge_header *header, const struct hp_profile *profile, bool is_added,
                         struct hp_error *error) {
    if (header->n_profiles == 0 && !take_first(header, profile))
        return is_too_large(error);
    if (!check_period(header, profile, error) || !find_columns(header, profile, error))
        return false;
    header->n_profiles++;
    header->period = profile->period > header->period ? profile->period : header->period;
    if (!is_added)
        return true;
    if (!take_comments(header, profile))
        return is_too_large(error);
    take_times(header, profile);
    header->n_added++;
    return true;
}

/* "merged: 3 profiles, TIME to TIME"; the first time is the profile's own, the last one is lost otherwise. */
static bool note_merge(struct hp_merge_header *header) {
    char from[HP_TEXT_NUMBER], to[HP_TEXT_NUMBER];
    if (header->n_added < 2)
        return true;
    hp_text_time(from, header->first_time);
    hp_text_time(to, header->last_time);
    char *text = hp_memory_format("merged: %zu profiles%s%s%s%s", header->n_added, *from != '\0' ? ", " : "",
                                  from, *from != '\0' ? " to " : "", *from != '\0' ? to : "");
    bool done = add_comment(header, text, always);
    free(text);
    return done;
}

static bool note_counters(struct hp_merge_header *header) {
    for (size_t i = 0; i < HP_MERGE_COUNTERS; i++) {
        if (!header->has_counter[i])
            continue;
        char *text = hp_memory_format("%s: %" PRIu64, counter_keys[i], header->counters[i]);
        bool done = add_comment(header, text, always);
        free(text);
        if (!done)
            return false;
    }
    return true;
}

static bool finish_comments(struct hp_merge_header *header, struct hp_profile *profile) {
    if (!note_counters(header) || !note_merge(header))
        return false;
    profile->comments = hp_pool_calloc(header->pool, header->n_comments, sizeof *profile->comments);
    if (profile->comments == NULL)
        return false;
    for (size_t i = 0; i < header->n_comments; i++)
        if (header->comments[i].seen == always || header->comments[i].seen == header->n_added)
            profile->comments[profile->n_comments++] = header->comments[i].text;
    return true;
}

bool hp_merge_header_finish(struct hp_merge_header *header, struct hp_profile *profile) {
    profile->sample_types =
        hp_pool_calloc(header->pool, header->n_sample_types, sizeof *profile->sample_types);
    if (profile->sample_types == NULL || !finish_comments(header, profile))
        return false;
    for (size_t i = 0; i < header->n_sample_types; i++)
        if (header->is_common[i])
            profile->sample_types[profile->n_sample_types++] = header->sample_types[i];
    profile->period_type = header->period_type;
    profile->period = header->period;
    profile->time_nanos = header->first_time;
    profile->duration_nanos = header->duration;
    profile->drop_frames = header->drop_frames;
    profile->keep_frames = header->keep_frames;
    profile->doc_url = header->doc_url;
    profile->default_sample_type =
        hp_profile_find_type(profile, header->default_sample_type) >= 0 ? header->default_sample_type : "";
    return true;
}
