/* heapprof top: which functions hold the memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command/command.h"
#include "tools/base/memory.h"
#include "tools/profile/profile_filter.h"
#include "tools/profile/profile_merge.h"
#include "tools/profile/profile_prune.h"
#include "tools/profile/profile_reader.h"
#include "tools/base/progress.h"
#include "tools/command/symbol_report.h"
#include "tools/base/text.h"
#include "tools/report/top_json.h"
#include "tools/report/top_report.h"

enum { USUAL_ROWS = 20 };

struct settings {
    const char *file, *base, *type;
    struct hp_frame_pattern *focus, *ignore; /* NULL: all, none */
    size_t rows;
    enum hp_table_order order;
    bool by_line, exact, json, rows_given, use_debuginfod;
};

static void print_help(FILE *stream) {
    fputs("usage: heapprof top [OPTION...] FILE\n"
          "\n"
          "Shows the functions that hold the memory in a profile (- is standard input),\n"
          "largest first. Names and source lines come from the binaries on this machine, if\n"
          "they are the ones that ran (by their build ids), and their debug info. flat is\n"
          "what a function allocated itself, cum what it and all that it called did.\n"
          "\n"
          "  -t, --type TYPE       inuse_space (what is held now: usual), alloc_space\n"
          "                        (all ever allocated), inuse_objects, alloc_objects\n"
          "  -n, --number N        show N rows; 0: all (default 20; with --json all)\n"
          "  -s, --sort flat|cum   by which column (default flat)\n"
          "  -F, --functions       a row for each function, with its heaviest line (usual)\n"
          "  -l, --lines           a row for each source line\n"
          "  -f, --focus REGEX     only stacks with a frame that matches: a POSIX extended\n"
          "                        regular expression, found anywhere in a function's name,\n"
          "                        its source file or its binary's file\n"
          "  -i, --ignore REGEX    no stacks with a frame that matches\n"
          "  -b, --base FILE       show what changed since this profile; percentages are of\n"
          "                        all that changed, more or less\n"
          "  -e, --exact           plain numbers instead of KiB, MiB\n"
          "      --json            for programs; the keys are in docs/profile.md\n"
          "      --no-debuginfod   ask no debuginfod server, though one is named\n"
          "  -h, --help            this text\n"
          "\n"
          "Example: what the request handlers have come to hold since the first dump\n"
          "  heapprof top --focus '^handle_' --base s.1.limit80.pb.gz s.3.limit95.pb.gz\n",
          stream);
}

static bool parse_number(const char *text, size_t *number) {
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        return false;
    *number = value;
    return true;
}

/* Which sample type to show; says what there is when the profile lacks the wanted one. */
static bool choose_type(const struct settings *settings, const struct hp_profile *profile, size_t *type) {
    *type = hp_profile_default_type(profile);
    int found = settings->type != NULL ? hp_profile_find_type(profile, settings->type) : (int)*type;
    if (found >= 0) {
        *type = (size_t)found;
        return true;
    }
    char *names = hp_memory_format("%s", profile->sample_types[0].type);
    for (size_t i = 1; i < profile->n_sample_types; i++) {
        char *longer = hp_memory_format("%s, %s", names, profile->sample_types[i].type);
        free(names);
        names = longer;
    }
    hp_command_say("%s: has no sample type %s; it has %s", settings->file, settings->type, names);
    free(names);
    return false;
}

static void print(const struct settings *settings, const struct hp_top_report *report) {
    if (settings->json) {
        hp_top_json(stdout, report);
        return;
    }
    hp_top_report_header(stdout, report);
    hp_top_report_rows(stdout, report);
}

static void show(const struct settings *settings, struct hp_profile *profile, size_t type) {
    hp_symbolizer_run(profile, &hp_symbol_report_brief);
    hp_progress_clear();
    if (!hp_profile_prune(profile))
        hp_command_say("%s: its drop_frames pattern is not understood: nothing is hidden", settings->file);
    int64_t total = hp_profile_total(profile, type);
    size_t n_stacks = profile->n_samples;
    hp_profile_filter(profile, settings->focus, settings->ignore);
    struct hp_profile_table table = hp_profile_table_new(profile, type, settings->by_line);
    table.total = total;
    hp_profile_table_sort(&table, settings->order);
    const struct hp_top_report report = {.profile = profile,
                                         .table = &table,
                                         .file = settings->file,
                                         .base = settings->base,
                                         .n_stacks = n_stacks,
                                         .type = type,
                                         .most_rows =
                                             settings->json && !settings->rows_given ? 0 : settings->rows,
                                         .width = hp_text_terminal_width(stdout),
                                         .by_line = settings->by_line,
                                         .exact = settings->exact};
    print(settings, &report);
    hp_profile_table_free(&table);
}

/* Reads the profile and takes its values into the sum. */
static bool merge_file(struct hp_profile_merge *merge, const char *path, enum hp_merge_sign sign) {
    struct hp_error error = {""};
    struct hp_profile *profile = hp_profile_read(path, &error);
    bool done = profile != NULL && hp_profile_merge_add(merge, profile, sign, &error);
    hp_profile_free(profile);
    if (!done)
        hp_command_say("%s: %s", path, error.text);
    return done;
}

/* What changed from the base to the file. */
static struct hp_profile *read_difference(const struct settings *settings) {
    struct hp_error error = {""};
    struct hp_profile *profile = NULL;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    if (merge_file(merge, settings->file, HP_MERGE_ADD) &&
        merge_file(merge, settings->base, HP_MERGE_SUBTRACT)) {
        profile = hp_profile_merge_finish(merge, &error);
        if (profile == NULL)
            hp_command_say("%s: %s", settings->base, error.text);
    }
    hp_profile_merge_free(merge);
    return profile;
}

static struct hp_profile *read_file(const struct settings *settings) {
    struct hp_error error = {""};
    struct hp_profile *profile = hp_profile_read(settings->file, &error);
    if (profile == NULL)
        hp_command_say("%s: %s", settings->file, error.text);
    return profile;
}

static int show_file(const struct settings *settings) {
    size_t type = 0;
    if (!settings->use_debuginfod)
        unsetenv("DEBUGINFOD_URLS");
    struct hp_profile *profile = settings->base != NULL ? read_difference(settings) : read_file(settings);
    if (profile == NULL)
        return HP_STATUS_FAULT;
    bool has_type = choose_type(settings, profile, &type);
    if (has_type)
        show(settings, profile, type);
    hp_profile_free(profile);
    return has_type ? HP_STATUS_DONE : HP_STATUS_FAULT;
}

static int take_pattern(const char *option, struct hp_frame_pattern **pattern) {
    struct hp_error error = {""};
    hp_frame_pattern_free(*pattern);
    *pattern = hp_frame_pattern_new(optarg, &error);
    if (*pattern == NULL)
        return hp_command_usage("top", "%s \"%s\": %s", option, optarg, error.text);
    return HP_STATUS_DONE;
}

/* One option into the settings; an hp_status other than done when it is wrong. */
static int take_option(int letter, struct settings *settings) {
    switch (letter) {
    case 't':
        settings->type = optarg;
        return HP_STATUS_DONE;
    case 'n':
        if (!parse_number(optarg, &settings->rows))
            return hp_command_usage("top", "--number takes a number, not \"%s\"", optarg);
        settings->rows_given = true;
        return HP_STATUS_DONE;
    case 's':
        if (strcmp(optarg, "flat") != 0 && strcmp(optarg, "cum") != 0)
            return hp_command_usage("top", "--sort takes flat or cum, not \"%s\"", optarg);
        settings->order = strcmp(optarg, "cum") == 0 ? HP_TABLE_BY_CUM : HP_TABLE_BY_FLAT;
        return HP_STATUS_DONE;
    case 'F':
    case 'l':
        settings->by_line = letter == 'l';
        return HP_STATUS_DONE;
    case 'f':
        return take_pattern("--focus", &settings->focus);
    case 'i':
        return take_pattern("--ignore", &settings->ignore);
    case 'b':
        settings->base = optarg;
        return HP_STATUS_DONE;
    case 'J':
        settings->json = true;
        return HP_STATUS_DONE;
    case 'e':
        settings->exact = true;
        return HP_STATUS_DONE;
    case 'D':
        settings->use_debuginfod = false;
        return HP_STATUS_DONE;
    default:
        return HP_STATUS_USAGE; /* getopt has said why */
    }
}

static int take_arguments(int argc, char **argv, struct settings *settings, bool *is_over) {
    static const struct option options[] = {{"type", required_argument, NULL, 't'},
                                            {"number", required_argument, NULL, 'n'},
                                            {"sort", required_argument, NULL, 's'},
                                            {"functions", no_argument, NULL, 'F'},
                                            {"lines", no_argument, NULL, 'l'},
                                            {"focus", required_argument, NULL, 'f'},
                                            {"ignore", required_argument, NULL, 'i'},
                                            {"base", required_argument, NULL, 'b'},
                                            {"exact", no_argument, NULL, 'e'},
                                            {"json", no_argument, NULL, 'J'},
                                            {"no-debuginfod", no_argument, NULL, 'D'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "t:n:s:Flf:i:b:eh", options, false)) != -1;) {
        *is_over = letter == 'h';
        if (*is_over) {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        int status = take_option(letter, settings);
        if (status != HP_STATUS_DONE)
            return status;
    }
    if (argc - optind != 1)
        return hp_command_usage("top", argc == optind ? "top needs a file" : "top takes one file");
    settings->file = argv[optind];
    return HP_STATUS_DONE;
}

static int run(int argc, char **argv) {
    struct settings settings = {.rows = USUAL_ROWS, .order = HP_TABLE_BY_FLAT, .use_debuginfod = true};
    bool is_over = false;
    int status = take_arguments(argc, argv, &settings, &is_over);
    if (status == HP_STATUS_DONE && !is_over)
        status = show_file(&settings);
    hp_frame_pattern_free(settings.focus);
    hp_frame_pattern_free(settings.ignore);
    return status;
}

const struct hp_command hp_command_top = {"top", "list the functions that hold the memory", run, print_help};
