#include "tools/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/pool.h"

int hp_profile_find_type(const struct hp_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->n_sample_types; i++)
        if (strcmp(profile->sample_types[i].type, name) == 0)
            return (int)i;
    return -1;
}

size_t hp_profile_default_type(const struct hp_profile *profile) {
    int named = hp_profile_find_type(profile, profile->default_sample_type);
    return named >= 0 ? (size_t)named : profile->n_sample_types - 1;
}

int64_t hp_profile_add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

int64_t hp_profile_total(const struct hp_profile *profile, size_t type) {
    int64_t total = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        int64_t value = profile->samples[i].values[type];
        if (value < 0)
            value = value == INT64_MIN ? INT64_MAX : -value;
        total = hp_profile_add(total, value);
    }
    return total;
}

const char *hp_profile_comment(const struct hp_profile *profile, const char *key) {
    size_t length = strlen(key);
    for (size_t i = 0; i < profile->n_comments; i++) {
        const char *comment = profile->comments[i];
        if (strncmp(comment, key, length) == 0 && comment[length] == ':')
            return comment + length + 1 + strspn(comment + length + 1, " ");
    }
    return NULL;
}

bool hp_profile_comment_number(const struct hp_profile *profile, const char *key, uint64_t *number) {
    const char *text = hp_profile_comment(profile, key);
    if (text == NULL || *text < '0' || *text > '9')
        return false;
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *number = value;
    return true;
}

bool hp_location_is_remark(const struct hp_location *location) {
    return location->mapping == NULL && location->n_lines > 0 && location->lines[0].function->name[0] == '[';
}

void hp_profile_free(struct hp_profile *profile) {
    /* The profile itself lies in its pool. */
    if (profile != NULL)
        hp_pool_free(profile->pool);
}
