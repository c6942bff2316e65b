#include "top_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json_string.h"
#include "text.h"

static void print_text(FILE *stream, const char *key, const char *text) {
    fprintf(stream, "\"%s\": ", key);
    if (text != NULL && *text != '\0')
        hp_json_string(stream, text);
    else
        fputs("null", stream);
}

/* A path may be any bytes; JSON is UTF-8. */
static void print_path(FILE *stream, const char *key, const char *path) {
    char *clean = path != NULL ? hp_text_clean(path) : NULL;
    print_text(stream, key, clean);
    free(clean);
}

static void print_number(FILE *stream, const char *key, int64_t number) {
    fprintf(stream, "\"%s\": %" PRId64, key, number);
}

static void print_header(FILE *stream, const struct hp_top_report *report) {
    const struct hp_profile *profile = report->profile;
    const struct hp_value_type *type = &profile->sample_types[report->type];
    fputs("{\"version\": 1,\n ", stream);
    print_path(stream, "profile", report->file);
    fputs(", ", stream);
    print_path(stream, "base", report->base);
    fputs(",\n ", stream);
    print_text(stream, "type", type->type);
    fputs(", ", stream);
    print_text(stream, "unit", type->unit);
    fputs(",\n ", stream);
    print_number(stream, "total", report->table->total);
    fputs(", ", stream);
    print_number(stream, "shown", hp_profile_total(profile, report->type));
    fprintf(stream, ", \"stacks\": %zu, \"stacks_shown\": %zu,\n ", report->n_stacks, profile->n_samples);
    print_number(stream, "period", profile->period);
    fputs(", ", stream);
    print_number(stream, "time_nanos", profile->time_nanos);
    fputs(", ", stream);
    print_number(stream, "duration_nanos", profile->duration_nanos);
    fputs(",\n \"comments\": [", stream);
    for (size_t i = 0; i < profile->n_comments; i++) {
        fputs(i == 0 ? "" : ", ", stream);
        hp_json_string(stream, profile->comments[i]);
    }
    fputs("],\n", stream);
}

static void print_share(FILE *stream, const char *key, int64_t part, int64_t whole) {
    fprintf(stream, ", \"%s\": %.4f", key, whole != 0 ? 100 * ((double)part / (double)whole) : 0.0);
}

static void print_row(FILE *stream, const struct hp_top_report *report, const struct hp_table_row *row) {
    fputs("  {", stream);
    print_text(stream, "function", row->name);
    fputs(", ", stream);
    print_text(stream, "file", row->file);
    if (row->line > 0)
        fprintf(stream, ", \"line\": %" PRId64 ", ", row->line);
    else
        fputs(", \"line\": null, ", stream);
    print_number(stream, "flat", row->flat);
    print_share(stream, "flat_percent", row->flat, report->table->total);
    fputs(", ", stream);
    print_number(stream, "cum", row->cum);
    print_share(stream, "cum_percent", row->cum, report->table->total);
    fputc('}', stream);
}

void hp_top_json(FILE *stream, const struct hp_top_report *report) {
    size_t count = hp_top_report_shown(report);
    print_header(stream, report);
    fputs(" \"rows\": [", stream);
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "\n" : ",\n", stream);
        print_row(stream, report, &report->table->rows[i]);
    }
    fprintf(stream, "],\n \"rows_left_out\": %zu}\n", report->table->count - count);
}
