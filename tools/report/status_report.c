#include "tools/report/status_report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

enum { WIDTH = 80, SERVICE_WIDTH = 12, SERVICE_WIDEST = 40, BUILD_ID = 8, INDENT = 12 };

static const char *bytes(char buffer[HP_TEXT_NUMBER], uint64_t value) {
    return hp_text_value(buffer, value <= INT64_MAX ? (int64_t)value : INT64_MAX, "bytes", false);
}

static const char *maybe_bytes(char buffer[HP_TEXT_NUMBER], struct hp_maybe value, const char *otherwise) {
    return value.is_known ? bytes(buffer, value.value) : otherwise;
}

/* value of whole, in percent; at most 3 digits before the point. */
static const char *share(char buffer[HP_TEXT_NUMBER], uint64_t value, struct hp_maybe whole) {
    if (!whole.is_known || whole.value == 0)
        return "-";
    snprintf(buffer, HP_TEXT_NUMBER, "%.1f%%", 100 * ((double)value / (double)whole.value));
    return buffer;
}

/* "2026-12-01T17:20:03.123Z" as "2026-12-01 17:20:03 UTC"; anything else, cleaned, as it is. The caller frees
 * it. */
static char *time_text(const char *time) {
    char *clean = hp_text_clean(time);
    size_t length = strlen(clean);
    if (length != sizeof "2026-12-01T17:20:03.123Z" - 1 || clean[10] != 'T' || clean[19] != '.')
        return clean;
    char *shown = hp_memory_format("%.10s %.8s UTC", clean, clean + 11);
    free(clean);
    return shown;
}

/* -- The table -- */

static void table_row(FILE *stream, const struct hp_status_row *row, size_t service_width) {
    char usage[HP_TEXT_NUMBER], limit[HP_TEXT_NUMBER], headroom[HP_TEXT_NUMBER], period[HP_TEXT_NUMBER];
    const struct hp_process_state *state = row->state;
    char *service = hp_text_fit(state->service, service_width);
    char *build_id = hp_text_clean(state->build_id);
    fprintf(stream, "%7d  %s%*s  %-*.*s %10s %10s %10s %9s %5llu\n", row->process->pid, service,
            (int)(service_width - hp_text_width(service)), "", BUILD_ID, BUILD_ID,
            *build_id != '\0' ? build_id : "-", maybe_bytes(usage, state->usage, "?"),
            maybe_bytes(limit, state->limit, "none"), maybe_bytes(headroom, state->headroom, "-"),
            bytes(period, state->period), (unsigned long long)state->dumps);
    free(build_id);
    free(service);
}

static size_t widest_service(const struct hp_status_row *rows, size_t count, size_t width) {
    size_t widest = SERVICE_WIDTH, room = SERVICE_WIDTH + (width > WIDTH ? width - WIDTH : 0);
    for (size_t i = 0; i < count; i++) {
        size_t needed =
            hp_text_width(rows[i].state != NULL ? rows[i].state->service : rows[i].process->service);
        widest = needed > widest ? needed : widest;
    }
    room = room < SERVICE_WIDEST ? room : SERVICE_WIDEST;
    return widest < room ? widest : room;
}

void hp_status_table(FILE *stream, const struct hp_status_row *rows, size_t count, size_t width) {
    size_t service_width = widest_service(rows, count, width);
    bool has_head = false;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].state == NULL)
            continue;
        if (!has_head)
            fprintf(stream, "%7s  %-*s  %-*s %10s %10s %10s %9s %5s\n", "PID", (int)service_width, "SERVICE",
                    BUILD_ID, "BUILD ID", "USAGE", "LIMIT", "HEADROOM", "SAMPLING", "DUMPS");
        has_head = true;
        table_row(stream, &rows[i], service_width);
    }
    for (size_t i = 0; i < count; i++) {
        if (rows[i].state != NULL)
            continue;
        char *service = hp_text_fit(rows[i].process->service, service_width);
        char *why = hp_text_clean(rows[i].why);
        fprintf(stream, "%7d  %s%*s  ", rows[i].process->pid, service,
                (int)(service_width - hp_text_width(service)), "");
        hp_text_wrap(stream, why, 7 + 2 + service_width + 2, WIDTH > width ? WIDTH : width);
        free(why);
        free(service);
    }
}

/* -- One process -- */

/* "name        text", wrapped. Takes the text. */
static void line(FILE *stream, const char *name, char *text) {
    char *clean = hp_text_clean(text);
    fprintf(stream, "%-*s", INDENT, name);
    hp_text_wrap(stream, clean, INDENT, WIDTH);
    free(clean);
    free(text);
}

static void show_identity(FILE *stream, const struct hp_process_state *state, int pid) {
    char *start = time_text(state->start);
    char *text = pid == 0 || (uint64_t)pid == state->pid
                     ? hp_memory_format("%s, pid %llu on %s, since %s", state->service,
                                        (unsigned long long)state->pid, state->host, start)
                     : hp_memory_format("%s, pid %d (%llu in its container) on %s, since %s", state->service,
                                        pid, (unsigned long long)state->pid, state->host, start);
    char *clean = hp_text_clean(text);
    hp_text_wrap(stream, clean, 0, WIDTH);
    free(clean);
    free(text);
    free(start);
    line(stream, "program", hp_memory_format("%s", state->program));
    if (*state->build_id != '\0')
        line(stream, "build id", hp_memory_format("%s", state->build_id));
}

static void show_memory(FILE *stream, const struct hp_process_state *state) {
    char usage[HP_TEXT_NUMBER], limit[HP_TEXT_NUMBER], part[HP_TEXT_NUMBER], headroom[HP_TEXT_NUMBER];
    fputc('\n', stream);
    if (!state->limit.is_known) {
        line(stream, "usage",
             hp_memory_format("%s; no limit is watched", maybe_bytes(usage, state->usage, "?")));
        return;
    }
    line(stream, "usage",
         hp_memory_format("%s of %s (%s), %s left", maybe_bytes(usage, state->usage, "?"),
                          bytes(limit, state->limit.value), share(part, state->usage.value, state->limit),
                          maybe_bytes(headroom, state->headroom, "?")));
    line(stream, "peak",
         hp_memory_format("%s (%s)", maybe_bytes(usage, state->peak, "?"),
                          share(part, state->peak.value, state->limit)));
    line(stream, "limit", hp_memory_format("%s", state->source));
}

static void show_percentiles(FILE *stream, const struct hp_process_state *state) {
    static const char *const names[HP_STATE_PERCENTILES] = {"P50", "P90", "P99", "P99.9", "max"};
    if (!state->has_percentiles)
        return;
    uint64_t s = state->watched_seconds;
    fprintf(stream, "\nusage in the %llu:%02llu:%02llu watched\n", (unsigned long long)(s / 3600),
            (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
    for (int i = 0; i < HP_STATE_PERCENTILES; i++) {
        char value[HP_TEXT_NUMBER], part[HP_TEXT_NUMBER];
        fprintf(stream, "  %-8s%12s %7s\n", names[i], bytes(value, state->percentiles[i]),
                share(part, state->percentiles[i], state->limit));
    }
}

static void show_threshold(FILE *stream, const struct hp_state_threshold *threshold) {
    char at[HP_TEXT_NUMBER], usage[HP_TEXT_NUMBER];
    fprintf(stream, "  %3llu %%%11s", (unsigned long long)threshold->percent, bytes(at, threshold->bytes));
    if (threshold->last_time != NULL) {
        char *last = time_text(threshold->last_time);
        char *fitted = hp_text_fit(last, sizeof "2026-12-01 17:20:03 UTC" - 1);
        fprintf(stream, "  %llu x  %s at %s%s\n", (unsigned long long)threshold->fired, fitted,
                maybe_bytes(usage, threshold->last_usage, "?"), threshold->is_armed ? "" : ", still");
        free(fitted);
        free(last);
    } else {
        fputs("  never\n", stream);
    }
}

static void show_limits(FILE *stream, const struct hp_process_state *state) {
    for (size_t i = 0; i < state->n_limits; i++) {
        const struct hp_state_limit *limit = &state->limits[i];
        char usage[HP_TEXT_NUMBER], most[HP_TEXT_NUMBER];
        char *text = hp_memory_format("thresholds of %s%s, %s of %s", limit->source,
                                      limit->kills ? "" : " (warns only)", bytes(usage, limit->usage),
                                      bytes(most, limit->limit));
        char *clean = hp_text_clean(text);
        fputc('\n', stream);
        hp_text_wrap(stream, clean, 0, WIDTH);
        free(clean);
        free(text);
        for (size_t n = 0; n < limit->n_thresholds; n++)
            show_threshold(stream, &limit->thresholds[n]);
    }
}

static void show_dumps(FILE *stream, const struct hp_process_state *state) {
    char size[HP_TEXT_NUMBER], memory[HP_TEXT_NUMBER];
    fputc('\n', stream);
    line(stream, "dumps",
         hp_memory_format("%llu, %llu failed, in %s", (unsigned long long)state->dumps,
                          (unsigned long long)state->failed_dumps, state->dump_folder));
    if (!state->has_last_dump)
        return;
    char *time = time_text(state->last_dump_time);
    line(stream, "last dump", hp_memory_format("%s", state->last_dump_path));
    line(stream, "", hp_memory_format("%s at %s", state->last_dump_reason, time));
    line(stream, "",
         hp_memory_format("%s in %llu ms, which touched %s of fresh memory",
                          bytes(size, state->last_dump_bytes), (unsigned long long)state->last_dump_ms,
                          maybe_bytes(memory, state->last_dump_memory, "?")));
    free(time);
}

static void show_samples(FILE *stream, const struct hp_process_state *state) {
    char period[HP_TEXT_NUMBER], lost[HP_TEXT_NUMBER], mapped[HP_TEXT_NUMBER];
    line(stream, "samples",
         hp_memory_format("%llu, one every %s; %llu alive; %llu stacks, %llu cut short",
                          (unsigned long long)state->samples, bytes(period, state->period),
                          (unsigned long long)state->live_samples, (unsigned long long)state->stacks,
                          (unsigned long long)state->stacks_truncated));
    line(stream, "lost",
         state->samples_lost == 0
             ? hp_memory_format("nothing")
             : hp_memory_format("%llu samples, which stand for %s", (unsigned long long)state->samples_lost,
                                bytes(lost, state->bytes_lost)));
    line(stream, "heapprof",
         hp_memory_format("%s; %s of address space for its tables", state->version,
                          bytes(mapped, state->own_mapped)));
}

void hp_status_report(FILE *stream, const struct hp_process_state *state, int pid) {
    show_identity(stream, state, pid);
    show_memory(stream, state);
    show_percentiles(stream, state);
    show_limits(stream, state);
    show_dumps(stream, state);
    show_samples(stream, state);
}

/* -- Before and after -- */

static void show_saved(FILE *stream, const char *name, const struct hp_process_state *state) {
    char *time = time_text(state->time);
    line(stream, name,
         hp_memory_format("%s %s, %llu s watched until %s", state->service,
                          *state->build_id != '\0' ? state->build_id : "(no build id)",
                          (unsigned long long)state->watched_seconds, time));
    free(time);
}

static void difference_row(FILE *stream, const char *name, struct hp_maybe before, struct hp_maybe after,
                           const struct hp_process_state *a, const struct hp_process_state *b) {
    char left[HP_TEXT_NUMBER], left_part[HP_TEXT_NUMBER], right[HP_TEXT_NUMBER], right_part[HP_TEXT_NUMBER],
        change[HP_TEXT_NUMBER];
    bool both = before.is_known && after.is_known;
    bool grows = after.value > before.value;
    uint64_t by = grows ? after.value - before.value : before.value - after.value;
    fprintf(stream, "%-8s%12s %7s %14s %7s   %s%s\n", name, maybe_bytes(left, before, "none"),
            before.is_known ? share(left_part, before.value, a->limit) : "",
            maybe_bytes(right, after, "none"), after.is_known ? share(right_part, after.value, b->limit) : "",
            !both || by == 0 ? ""
            : grows          ? "+"
                             : "-",
            !both     ? ""
            : by == 0 ? "same"
                      : bytes(change, by));
}

static struct hp_maybe percentile(const struct hp_process_state *state, int which) {
    return (struct hp_maybe){.is_known = state->has_percentiles, .value = state->percentiles[which]};
}

void hp_status_difference(FILE *stream, const struct hp_process_state *before,
                          const struct hp_process_state *after) {
    static const char *const names[HP_STATE_PERCENTILES] = {"P50", "P90", "P99", "P99.9", "max"};
    show_saved(stream, "before", before);
    show_saved(stream, "after", after);
    fprintf(stream, "\n%-8s%12s %7s %14s %7s   %s\n", "usage", "before", "", "after", "", "change");
    for (int i = 0; i < HP_STATE_PERCENTILES; i++)
        difference_row(stream, names[i], percentile(before, i), percentile(after, i), before, after);
    difference_row(stream, "limit", before->limit, after->limit, before, after);
}
