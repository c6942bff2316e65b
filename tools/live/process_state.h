/* A profiled process's own state, as it tells it in JSON (docs/protocol.md), asked for now or saved before.
 */
#ifndef HP_TOOLS_PROCESS_STATE_H
#define HP_TOOLS_PROCESS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/error.h"

/* A number that may be missing. */
struct hp_maybe {
    bool is_known;
    uint64_t value;
};

struct hp_state_threshold {
    uint64_t bytes, percent, fired;
    bool is_armed;
    const char *last_time; /* NULL: never fired */
    struct hp_maybe last_usage;
};

struct hp_state_limit {
    const char *source;
    uint64_t limit, usage;
    bool kills; /* false: a warning, such as memory.high */
    struct hp_state_threshold *thresholds;
    size_t n_thresholds;
};

enum { HP_STATE_P50, HP_STATE_P90, HP_STATE_P99, HP_STATE_P999, HP_STATE_MAX, HP_STATE_PERCENTILES };

/* Sizes in bytes. Texts are the state's own; "" where there is none. */
struct hp_process_state {
    void *json;
    const char *version, *time, *service, *host, *program, *build_id, *start;
    uint64_t pid; /* in its own pid namespace */
    struct hp_maybe usage, peak, limit, headroom;
    const char *source;            /* of the limit */
    struct hp_state_limit *limits; /* the nearest first */
    size_t n_limits;
    bool has_percentiles;
    uint64_t watched_seconds;
    uint64_t percentiles[HP_STATE_PERCENTILES]; /* of usage over the time watched */
    uint64_t dumps, failed_dumps;
    const char *dump_folder;
    bool has_last_dump;
    const char *last_dump_time, *last_dump_reason, *last_dump_path;
    uint64_t last_dump_bytes, last_dump_ms;
    struct hp_maybe last_dump_memory;
    uint64_t period, samples, samples_lost, bytes_lost, live_samples, stacks, stacks_truncated;
    uint64_t own_mapped;
};

/* Reads the JSON text, of a process that may be hostile: all that is shown is there and of its type. The
 * caller frees it; NULL with `error` set when it is no state. */
struct hp_process_state *hp_process_state_parse(const char *text, size_t length, struct hp_error *error);

/* Reads a saved one; - is standard input. */
struct hp_process_state *hp_process_state_read(const char *path, struct hp_error *error);

/* Takes NULL. */
void hp_process_state_free(struct hp_process_state *state);

#endif
