#include "tools/live/process_state.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

enum { MOST_BYTES = 1024 * 1024, MOST_ITEMS = 64 };

/* A member that is there and of its type, or `fault` names the first that is not. */
struct reader {
    const char *fault;
};

static json_t *member(struct reader *r, const json_t *object, const char *name, json_type type) {
    json_t *value = json_object_get(object, name);
    if ((value == NULL || json_typeof(value) != type) && r->fault == NULL)
        r->fault = name;
    return value != NULL && json_typeof(value) == type ? value : NULL;
}

static json_t *object_of(struct reader *r, const json_t *object, const char *name) {
    return member(r, object, name, JSON_OBJECT);
}

static const char *text_of(struct reader *r, const json_t *object, const char *name) {
    const json_t *value = member(r, object, name, JSON_STRING);
    return value != NULL ? json_string_value(value) : "";
}

static uint64_t number_of(struct reader *r, const json_t *object, const char *name) {
    const json_t *value = member(r, object, name, JSON_INTEGER);
    long long number = value != NULL ? json_integer_value(value) : 0;
    if (number < 0 && r->fault == NULL)
        r->fault = name;
    return number > 0 ? (uint64_t)number : 0;
}

static bool is_null(const json_t *object, const char *name) {
    return json_is_null(json_object_get(object, name));
}

static struct hp_maybe maybe_of(struct reader *r, const json_t *object, const char *name) {
    if (is_null(object, name))
        return (struct hp_maybe){.is_known = false};
    return (struct hp_maybe){.is_known = true, .value = number_of(r, object, name)};
}

static bool flag_of(struct reader *r, const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    if (!json_is_boolean(value) && r->fault == NULL)
        r->fault = name;
    return json_is_true(value);
}

/* How many items the array has, and no more than anybody needs. */
static size_t count_of(const json_t *array) {
    size_t count = json_array_size(array);
    return count < MOST_ITEMS ? count : MOST_ITEMS;
}

static void read_threshold(struct reader *r, const json_t *item, struct hp_state_threshold *threshold) {
    *threshold = (struct hp_state_threshold){.bytes = number_of(r, item, "bytes"),
                                             .percent = number_of(r, item, "percent"),
                                             .fired = number_of(r, item, "fired"),
                                             .is_armed = flag_of(r, item, "armed")};
    if (is_null(item, "last"))
        return;
    const json_t *last = object_of(r, item, "last");
    threshold->last_time = text_of(r, last, "time");
    threshold->last_usage = maybe_of(r, last, "usage");
}

static void read_limit(struct reader *r, const json_t *item, struct hp_state_limit *limit) {
    *limit = (struct hp_state_limit){.source = text_of(r, item, "source"),
                                     .limit = number_of(r, item, "limit"),
                                     .usage = number_of(r, item, "usage"),
                                     .kills = flag_of(r, item, "kills")};
    const json_t *thresholds = member(r, item, "thresholds", JSON_ARRAY);
    limit->n_thresholds = count_of(thresholds);
    limit->thresholds = hp_memory_new(limit->n_thresholds, sizeof *limit->thresholds);
    for (size_t i = 0; i < limit->n_thresholds; i++)
        read_threshold(r, json_array_get(thresholds, i), &limit->thresholds[i]);
}

static void read_limits(struct reader *r, const json_t *root, struct hp_process_state *state) {
    const json_t *limits = member(r, root, "limits", JSON_ARRAY);
    state->n_limits = count_of(limits);
    state->limits = hp_memory_new(state->n_limits, sizeof *state->limits);
    for (size_t i = 0; i < state->n_limits; i++)
        read_limit(r, json_array_get(limits, i), &state->limits[i]);
}

static void read_memory(struct reader *r, const json_t *root, struct hp_process_state *state) {
    const json_t *memory = object_of(r, root, "memory");
    state->usage = maybe_of(r, memory, "usage");
    state->peak = maybe_of(r, memory, "peak");
    state->limit = maybe_of(r, memory, "limit");
    state->headroom = maybe_of(r, memory, "headroom");
    state->source = text_of(r, memory, "source");
}

static void read_percentiles(struct reader *r, const json_t *root, struct hp_process_state *state) {
    static const char *const names[HP_STATE_PERCENTILES] = {"p50", "p90", "p99", "p999", "max"};
    if (is_null(root, "percentiles"))
        return;
    const json_t *percentiles = object_of(r, root, "percentiles");
    state->has_percentiles = true;
    state->watched_seconds = number_of(r, percentiles, "seconds");
    for (int i = 0; i < HP_STATE_PERCENTILES; i++)
        state->percentiles[i] = number_of(r, percentiles, names[i]);
}

static void read_dumps(struct reader *r, const json_t *root, struct hp_process_state *state) {
    const json_t *dumps = object_of(r, root, "dumps");
    state->dumps = number_of(r, dumps, "written");
    state->failed_dumps = number_of(r, dumps, "failed");
    state->dump_folder = text_of(r, dumps, "folder");
    state->has_last_dump = !is_null(dumps, "last");
    if (!state->has_last_dump)
        return;
    const json_t *last = object_of(r, dumps, "last");
    state->last_dump_time = text_of(r, last, "time");
    state->last_dump_reason = text_of(r, last, "reason");
    state->last_dump_path = text_of(r, last, "path");
    state->last_dump_bytes = number_of(r, last, "bytes");
    state->last_dump_ms = number_of(r, last, "milliseconds");
    state->last_dump_memory = maybe_of(r, last, "memory");
}

static void read_samples(struct reader *r, const json_t *root, struct hp_process_state *state) {
    const json_t *samples = object_of(r, root, "samples");
    state->period = number_of(r, samples, "period");
    state->samples = number_of(r, samples, "taken");
    state->samples_lost = number_of(r, samples, "lost");
    state->bytes_lost = number_of(r, samples, "lost_bytes");
    state->live_samples = number_of(r, samples, "live");
    state->stacks = number_of(r, samples, "stacks");
    state->stacks_truncated = number_of(r, samples, "truncated");
}

static void read_identity(struct reader *r, const json_t *root, struct hp_process_state *state) {
    state->version = text_of(r, root, "heapprof");
    state->time = text_of(r, root, "time");
    state->pid = number_of(r, root, "pid");
    state->service = text_of(r, root, "service");
    state->host = text_of(r, root, "host");
    state->program = text_of(r, root, "program");
    state->build_id = text_of(r, root, "build_id");
    state->start = text_of(r, root, "start");
    state->own_mapped = number_of(r, root, "own_mapped");
}

struct hp_process_state *hp_process_state_parse(const char *text, size_t length, struct hp_error *error) {
    json_error_t fault;
    struct reader r = {NULL};
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (root == NULL) {
        hp_error_set(error, "is no JSON: line %d: %s", fault.line, fault.text);
        return NULL;
    }
    struct hp_process_state *state = hp_memory_new(1, sizeof *state);
    state->json = root;
    read_identity(&r, root, state);
    read_memory(&r, root, state);
    read_limits(&r, root, state);
    read_percentiles(&r, root, state);
    read_dumps(&r, root, state);
    read_samples(&r, root, state);
    if (r.fault == NULL)
        return state;
    hp_error_set(error, "is no state of a profiled process: \"%s\" is missing or of another kind", r.fault);
    hp_process_state_free(state);
    return NULL;
}

struct hp_process_state *hp_process_state_read(const char *path, struct hp_error *error) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (file == NULL) {
        hp_error_set(error, "%s", strerror(errno));
        return NULL;
    }
    struct hp_process_state *state = NULL;
    char *text = hp_memory_new(MOST_BYTES, 1);
    size_t length = fread(text, 1, MOST_BYTES, file);
    if (ferror(file))
        hp_error_set(error, "%s", strerror(errno));
    else if (length == MOST_BYTES)
        hp_error_set(error, "is too long for the state of a process");
    else
        state = hp_process_state_parse(text, length, error);
    if (file != stdin)
        fclose(file);
    free(text);
    return state;
}

void hp_process_state_free(struct hp_process_state *state) {
    if (state == NULL)
        return;
    for (size_t i = 0; i < state->n_limits; i++)
        free(state->limits[i].thresholds);
    free(state->limits);
    json_decref(state->json);
    free(state);
}
