#include "tools/profile/profile_filter.h"

#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

enum { LONGEST = 4096 }; /* of a longer name only so many bytes count: the file may be hostile */

struct hp_frame_pattern {
    regex_t regex;
};

struct hp_frame_pattern *hp_frame_pattern_new(const char *text, struct hp_error *error) {
    struct hp_frame_pattern *pattern = hp_memory_new(1, sizeof *pattern);
    int code = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return pattern;
    char message[128];
    regerror(code, &pattern->regex, message, sizeof message);
    hp_error_set(error, "%s", message);
    free(pattern);
    return NULL;
}

void hp_frame_pattern_free(struct hp_frame_pattern *pattern) {
    if (pattern == NULL)
        return;
    regfree(&pattern->regex);
    free(pattern);
}

static bool matches(const struct hp_frame_pattern *pattern, const char *text) {
    regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)strnlen(text, LONGEST)};
    return regexec(&pattern->regex, text, 1, &range, REG_STARTEND) == 0;
}

static bool location_matches(const struct hp_frame_pattern *pattern, const struct hp_location *location) {
    for (size_t i = 0; i < location->n_lines; i++) {
        const struct hp_function *function = location->lines[i].function;
        if (matches(pattern, function->name) || matches(pattern, function->filename))
            return true;
    }
    return location->mapping != NULL && matches(pattern, location->mapping->filename);
}

enum verdict { INDIFFERENT, FOCUSED, IGNORED };

static enum verdict judge(const struct hp_location *location, const struct hp_frame_pattern *focus,
                          const struct hp_frame_pattern *ignore) {
    if (ignore != NULL && location_matches(ignore, location))
        return IGNORED;
    return focus == NULL || location_matches(focus, location) ? FOCUSED : INDIFFERENT;
}

static bool stays(const struct hp_profile *profile, const uint8_t *verdicts, const struct hp_sample *sample) {
    bool focused = false;
    for (size_t i = 0; i < sample->n_locations; i++) {
        uint8_t verdict = verdicts[sample->locations[i] - profile->locations];
        if (verdict == IGNORED)
            return false;
        focused |= verdict == FOCUSED;
    }
    return focused;
}

void hp_profile_filter(struct hp_profile *profile, const struct hp_frame_pattern *focus,
                       const struct hp_frame_pattern *ignore) {
    if (focus == NULL && ignore == NULL)
        return;
    uint8_t *verdicts = hp_memory_new(profile->n_locations, sizeof *verdicts);
    for (size_t i = 0; i < profile->n_locations; i++)
        verdicts[i] = (uint8_t)judge(&profile->locations[i], focus, ignore);
    size_t kept = 0;
    for (size_t i = 0; i < profile->n_samples; i++)
        if (stays(profile, verdicts, &profile->samples[i]))
            profile->samples[kept++] = profile->samples[i];
    profile->n_samples = kept;
    free(verdicts);
}
