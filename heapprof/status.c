#include "heapprof/status.h"

#include "guard/status.h"
#include "heapprof/base/arena.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/json.h"
#include "heapprof/bookkeeping/module_table.h"
#include "heapprof/bookkeeping/stack_table.h"
#include "heapprof/capture/capture.h"
#include "heapprof/frame_module.h"
#include "heapprof/recorder.h"

enum { FORMAT = 1 };

/* Module 1 is the main program. */
static void write_build_id(struct hp_json *json) {
    char text[2 * HP_BUILD_ID_MAX + 1];
    struct hp_writer w = hp_writer_over(text, sizeof text);
    if (hp_module_table_count() > 0) {
        const struct hp_module *program = hp_module_table_get(1);
        for (uint32_t i = 0; i < program->build_id_len; i++) {
            hp_writer_text(&w, program->build_id[i] < 0x10 ? "0" : "");
            hp_writer_format(&w, "%lx", (unsigned long)program->build_id[i]);
        }
    }
    hp_json_text(json, "build_id", text);
}

static void write_identity(struct hp_json *json) {
    const struct hp_dump_identity *identity = hp_capture_identity();
    hp_json_text(json, "heapprof", HP_VERSION);
    hp_json_number(json, "format", FORMAT);
    hp_json_time(json, "time", hp_clock_wall_ns());
    hp_json_number(json, "pid", (uint64_t)identity->pid);
    hp_json_text(json, "service", identity->service);
    hp_json_text(json, "host", identity->host);
    hp_json_text(json, "program", hp_frame_module_program());
    write_build_id(json);
    hp_json_time(json, "start", identity->start_ns);
}

static void write_known(struct hp_json *json, const char *name, uint64_t value, bool is_known) {
    if (is_known) {
        hp_json_number(json, name, value);
    } else {
        hp_json_null(json, name);
    }
}

static void write_memory(struct hp_json *json, const struct guard_status *status) {
    const struct guard_reading *reading = &status->reading;
    bool watched = status->is_watching;
    uint64_t usage = watched ? reading->usage : status->resident;
    hp_json_open(json, "memory", '{');
    write_known(json, "usage", usage, watched || usage != 0);
    write_known(json, "peak", status->peak, watched);
    write_known(json, "limit", reading->limit, watched);
    write_known(json, "headroom", reading->limit > usage ? reading->limit - usage : 0, watched);
    hp_json_text(json, "source", reading->source);
    hp_json_number(json, "resident", status->resident);
    hp_json_close(json, '}');
}

static void write_threshold(struct hp_json *json, const struct guard_status_threshold *threshold) {
    hp_json_open(json, NULL, '{');
    hp_json_number(json, "bytes", threshold->bytes);
    hp_json_number(json, "percent", threshold->percent);
    hp_json_flag(json, "armed", threshold->is_armed);
    hp_json_number(json, "fired", threshold->fired);
    if (threshold->last_ns != 0) {
        hp_json_open(json, "last", '{');
        hp_json_time(json, "time", threshold->last_ns);
        hp_json_number(json, "usage", threshold->last_usage);
        hp_json_close(json, '}');
    } else {
        hp_json_null(json, "last");
    }
    hp_json_close(json, '}');
}

static void write_limits(struct hp_json *json, const struct guard_status *status) {
    hp_json_open(json, "limits", '[');
    for (unsigned i = 0; i < status->count; i++) {
        const struct guard_status_limit *limit = &status->limits[i];
        hp_json_open(json, NULL, '{');
        hp_json_text(json, "source", limit->source);
        hp_json_number(json, "limit", limit->limit);
        hp_json_number(json, "usage", limit->usage);
        hp_json_flag(json, "kills", limit->kills);
        hp_json_open(json, "thresholds", '[');
        for (unsigned n = 0; n < limit->count; n++) {
            write_threshold(json, &limit->thresholds[n]);
        }
        hp_json_close(json, ']');
        hp_json_close(json, '}');
    }
    hp_json_close(json, ']');
    hp_json_number(json, "limits_left_out", status->left_out);
}

static void write_percentiles(struct hp_json *json, const struct guard_status *status) {
    if (status->watched_ns == 0) {
        hp_json_null(json, "percentiles");
        return;
    }
    hp_json_open(json, "percentiles", '{');
    hp_json_number(json, "seconds", status->watched_ns / 1000000000);
    hp_json_number(json, "p50", status->p50);
    hp_json_number(json, "p90", status->p90);
    hp_json_number(json, "p99", status->p99);
    hp_json_number(json, "p999", status->p999);
    hp_json_number(json, "max", status->peak);
    hp_json_close(json, '}');
}

static void write_last_dump(struct hp_json *json, const struct hp_capture_history *history) {
    if (history->last_ns == 0) {
        hp_json_null(json, "last");
        return;
    }
    hp_json_open(json, "last", '{');
    hp_json_time(json, "time", history->last_ns);
    hp_json_text(json, "reason", history->last_reason);
    hp_json_text(json, "path", history->last_path);
    hp_json_number(json, "bytes", history->last_bytes);
    hp_json_number(json, "milliseconds", (history->last_took_ns + 999999) / 1000000);
    hp_json_number(json, "memory", history->last_memory);
    hp_json_close(json, '}');
}

static void write_dumps(struct hp_json *json) {
    struct hp_capture_history history;
    hp_capture_history(&history);
    hp_json_open(json, "dumps", '{');
    hp_json_number(json, "written", history.written);
    hp_json_number(json, "failed", history.failed);
    hp_json_text(json, "folder", hp_capture_settings()->folder);
    write_last_dump(json, &history);
    hp_json_close(json, '}');
}

static void write_samples(struct hp_json *json) {
    struct hp_loss loss;
    uint64_t taken = 0;
    uint64_t alive = 0;
    hp_recorder_loss(&loss);
    hp_recorder_samples(&taken, &alive);
    hp_json_open(json, "samples", '{');
    hp_json_number(json, "period", hp_capture_settings()->period);
    hp_json_number(json, "taken", taken);
    hp_json_number(json, "live", alive);
    hp_json_number(json, "stacks", hp_stack_table_count());
    hp_json_number(json, "lost", loss.samples);
    hp_json_number(json, "lost_bytes", loss.bytes);
    hp_json_number(json, "truncated", loss.truncated);
    hp_json_close(json, '}');
}

size_t hp_status_write(char *text, size_t cap) {
    struct guard_status status;
    if (!guard_status_read(&status)) {
        return 0;
    }
    struct hp_json json = hp_json_over(text, cap);
    hp_json_open(&json, NULL, '{');
    write_identity(&json);
    write_memory(&json, &status);
    write_limits(&json, &status);
    write_percentiles(&json, &status);
    write_dumps(&json);
    write_samples(&json);
    hp_json_number(&json, "own_mapped", hp_pages_total());
    hp_json_close(&json, '}');
    return hp_json_fits(&json) ? json.w.len : 0;
}
