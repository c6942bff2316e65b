#include "tools/profile/profile_audit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/profile/name_pattern.h"

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

static bool check_numbers(const struct hp_profile *profile, struct hp_error *error) {
    const struct {
        const char *what;
        int64_t value;
    } numbers[] = {{"a period", profile->period},
                   {"a time", profile->time_nanos},
                   {"a duration", profile->duration_nanos}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value < 0)
            return hp_error_set(error, "has %s of %" PRId64, numbers[i].what, numbers[i].value);
    for (size_t i = 0; i < profile->n_sample_types; i++)
        if (profile->sample_types[i].unit[0] == '\0')
            return hp_error_set(error, "has the sample type %s without a unit",
                                profile->sample_types[i].type);
    return true;
}

static bool check_lines(const struct hp_profile *profile, struct hp_error *error) {
    for (size_t i = 0; i < profile->n_locations; i++) {
        const struct hp_location *location = &profile->locations[i];
        for (size_t at = 0; at < location->n_lines; at++) {
            const struct hp_line *line = &location->lines[at];
            if (line->line < 0 || line->column < 0 || line->function->start_line < 0)
                return hp_error_set(error, "has location %zu in a negative line or column", i + 1);
            if (line->function->name[0] == '\0' && line->function->system_name[0] == '\0')
                return hp_error_set(error, "has location %zu in a function without a name", i + 1);
        }
    }
    return true;
}

static bool check_labels(const struct hp_profile *profile, struct hp_error *error) {
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct hp_sample *sample = &profile->samples[i];
        for (size_t at = 0; at < sample->n_labels; at++) {
            const struct hp_label *label = &sample->labels[at];
            if (label->key[0] == '\0')
                return hp_error_set(error, "has sample %zu with a label without a key", i + 1);
            if (strncmp(label->key, "pprof::", strlen("pprof::")) == 0 &&
                strcmp(label->key, "pprof::base") != 0)
                return hp_error_set(error, "has sample %zu with the label %s: pprof:: is reserved", i + 1,
                                    label->key);
            if (label->text[0] != '\0' && (label->number != 0 || label->unit[0] != '\0'))
                return hp_error_set(error, "has sample %zu with the label %s, which is a text and a number",
                                    i + 1, label->key);
        }
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

static void measure_unused(const struct hp_profile *profile, struct hp_audit *audit) {
    uint8_t *locations = hp_memory_new(profile->n_locations, 1),
            *mappings = hp_memory_new(profile->n_mappings, 1);
    for (size_t i = 0; i < profile->n_samples; i++)
        for (size_t at = 0; at < profile->samples[i].n_locations; at++)
            locations[profile->samples[i].locations[at] - profile->locations] = 1;
    for (size_t i = 0; i < profile->n_locations; i++) {
        audit->unused_locations += locations[i] == 0;
        if (locations[i] != 0 && profile->locations[i].mapping != NULL)
            mappings[profile->locations[i].mapping - profile->mappings] = 1;
    }
    for (size_t i = 1; i < profile->n_mappings; i++)
        audit->unused_mappings += mappings[i] == 0;
    free(locations);
    free(mappings);
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
    if (profile->period != 0 && profile->period_type.type[0] == '\0')
        note(audit, "has a period without a type");
    if (profile->drop_frames[0] != '\0') {
        struct hp_name_pattern *pattern = hp_name_pattern_new(profile->drop_frames);
        if (pattern == NULL)
            note(audit, "has a drop_frames pattern that is not understood; pprof ignores an invalid one");
        hp_name_pattern_free(pattern);
    }
}

/* pprof cuts (...) and <...> off a name that it takes for a demangled one. */
static bool pprof_shortens(const struct hp_function *function) {
    const char *name = function->name;
    return strcmp(name, function->system_name) == 0 && strstr(name, "::") != NULL &&
           strpbrk(name, "(<") != NULL;
}

static void note_locations(const struct hp_profile *profile, struct hp_audit *audit) {
    size_t nameless = 0, shortened = 0;
    for (size_t i = 0; i < profile->n_locations; i++) {
        const struct hp_location *location = &profile->locations[i];
        nameless += location->mapping == NULL && location->n_lines == 0;
        for (size_t at = 0; at < location->n_lines; at++)
            shortened += pprof_shortens(location->lines[at].function);
    }
    if (nameless > 0)
        note(audit, "has %zu locations with neither a mapping nor a function", nameless);
    if (shortened > 0)
        note(audit, "has %zu lines in functions whose system name is demangled: pprof shortens their names",
             shortened);
}

static bool is_marked(const struct hp_mapping *mapping) {
    return mapping->has_functions || mapping->has_filenames || mapping->has_line_numbers;
}

static void note_mappings(const struct hp_profile *profile, struct hp_audit *audit) {
    static const char deleted[] = " (deleted)";
    for (size_t i = 0; i < profile->n_mappings; i++) {
        const struct hp_mapping *mapping = &profile->mappings[i];
        size_t length = strlen(mapping->filename), end = sizeof deleted - 1;
        if (length > end && strcmp(mapping->filename + length - end, deleted) == 0)
            note(audit, "has mapping %zu named with \"(deleted)\": no reader finds its file", i + 1);
        if ((mapping->start - mapping->offset) % 4096 != 0)
            note(audit, "has mapping %zu with a file offset that is not where its start is in a page", i + 1);
        if (mapping->limit != 0 && mapping->limit == mapping->start)
            note(audit, "has mapping %zu without a size", i + 1);
    }
    for (size_t i = 0; i < profile->n_locations; i++) {
        const struct hp_location *location = &profile->locations[i];
        if (location->mapping == NULL || location->n_lines > 0 || !is_marked(location->mapping))
            continue;
        note(
            audit,
            "has locations without symbols in mapping %zu, which is marked as symbolized: pprof leaves it so",
            (size_t)(location->mapping - profile->mappings) + 1);
        break;
    }
}

static void note_labels(const struct hp_profile *profile, struct hp_audit *audit) {
    for (size_t i = 0; i < profile->n_samples; i++) {
        for (size_t at = 0; at < profile->samples[i].n_labels; at++) {
            const struct hp_label *label = &profile->samples[i].labels[at];
            if (label->text[0] != '\0' || label->number != 0 || label->unit[0] != '\0')
                continue;
            note(audit, "has the label %s as a number 0 without a unit: pprof does not see it", label->key);
            return;
        }
    }
}

bool hp_profile_audit(const struct hp_profile *profile, struct hp_audit *audit, struct hp_error *error) {
    *audit = (struct hp_audit){0};
    if (!check_numbers(profile, error) || !check_mappings(profile, error) || !check_lines(profile, error) ||
        !check_labels(profile, error))
        return false;
    measure_stacks(profile, audit);
    measure_unused(profile, audit);
    if (!profile->ids_sequential)
        note(audit, "has ids that do not count up from 1: Parca refuses it");
    note_samples(profile, audit);
    note_labels(profile, audit);
    note_names(profile, audit);
    note_locations(profile, audit);
    note_mappings(profile, audit);
    return true;
}
