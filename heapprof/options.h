/*
 * The settings, read once from the environment into one const struct.
 *
 * What can't be understood is named in one line on standard error and the default stands: a bad variable
 * never stops the application. A set-user-id program (AT_SECURE) ignores the environment.
 */
#ifndef HP_OPTIONS_H
#define HP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "heapprof/base/log.h"

typedef bool hp_option_switch;

/* What limit to watch. */
typedef struct {
    enum hp_limit_kind { HP_LIMIT_AUTO, HP_LIMIT_BYTES, HP_LIMIT_PERCENT, HP_LIMIT_OFF } kind;
    uint64_t value; /* bytes, or percent of the detected limit; 0 otherwise */
} hp_option_limit;

enum { HP_THRESHOLDS_MAX = 8 };

/* Where to dump, as given: the order that bytes give is known only with the limit. */
typedef struct {
    unsigned count;
    struct hp_threshold {
        bool is_percent;
        uint64_t value; /* percent of the limit (1..100), or bytes */
    } at[HP_THRESHOLDS_MAX];
} hp_option_thresholds;

/* Mean bytes between two samples; 0: auto. */
typedef uint64_t hp_option_sample;

/* A path or a list, kept where the environment has it: good only until the application runs, which may write a title
 * for ps(1) over it. */
typedef const char *hp_option_path;
typedef const char *hp_option_name;
typedef const char *hp_option_programs;

typedef uint32_t hp_option_count;
typedef uint64_t hp_option_size;
typedef uint32_t hp_option_milliseconds;

/* Where the control socket lies. */
typedef struct {
    enum hp_socket_kind { HP_SOCKET_AUTO, HP_SOCKET_OFF, HP_SOCKET_FOLDER } kind;
    const char *folder; /* absolute; kept as a path above */
} hp_option_socket;

enum hp_action { HP_ACTION_PURGE = 1, HP_ACTION_DUMP = 2, HP_ACTION_ABORT = 4, HP_ACTION_EXIT = 8 };
typedef uint32_t hp_option_actions; /* a set of enum hp_action */

typedef int hp_option_signal; /* a signal's number; 0: none */
typedef enum hp_log_level hp_option_log_level;

struct hp_options {
#define HP_OPTION(variable, kind, field, default_text, help) hp_option_##kind field;
#include "heapprof/options.def"
#undef HP_OPTION
};

/* Reads one variable's text into its field of `options`, with the words for what is wrong with it. 0, or -1
 * with *complaint (static) set and the field unchanged. `variable` must be one of options.def's. */
int hp_options_set(struct hp_options *options, const char *variable, const char *text, const char **complaint);

/* Fills in the defaults. */
void hp_options_default(struct hp_options *options);

/* A HEAPPROF_LIMIT that can't be understood; text is NULL when there is none. */
struct hp_refused_limit {
    const char *text;
    const char *complaint;
};

/* Reads the environment `environment` (as environ; NULL ends it) over the defaults, complaining by hp_log,
 * and sets the log's level. Unknown HEAPPROF_ names are named: a misspelt limit must not pass in silence.
 * Returns a refused limit unsaid: the caller will know which limit stands in its place, and says both. */
struct hp_refused_limit hp_options_read(struct hp_options *options, char *const *environment);

/* Whether `name` is in a HEAPPROF_PROGRAM list ("all" takes everyone). */
bool hp_options_program_matches(hp_option_programs list, const char *name);

#endif
