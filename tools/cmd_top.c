/* heapprof top: which functions hold the memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "memory.h"
#include "profile_prune.h"
#include "profile_reader.h"
#include "progress.h"
#include "symbol_report.h"
#include "text.h"
#include "top_report.h"

enum { USUAL_ROWS = 20 };

struct settings {
    const char *file, *type;
    size_t rows;
    enum hp_table_order order;
    bool by_line, exact, use_debuginfod;
};

static void print_help(FILE *stream) {
    fputs("usage: heapprof top [OPTION...] FILE\n"
          "\n"
          "Shows the functions that hold the memory in a profile (- is standard input),\n"
          "largest first. Names and source lines come from the binaries on this machine, if\n"
          "they are the ones that ran (by their build ids), and their debug info. flat is\n"
          "what a function allocated itself, cum what it and all that it called did.\n"
          "\n"
          "  -t, --type TYPE       inuse_space (what is held now: the usual), alloc_space\n"
          "                        (all ever allocated), inuse_objects, alloc_objects\n"
          "  -n, --number N        show N rows; 0: all (default 20)\n"
          "  -s, --sort flat|cum   by which column (default flat)\n"
          "  -l, --lines           a row for each source line; else a function is shown\n"
          "                        with its heaviest line\n"
          "  -e, --exact           plain numbers instead of KiB, MiB\n"
          "      --no-debuginfod   ask no debuginfod server, even if DEBUGINFOD_URLS is set\n"
          "  -h, --help            this text\n",
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

static void show(const struct settings *settings, struct hp_profile *profile, size_t type) {
    hp_symbolizer_run(profile, &hp_symbol_report_brief);
    hp_progress_clear();
    if (!hp_profile_prune(profile))
        hp_command_say("%s: its drop_frames pattern is not understood: nothing is hidden", settings->file);
    struct hp_profile_table table = hp_profile_table_new(profile, type, settings->by_line);
    hp_profile_table_sort(&table, settings->order);
    const struct hp_top_report report = {.profile = profile,
                                         .table = &table,
                                         .type = type,
                                         .most_rows = settings->rows,
                                         .width = hp_text_terminal_width(stdout),
                                         .by_line = settings->by_line,
                                         .exact = settings->exact};
    hp_top_report_header(stdout, &report);
    hp_top_report_rows(stdout, &report);
    hp_profile_table_free(&table);
}

static int show_file(const struct settings *settings) {
    struct hp_error error = {""};
    size_t type = 0;
    if (!settings->use_debuginfod)
        unsetenv("DEBUGINFOD_URLS");
    struct hp_profile *profile = hp_profile_read(settings->file, &error);
    if (profile == NULL) {
        hp_command_say("%s: %s", settings->file, error.text);
        return HP_STATUS_FAULT;
    }
    bool has_type = choose_type(settings, profile, &type);
    if (has_type)
        show(settings, profile, type);
    hp_profile_free(profile);
    return has_type ? HP_STATUS_DONE : HP_STATUS_FAULT;
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
        return HP_STATUS_DONE;
    case 's':
        if (strcmp(optarg, "flat") != 0 && strcmp(optarg, "cum") != 0)
            return hp_command_usage("top", "--sort takes flat or cum, not \"%s\"", optarg);
        settings->order = strcmp(optarg, "cum") == 0 ? HP_TABLE_BY_CUM : HP_TABLE_BY_FLAT;
        return HP_STATUS_DONE;
    case 'l':
        settings->by_line = true;
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

static int run(int argc, char **argv) {
    static const struct option options[] = {
        {"type", required_argument, NULL, 't'}, {"number", required_argument, NULL, 'n'},
        {"sort", required_argument, NULL, 's'}, {"lines", no_argument, NULL, 'l'},
        {"exact", no_argument, NULL, 'e'},      {"no-debuginfod", no_argument, NULL, 'D'},
        {"help", no_argument, NULL, 'h'},       {0}};
    struct settings settings = {.rows = USUAL_ROWS, .order = HP_TABLE_BY_FLAT, .use_debuginfod = true};
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "t:n:s:leh", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        int status = take_option(letter, &settings);
        if (status != HP_STATUS_DONE)
            return status;
    }
    if (argc - optind != 1)
        return hp_command_usage("top", argc == optind ? "top needs a file" : "top takes one file");
    settings.file = argv[optind];
    return show_file(&settings);
}

const struct hp_command hp_command_top = {"top", "list the functions that hold the memory", run, print_help};
