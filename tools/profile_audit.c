#include "profile_audit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void note(struct hp_audit *audit, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct hp_audit *audit, const char *format, ...) {
    if (audit->n_notes == HP_AUDIT_NOTES)
        return;
    struct hp_error *text = &audit->notes[audit->n_notes++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text->text, sizeof text->text, format, arguments);
    va_end(arguments);
}

static bool is_lower_hex(const char *text) {
    size_t length = strspn(text, "0123456789abcdef");
    return text[length] == '\0' && length % 2 == 0;
}

static bool check_mappings(const struct hp_profile *profile, struct hp_error *error) {
    for (size_t i = 0; i < profile->n_mappings; i++) {
        const struct hp_mapping *mapping = &profile->mappings[i];
        if (i == 0 && mapping->filename[0] == '\0')
            return hp_error_set(error,
                                "has a first mapping without a file name: it is to be the main binary");
        if (!is_lower_hex(mapping->build_id))
            return hp_error_set(error, "has mapping %zu with the build id %s, which is not lower-case hex",
                                i + 1, mapping->build_id);
    }
    return true;
}

static void measure_stacks(const struct hp_profile *profile, struct hp_audit *audit) {
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct hp_sample *sample = &profile->samples[i];
        size_t depth = 0;
        bool truncated = false;
        for (size_t at = 0; at < sample->n_locations; at++) {
            const struct hp_location *location = sample->locations[at];
            depth += location->n_lines > 0 ? location->n_lines : 1;
            truncated |= hp_location_is_remark(location) &&
                         strcmp(location->lines[0].function->name, "[truncated]") == 0;
        }
        audit->deepest = depth > audit->deepest ? depth : audit->deepest;
        audit->truncated += truncated;
    }
    for (size_t i = 0; i < profile->n_locations; i++)
        audit->symbolized += profile->locations[i].n_lines > 0;
}

static void note_samples(const struct hp_profile *profile, struct hp_audit *audit) {
    bool negative = false, empty = false;
    for (size_t i = 0; i < profile->n_samples; i++) {
        empty |= profile->samples[i].n_locations == 0;
        for (size_t type = 0; type < profile->n_sample_types; type++)
            negative |= profile->samples[i].values[type] < 0;
    }
    if (profile->n_samples == 0)
        note(audit, "has no samples");
    if (empty)
        note(audit, "has samples without a stack");
    if (negative)
        note(audit, "has negative values (a difference of two profiles?): Pyroscope drops such samples");
}

static void note_names(const struct hp_profile *profile, struct hp_audit *audit) {
    for (size_t i = 0; i < profile->n_sample_types; i++)
        if (strchr(profile->sample_types[i].type, '-') != NULL)
            note(audit, "has a \"-\" in the sample type %s: Pyroscope refuses it",
                 profile->sample_types[i].type);
    size_t nameless = 0;
    for (size_t i = 0; i < profile->n_locations; i++)
        nameless += profile->locations[i].mapping == NULL && profile->locations[i].n_lines == 0;
    if (nameless > 0)
        note(audit, "has %zu locations with neither a mapping nor a function", nameless);
}

bool hp_profile_audit(const struct hp_profile *profile, struct hp_audit *audit, struct hp_error *error) {
    *audit = (struct hp_audit){0};
    if (!check_mappings(profile, error))
        return false;
    measure_stacks(profile, audit);
    if (!profile->ids_sequential)
        note(audit, "has ids that do not count up from 1: Parca refuses it");
    note_samples(profile, audit);
    note_names(profile, audit);
    return true;
}
