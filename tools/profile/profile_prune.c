#include "tools/profile/profile_prune.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/profile/name_pattern.h"

enum verdict { KEEP, CUT_INSIDE, DROP }; /* CUT_INSIDE: only functions inlined there were dropped */

struct patterns {
    struct hp_name_pattern *drop, *keep; /* keep: may be NULL */
};

/* The name without its parameters; "operator()" and "(anonymous namespace)" are part of names. */
static char *plain_name(const char *name) {
    static const char *const reserved[] = {"operator()", "(anonymous namespace)"};
    name += *name == '.';
    size_t length = 0;
    for (bool ended = false; !ended;) {
        size_t step = name[length] != '\0' && name[length] != '(';
        for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
            if (strncmp(name + length, reserved[i], strlen(reserved[i])) == 0)
                step = strlen(reserved[i]);
        length += step;
        ended = step == 0;
    }
    return hp_memory_format("%.*s", (int)length, name);
}

static bool is_dropped(const struct patterns *patterns, const struct hp_function *function) {
    if (function->name[0] == '\0')
        return false;
    char *name = plain_name(function->name);
    bool dropped = hp_name_pattern_matches(patterns->drop, name) &&
                   (patterns->keep == NULL || !hp_name_pattern_matches(patterns->keep, name));
    free(name);
    return dropped;
}

/* Removes from the location the outermost dropped function and those inlined into it. */
static enum verdict judge(const struct patterns *patterns, struct hp_location *location) {
    for (size_t i = location->n_lines; i > 0; i--) {
        if (!is_dropped(patterns, location->lines[i - 1].function))
            continue;
        if (i == location->n_lines)
            return DROP;
        location->lines += i;
        location->n_lines -= i;
        return CUT_INSIDE;
    }
    return KEEP;
}

static void cut_stack(const struct hp_profile *profile, const uint8_t *verdicts, struct hp_sample *sample) {
    bool seen_user = false;
    for (size_t i = sample->n_locations; i > 0; i--) {
        uint8_t verdict = verdicts[sample->locations[i - 1] - profile->locations];
        if (verdict == KEEP) {
            seen_user = true;
            continue;
        }
        if (!seen_user)
            continue;
        size_t gone = verdict == DROP ? i : i - 1;
        sample->locations += gone;
        sample->n_locations -= gone;
        return;
    }
}

static bool compile(const struct hp_profile *profile, struct patterns *patterns) {
    *patterns = (struct patterns){.drop = hp_name_pattern_new(profile->drop_frames)};
    if (profile->keep_frames[0] != '\0')
        patterns->keep = hp_name_pattern_new(profile->keep_frames);
    return patterns->drop != NULL && (profile->keep_frames[0] == '\0' || patterns->keep != NULL);
}

bool hp_profile_prune(struct hp_profile *profile) {
    struct patterns patterns;
    if (profile->drop_frames[0] == '\0')
        return true;
    bool understood = compile(profile, &patterns);
    if (understood) {
        uint8_t *verdicts = hp_memory_new(profile->n_locations, sizeof *verdicts);
        for (size_t i = 0; i < profile->n_locations; i++)
            verdicts[i] = (uint8_t)judge(&patterns, &profile->locations[i]);
        for (size_t i = 0; i < profile->n_samples; i++)
            cut_stack(profile, verdicts, &profile->samples[i]);
        free(verdicts);
    }
    hp_name_pattern_free(patterns.drop);
    hp_name_pattern_free(patterns.keep);
    return understood;
}
