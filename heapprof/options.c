#include "heapprof/options.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "heapprof/base/parse.h"
#include "heapprof/base/writer.h"

/*
 * A list's items, one after the other: sets *item and *len to the next one, trimmed, and *rest behind it.
 * False at the end.
 */
static bool next_item(const char **rest, const char **item, size_t *len) {
    if (*rest == NULL) {
        return false;
    }
    const char *start = *rest + strspn(*rest, " \t\n");
    size_t n = strcspn(start, ",");
    *rest = start[n] == ',' ? start + n + 1 : NULL;
    while (n > 0 && strchr(" \t\n", start[n - 1]) != NULL) {
        n--;
    }
    *item = start;
    *len = n;
    return true;
}

static bool is(const char *text, size_t len, const char *word) {
    return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

static bool is_word(const char *text, const char *word) {
    const char *item = NULL;
    size_t len = 0;
    const char *rest = text;
    return next_item(&rest, &item, &len) && rest == NULL && is(item, len, word);
}

/* "80%" -> 80. */
static int parse_percent(const char *text, size_t len, uint64_t *percent) {
    uint64_t value = 0;
    const char *end = NULL;
    if (hp_parse_u64(text, &value, &end) != 0 || end != text + len - 1 || *end != '%' || value < 1 || value > 100) {
        return -1;
    }
    *percent = value;
    return 0;
}

/* Each parser below: 0 with *out set, or NULL-complaint style -1. What it says completes the sentence
 * `HEAPPROF_X="text" …`. */

static int hp_option_parse_switch(const char *text, hp_option_switch *out, const char **complaint) {
    if (is_word(text, "on") || is_word(text, "1") || is_word(text, "true") || is_word(text, "yes")) {
        *out = true;
    } else if (is_word(text, "off") || is_word(text, "0") || is_word(text, "false") || is_word(text, "no")) {
        *out = false;
    } else {
        *complaint = "is neither on nor off";
        return -1;
    }
    return 0;
}

static int hp_option_parse_limit(const char *text, hp_option_limit *out, const char **complaint) {
    const char *item = NULL;
    const char *rest = text;
    size_t len = 0;
    uint64_t value = 0;
    *complaint = "is not a size";
    if (!next_item(&rest, &item, &len) || rest != NULL) {
        return -1;
    }
    if (is(item, len, "auto") || is(item, len, "max")) {
        *out = (hp_option_limit){HP_LIMIT_AUTO, 0};
    } else if (is(item, len, "off")) {
        *out = (hp_option_limit){HP_LIMIT_OFF, 0};
    } else if (parse_percent(item, len, &value) == 0) {
        *out = (hp_option_limit){HP_LIMIT_PERCENT, value};
    } else if (hp_parse_size(item, len, &value) != 0) {
        return -1;
    } else if (value == 0) {
        *complaint = "is no limit (off turns the watch off)";
        return -1;
    } else {
        *out = (hp_option_limit){HP_LIMIT_BYTES, value};
    }
    return 0;
}

static int hp_option_parse_thresholds(const char *text, hp_option_thresholds *out, const char **complaint) {
    hp_option_thresholds parsed = {0};
    const char *item = NULL;
    const char *rest = text;
    size_t len = 0;
    *complaint = "is not a list of up to 8 shares (1% to 100%) and sizes";
    while (next_item(&rest, &item, &len)) {
        if (parsed.count == HP_THRESHOLDS_MAX) {
            return -1;
        }
        struct hp_threshold *t = &parsed.at[parsed.count++];
        t->is_percent = parse_percent(item, len, &t->value) == 0;
        if (!t->is_percent && (hp_parse_size(item, len, &t->value) != 0 || t->value == 0)) {
            return -1;
        }
    }
    *out = parsed;
    return 0;
}

static int hp_option_parse_size(const char *text, hp_option_size *out, const char **complaint) {
    *complaint = "is not a size";
    uint64_t value = 0;
    if (hp_parse_size(text, strlen(text), &value) != 0) {
        return -1;
    }
    *out = value;
    return 0;
}

static int hp_option_parse_sample(const char *text, hp_option_sample *out, const char **complaint) {
    if (is_word(text, "auto")) {
        *out = 0;
        return 0;
    }
    uint64_t value = 0;
    *complaint = "is not a size from 1 byte to 1 GiB";
    if (hp_parse_size(text, strlen(text), &value) != 0 || value < 1 || value > UINT64_C(1) << 30) {
        return -1;
    }
    *out = value;
    return 0;
}

static int hp_option_parse_path(const char *text, hp_option_path *out, const char **complaint) {
    if (*text == '\0' || strlen(text) > 3500) {
        *complaint = "is not a folder's path of at most 3500 bytes";
        return -1;
    }
    *out = text;
    return 0;
}

static int hp_option_parse_socket(const char *text, hp_option_socket *out, const char **complaint) {
    *complaint = "is neither off, auto nor a folder's absolute path of at most 3500 bytes";
    if (is_word(text, "off") || is_word(text, "auto")) {
        *out = (hp_option_socket){.kind = is_word(text, "off") ? HP_SOCKET_OFF : HP_SOCKET_AUTO};
        return 0;
    }
    if (text[0] != '/' || strlen(text) > 3500) {
        return -1;
    }
    *out = (hp_option_socket){.kind = HP_SOCKET_FOLDER, .folder = text};
    return 0;
}

static int hp_option_parse_name(const char *text, hp_option_name *out, const char **complaint) {
    if (strlen(text) > 64) {
        *complaint = "is longer than 64 bytes";
        return -1;
    }
    *out = text;
    return 0;
}

static int parse_whole(const char *text, uint64_t low, uint64_t high, uint32_t *out) {
    uint64_t value = 0;
    const char *end = NULL;
    text += strspn(text, " \t");
    if (hp_parse_u64(text, &value, &end) != 0 || end[strspn(end, " \t\n")] != '\0' || value < low || value > high) {
        return -1;
    }
    *out = (uint32_t)value;
    return 0;
}

static int hp_option_parse_count(const char *text, hp_option_count *out, const char **complaint) {
    *complaint = "is not a whole number from 1 to 1000";
    return parse_whole(text, 1, 1000, out);
}

static int hp_option_parse_milliseconds(const char *text, hp_option_milliseconds *out, const char **complaint) {
    *complaint = "is not a whole number of milliseconds from 0 to 60000";
    return parse_whole(text, 0, 60000, out);
}

static int hp_option_parse_actions(const char *text, hp_option_actions *out, const char **complaint) {
    static const struct {
        const char *word;
        uint32_t action;
    } words[] = {{"purge", HP_ACTION_PURGE}, {"dump", HP_ACTION_DUMP}, {"abort", HP_ACTION_ABORT}, {"exit", HP_ACTION_EXIT}};
    uint32_t set = 0;
    const char *item = NULL;
    const char *rest = text;
    size_t len = 0;
    *complaint = "is not a list of purge, dump, abort, exit";
    while (next_item(&rest, &item, &len)) {
        unsigned i = 0;
        while (i < sizeof words / sizeof words[0] && !is(item, len, words[i].word)) {
            i++;
        }
        if (i == sizeof words / sizeof words[0]) {
            return -1;
        }
        set |= words[i].action;
    }
    *out = set;
    return 0;
}

static int hp_option_parse_signal(const char *text, hp_option_signal *out, const char **complaint) {
    uint32_t number = 0;
    *complaint = "is not a signal that may be caught";
    if (is_word(text, "none")) {
        *out = 0;
        return 0;
    }
    if (parse_whole(text, 1, (uint64_t)SIGRTMAX, &number) != 0) {
        text += strspn(text, " \t\n");
        const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
        for (int s = 1; s < NSIG && number == 0; s++) {
            const char *abbreviation = sigabbrev_np(s);
            if (abbreviation != NULL && is_word(name, abbreviation)) {
                number = (uint32_t)s;
            }
        }
    }
    if (number == 0 || number == SIGKILL || number == SIGSTOP) {
        return -1;
    }
    *out = (int)number;
    return 0;
}

static int hp_option_parse_programs(const char *text, hp_option_programs *out, const char **complaint) {
    (void)complaint;
    *out = *text == '\0' ? "all" : text;
    return 0;
}

static int hp_option_parse_log_level(const char *text, hp_option_log_level *out, const char **complaint) {
    static const char *const names[] = {"error", "warn", "info"};
    for (unsigned i = 0; i < 3; i++) {
        if (is_word(text, names[i])) {
            *out = (enum hp_log_level)i;
            return 0;
        }
    }
    *complaint = "is not one of error, warn, info";
    return -1;
}

int hp_options_set(struct hp_options *options, const char *variable, const char *text, const char **complaint) {
#define HP_OPTION(name, kind, field, default_text, help)                                                     \
    if (strcmp(variable, #name) == 0) {                                                                      \
        return hp_option_parse_##kind(text, &options->field, complaint);                                     \
    }
#include "heapprof/options.def"
#undef HP_OPTION
    *complaint = "is not a setting of heapprof";
    return -1;
}

void hp_options_default(struct hp_options *options) {
    const char *complaint = NULL;
    *options = (struct hp_options){0};
#define HP_OPTION(name, kind, field, default_text, help)                                                     \
    (void)hp_option_parse_##kind(default_text, &options->field, &complaint);
#include "heapprof/options.def"
#undef HP_OPTION
}

static const char *default_of(const char *variable) {
#define HP_OPTION(name, kind, field, default_text, help)                                                     \
    if (strcmp(variable, #name) == 0) {                                                                      \
        return default_text;                                                                                 \
    }
#include "heapprof/options.def"
#undef HP_OPTION
    return NULL;
}

static void read_variable(struct hp_options *options, const char *entry, struct hp_refused_limit *refused) {
    char name[64];
    size_t len = strcspn(entry, "=");
    if (entry[len] != '=') {
        return;
    }
    struct hp_writer w = hp_writer_over(name, sizeof name); /* a longer name is none of ours: cut, it is named */
    hp_writer_bytes(&w, entry, len);
    const char *complaint = NULL;
    const char *text = entry + len + 1;
    if (default_of(name) == NULL) {
        hp_log(HP_LOG_WARN, "%s is not a setting of this version; `heapprof help env` lists them", name);
    } else if (hp_options_set(options, name, text, &complaint) == 0) {
        return;
    } else if (strcmp(name, "HEAPPROF_LIMIT") == 0) {
        *refused = (struct hp_refused_limit){text, complaint};
    } else {
        hp_log(HP_LOG_WARN, "%s=\"%.100s\" %s; using %s", name, text, complaint, default_of(name));
    }
}

struct hp_refused_limit hp_options_read(struct hp_options *options, char *const *environment) {
    struct hp_refused_limit refused = {0};
    static const char prefix[] = "HEAPPROF";
    hp_options_default(options);
    for (char *const *entry = environment; *entry != NULL; entry++) {
        if (strncmp(*entry, "HEAPPROF_LOG=", 13) == 0) {
            const char *complaint = NULL;
            (void)hp_options_set(options, "HEAPPROF_LOG", *entry + 13, &complaint);
        }
    }
    hp_log_set_level(options->log_level);
    for (char *const *entry = environment; *entry != NULL; entry++) {
        char after = strncmp(*entry, prefix, sizeof prefix - 1) == 0 ? (*entry)[sizeof prefix - 1] : '\0';
        if (after == '=' || after == '_') {
            read_variable(options, *entry, &refused);
        }
    }
    return refused;
}

bool hp_options_program_matches(hp_option_programs list, const char *name) {
    const char *item = NULL;
    const char *rest = list;
    size_t len = 0;
    while (next_item(&rest, &item, &len)) {
        if (is(item, len, "all") || (strlen(name) == len && strncmp(name, item, len) == 0)) {
            return true;
        }
    }
    return false;
}
