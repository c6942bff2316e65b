/*
 * The environment as anybody may set it: "NAME=text", through every option's parser. A text is taken whole,
 * within the option's bounds, or refused with a reason and nothing changed.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "heapprof/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

static void check_bounds(const struct hp_options *o) {
    must(o->limit.kind != HP_LIMIT_BYTES || o->limit.value > 0);
    must(o->limit.kind != HP_LIMIT_PERCENT || (o->limit.value >= 1 && o->limit.value <= 100));
    must(o->thresholds.count >= 1 && o->thresholds.count <= HP_THRESHOLDS_MAX);
    for (unsigned i = 0; i < o->thresholds.count; i++) {
        const struct hp_threshold *t = &o->thresholds.at[i];
        must(t->value >= 1 && (!t->is_percent || t->value <= 100));
    }
    must(o->sample <= UINT64_C(1) << 30);
    must(o->dump_dir[0] != '\0' && strlen(o->dump_dir) <= 3500);
    must(strlen(o->service) <= 64);
    must(o->keep >= 1 && o->keep <= 1000);
    must(o->gate_ms <= 60000);
    must(o->on_limit >= 1 && o->on_limit <= 15);
    must(o->signal >= 0 && o->signal <= SIGRTMAX && o->signal != SIGKILL && o->signal != SIGSTOP);
    must(o->log_level <= HP_LOG_INFO);
}

static void check_each(const char *text) {
    static const char *const variables[] = {
#define HP_OPTION(variable, kind, field, default_text, help) #variable,
#include "heapprof/options.def"
#undef HP_OPTION
    };
    struct hp_options defaults;
    memset(&defaults, 0, sizeof defaults); /* padding too: they are compared byte by byte */
    hp_options_default(&defaults);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        struct hp_options options;
        const char *complaint = NULL;
        memcpy(&options, &defaults, sizeof options);
        if (hp_options_set(&options, variables[i], text, &complaint) == 0) {
            check_bounds(&options);
        } else {
            must(complaint != NULL && complaint[0] != '\0');
            must(memcmp(&options, &defaults, sizeof options) == 0);
        }
    }
    (void)hp_options_program_matches(text, "x");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    const char *value = strchr(text, '=');
    check_each(value != NULL ? value + 1 : text);

    char quiet[] =
        "HEAPPROF_LOG=error"; /* unless the text itself has it otherwise; a process says 100 lines at most */
    char *environment[] = {text, quiet, NULL};
    struct hp_options options;
    struct hp_refused_limit refused = hp_options_read(&options, environment);
    must(refused.text == NULL || (refused.text > text && refused.complaint != NULL));
    check_bounds(&options);
    free(text);
    return 0;
}
