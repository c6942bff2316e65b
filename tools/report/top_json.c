#include "tools/report/top_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "tools/base/text.h"

/* The text, or null when there is none. */
static json_t *text_or_null(const char *text) {
    return text != NULL && *text != '\0' ? json_string(text) : json_null();
}

/* A path may be any bytes; JSON is UTF-8. */
static json_t *path_or_null(const char *path) {
    char *clean = path != NULL ? hp_text_clean(path) : NULL;
    json_t *json = text_or_null(clean);
    free(clean);
    return json;
}

static json_t *percent(int64_t part, int64_t whole) {
    return json_real(whole != 0 ? 100 * ((double)part / (double)whole) : 0);
}

static json_t *comments_of(const struct hp_profile *profile) {
    json_t *comments = json_array();
    for (size_t i = 0; i < profile->n_comments; i++)
        json_array_append_new(comments, json_string(profile->comments[i]));
    return comments;
}

static json_t *row_of(const struct hp_table_row *row, int64_t total) {
    json_t *json = json_object();
    json_object_set_new(json, "function", text_or_null(row->name));
    json_object_set_new(json, "file", text_or_null(row->file));
    json_object_set_new(json, "line", row->line > 0 ? json_integer(row->line) : json_null());
    json_object_set_new(json, "flat", json_integer(row->flat));
    json_object_set_new(json, "flat_percent", percent(row->flat, total));
    json_object_set_new(json, "cum", json_integer(row->cum));
    json_object_set_new(json, "cum_percent", percent(row->cum, total));
    return json;
}

static json_t *rows_of(const struct hp_top_report *report) {
    json_t *rows = json_array();
    for (size_t i = 0; i < hp_top_report_shown(report); i++)
        json_array_append_new(rows, row_of(&report->table->rows[i], report->table->total));
    return rows;
}

void hp_top_json(FILE *stream, const struct hp_top_report *report) {
    const struct hp_profile *profile = report->profile;
    const struct hp_value_type *type = &profile->sample_types[report->type];
    json_t *json = json_object();
    json_object_set_new(json, "version", json_integer(1));
    json_object_set_new(json, "profile", path_or_null(report->file));
    json_object_set_new(json, "base", path_or_null(report->base));
    json_object_set_new(json, "type", json_string(type->type));
    json_object_set_new(json, "unit", json_string(type->unit));
    json_object_set_new(json, "total", json_integer(report->table->total));
    json_object_set_new(json, "shown", json_integer(hp_profile_total(profile, report->type)));
    json_object_set_new(json, "stacks", json_integer((json_int_t)report->n_stacks));
    json_object_set_new(json, "stacks_shown", json_integer((json_int_t)profile->n_samples));
    json_object_set_new(json, "period", json_integer(profile->period));
    json_object_set_new(json, "time_nanos", json_integer(profile->time_nanos));
    json_object_set_new(json, "duration_nanos", json_integer(profile->duration_nanos));
    json_object_set_new(json, "comments", comments_of(profile));
    json_object_set_new(json, "rows", rows_of(report));
    json_object_set_new(json, "rows_left_out",
                        json_integer((json_int_t)(report->table->count - hp_top_report_shown(report))));
    json_dumpf(json, stream, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    json_decref(json);
    fputc('\n', stream);
}
