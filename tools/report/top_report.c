#include "tools/report/top_report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/symbols/short_name.h"
#include "tools/base/text.h"

enum {
    NUMBERS = 38,     /* columns before the function's name */
    GAP = 2,          /* between name and place */
    USUAL_NAME = 44,  /* the name's column where nothing limits it; longer names stick out */
    LEAST_PLACE = 16, /* of a terminal's columns; a longer place gets what its name leaves */
    LEAST_ROOM = 40   /* for name and place: a narrower terminal wraps */
};

/* The columns of a terminal for name and place; 0: no limit. */
static size_t room_of(const struct hp_top_report *report) {
    if (report->width == 0)
        return 0;
    return report->width > NUMBERS + LEAST_ROOM ? report->width - NUMBERS : LEAST_ROOM;
}

static void print_who(FILE *stream, const struct hp_profile *profile) {
    char time[HP_TEXT_NUMBER];
    const char *service = hp_profile_comment(profile, "service");
    const char *reason = hp_profile_comment(profile, "reason");
    const char *merged = hp_profile_comment(profile, "merged"); /* how many, from when to when */
    const char *parts[] = {service, reason,
                           merged != NULL ? merged : hp_text_time(time, profile->time_nanos)};
    bool first = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == NULL || *parts[i] == '\0')
            continue;
        char *clean = hp_text_clean(parts[i]);
        fprintf(stream, "%s%s", first ? "" : ", ", clean);
        free(clean);
        first = false;
    }
    if (!first)
        fputc('\n', stream);
}

static int64_t as_value(uint64_t number) {
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

static void print_usage(FILE *stream, const struct hp_top_report *report) {
    char used[HP_TEXT_NUMBER], most[HP_TEXT_NUMBER], share[HP_TEXT_NUMBER];
    uint64_t usage = 0, limit = 0;
    if (!hp_profile_comment_number(report->profile, "usage", &usage))
        return;
    fprintf(stream, "usage %s", hp_text_value(used, as_value(usage), "bytes", report->exact));
    if (hp_profile_comment_number(report->profile, "limit", &limit))
        fprintf(stream, " of %s (%s)", hp_text_value(most, as_value(limit), "bytes", report->exact),
                hp_text_share(share, as_value(usage), as_value(limit)));
    fputc('\n', stream);
    const char *source = hp_profile_comment(report->profile, "limit source");
    if (source != NULL && *source != '\0') {
        char *clean = hp_text_clean(source);
        fprintf(stream, "limit from %s\n", clean);
        free(clean);
    }
}

static void print_lost(FILE *stream, const struct hp_profile *profile) {
    uint64_t lost = 0, truncated = 0;
    if (hp_profile_comment_number(profile, "samples lost", &lost) && lost > 0)
        fprintf(stream, "%llu samples were lost: the numbers are too low\n", (unsigned long long)lost);
    if (hp_profile_comment_number(profile, "stacks truncated", &truncated) && truncated > 0)
        fprintf(stream, "%llu stacks were too deep: their outer frames are missing\n",
                (unsigned long long)truncated);
}

/* A value with its unit, "3 count" or "1.2 MiB"; malloc'ed. */
static char *amount(const struct hp_top_report *report, int64_t value) {
    char number[HP_TEXT_NUMBER];
    const char *unit = report->profile->sample_types[report->type].unit;
    hp_text_value(number, value, unit, report->exact);
    if (strcmp(unit, "bytes") == 0 && !report->exact)
        return hp_memory_format("%s", number);
    char *clean = hp_text_clean(unit), *text = hp_memory_format("%s %s", number, clean);
    free(clean);
    return text;
}

/* Of a difference: what became more, and what less. */
static void print_change(FILE *stream, const struct hp_top_report *report) {
    const struct hp_profile *profile = report->profile;
    int64_t more = 0, less = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        int64_t value = profile->samples[i].values[report->type];
        more = hp_profile_add(more, value > 0 ? value : 0);
        less = hp_profile_add(less, value < 0 ? value : 0);
    }
    char *grown = amount(report, more), *shrunk = amount(report, less == INT64_MIN ? INT64_MAX : -less);
    fprintf(stream, "%s more, %s less", grown, shrunk);
    free(grown);
    free(shrunk);
}

/* The base's name may be long: on a terminal it gets what is left of a line. */
static void print_base(FILE *stream, const struct hp_top_report *report, const char *total) {
    char *rest = hp_memory_format("; %% of the %s that changed", total);
    size_t taken = strlen("compared with ") + strlen(rest);
    char *base = report->width > taken + 5 ? hp_text_fit(report->base, report->width - taken)
                                           : hp_text_clean(report->base);
    fprintf(stream, "compared with %s%s\n", base, rest);
    free(base);
    free(rest);
}

static void print_total(FILE *stream, const struct hp_top_report *report) {
    char period[HP_TEXT_NUMBER];
    const struct hp_profile *profile = report->profile;
    char *name = hp_text_clean(profile->sample_types[report->type].type);
    char *total = amount(report, report->table->total);
    bool is_part = profile->n_samples < report->n_stacks;
    fprintf(stream, "%s: ", name);
    if (report->base != NULL) {
        print_change(stream, report);
    } else if (is_part) {
        char *shown = amount(report, hp_profile_total(profile, report->type));
        fprintf(stream, "%s of %s", shown, total);
        free(shown);
    } else {
        fputs(total, stream);
    }
    fprintf(stream, " in %zu ", profile->n_samples);
    if (is_part)
        fprintf(stream, "of %zu ", report->n_stacks);
    fputs("stacks", stream);
    if (profile->period > 1 && strcmp(profile->period_type.unit, "bytes") == 0)
        fprintf(stream, ", a sample every %s", hp_text_value(period, profile->period, "bytes", false));
    fputc('\n', stream);
    if (report->base != NULL)
        print_base(stream, report, total);
    free(total);
    free(name);
}

void hp_top_report_header(FILE *stream, const struct hp_top_report *report) {
    print_who(stream, report->profile);
    print_usage(stream, report);
    print_total(stream, report);
    print_lost(stream, report->profile);
    fputc('\n', stream);
}

/* "file:line"; only the file's name where columns are scarce. The caller frees it. */
static char *where(const struct hp_top_report *report, const struct hp_table_row *row) {
    const char *file = row->file, *slash = strrchr(file, '/');
    if (report->width > 0 && slash != NULL)
        file = slash + 1;
    char *text = *file == '\0'   ? hp_memory_format("%s", "")
                 : row->line > 0 ? hp_memory_format("%s:%lld", file, (long long)row->line)
                                 : hp_memory_format("%s", file);
    char *clean = hp_text_clean(text);
    free(text);
    return clean;
}

size_t hp_top_report_shown(const struct hp_top_report *report) {
    size_t count = report->table->count;
    return report->most_rows > 0 && report->most_rows < count ? report->most_rows : count;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* The column of names: as wide as the longest one shown, as far as there is room. */
static size_t name_width(const struct hp_top_report *report) {
    size_t longest = strlen("function"), places = strlen("line");
    for (size_t i = 0; i < hp_top_report_shown(report); i++) {
        char *place = where(report, &report->table->rows[i]);
        char *name = hp_text_clean(report->table->rows[i].name);
        longest = larger(hp_text_width(name), longest);
        places = larger(hp_text_width(place), places);
        free(name);
        free(place);
    }
    size_t room = room_of(report);
    return smaller(longest, room > 0 ? room - GAP - smaller(places, LEAST_PLACE) : USUAL_NAME);
}

/* Name and place, in their columns where they fit; a long name may take what a short place leaves. */
static void print_function(FILE *stream, const struct hp_top_report *report, const struct hp_table_row *row,
                           size_t names) {
    size_t room = room_of(report);
    char *place = where(report, row);
    size_t gap = *place != '\0' ? GAP : 0, place_width = hp_text_width(place);
    size_t left = room > gap + place_width ? room - gap - place_width : 0;
    char *name = room > 0 ? hp_short_name(row->name, larger(names, left)) : hp_text_clean(row->name);
    if (*place == '\0') {
        fprintf(stream, "%s\n", name);
    } else {
        size_t column = larger(hp_text_width(name), names);
        char *fitted = room > 0 ? hp_text_fit(place, larger(room - smaller(room, column + gap), 5)) : NULL;
        fprintf(stream, "%s%*s%s\n", name, (int)(column - hp_text_width(name) + gap), "",
                fitted != NULL ? fitted : place);
        free(fitted);
    }
    free(place);
    free(name);
}

static void print_row(FILE *stream, const struct hp_top_report *report, const struct hp_table_row *row,
                      size_t names) {
    char flat[HP_TEXT_NUMBER], cum[HP_TEXT_NUMBER], flat_share[HP_TEXT_NUMBER], cum_share[HP_TEXT_NUMBER];
    const char *unit = report->profile->sample_types[report->type].unit;
    fprintf(stream, "%10s %6s  %10s %6s  ", hp_text_value(flat, row->flat, unit, report->exact),
            hp_text_share(flat_share, row->flat, report->table->total),
            hp_text_value(cum, row->cum, unit, report->exact),
            hp_text_share(cum_share, row->cum, report->table->total));
    print_function(stream, report, row, names);
}

void hp_top_report_rows(FILE *stream, const struct hp_top_report *report) {
    size_t names = name_width(report), count = hp_top_report_shown(report);
    fprintf(stream, "%10s %6s  %10s %6s  %-*s%*s%s\n", "flat", "flat%", "cum", "cum%", (int)names, "function",
            GAP, "", report->by_line ? "line" : "at");
    for (size_t i = 0; i < count; i++)
        print_row(stream, report, &report->table->rows[i], names);
    if (count < report->table->count)
        fprintf(stream, "... %zu more %s (-n 0 shows all)\n", report->table->count - count,
                report->by_line ? "lines" : "functions");
}
