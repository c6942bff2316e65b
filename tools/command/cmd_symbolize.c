/* heapprof symbolize: a profile with the names and lines of its code in it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command/command.h"
#include "tools/base/memory.h"
#include "tools/base/output_file.h"
#include "tools/profile/profile_reader.h"
#include "tools/profile/profile_writer.h"
#include "tools/base/progress.h"
#include "tools/symbols/search_path.h"
#include "tools/command/symbol_report.h"
#include "tools/symbols/symbolizer.h"

struct settings {
    const char *file, *output;
    struct hp_search_path search;
    bool use_debuginfod;
};

static void print_help(FILE *stream) {
    fputs("usage: heapprof symbolize [OPTION...] FILE\n"
          "\n"
          "Writes the profile in FILE (- is standard input) anew, with the functions, lines\n"
          "and inlined calls of its addresses in it, so that it can be read on a machine\n"
          "that has no binaries, and by any tool. They come from the binaries here, if they\n"
          "are the ones that ran (by their build ids), and their debug info: in the binary,\n"
          "where its .gnu_debuglink says, in .build-id folders, in .dwo files, and from\n"
          "debuginfod when DEBUGINFOD_URLS is set. What FILE says already stays.\n"
          "\n"
          "  -o, --output OUT        write to OUT; - is standard output (default: FILE with\n"
          "                          .symbolized.pb.gz for its ending). FILE itself is fine\n"
          "  -p, --search-path DIR   look there first: a copy of the machine's /, a debug\n"
          "                          folder with .build-id, or simply the files; repeatable\n"
          "      --no-debuginfod     ask no debuginfod server, though one is named\n"
          "  -h, --help              this text\n"
          "\n"
          "Example: heapprof symbolize -p /srv/builds/1.4.2 dump.pb.gz -o named.pb.gz\n",
          stream);
}

static bool ends_with(const char *text, size_t length, const char *ending) {
    size_t size = strlen(ending);
    return length > size && strncmp(text + length - size, ending, size) == 0;
}

/* The caller frees it. */
static char *default_output(const char *file) {
    size_t length = strlen(file);
    static const char *const endings[] = {".gz", ".pb", ".pprof"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(file, length, endings[i]))
            length -= strlen(endings[i]);
    return hp_memory_format("%.*s.symbolized.pb.gz", (int)length, file);
}

/* How it went, for people: on standard error, as the profile may be on standard output. */
static void report(const char *output, const struct hp_profile *profile, size_t unresolved) {
    hp_progress_clear();
    hp_command_say("%zu of %zu addresses have names", profile->n_locations - unresolved,
                   profile->n_locations);
    if (strcmp(output, "-") != 0)
        puts(output);
}

static int write_named(const struct settings *settings, const char *output, struct hp_profile *profile) {
    const struct hp_symbolizer_options options = {
        .places = {.folders = (const char *const *)settings->search.folders,
                   .n_folders = settings->search.count},
        .again = true};
    struct hp_error error = {""};
    size_t unresolved = hp_symbolizer_run_with(profile, &options, &hp_symbol_report_full);
    hp_progress_clear();
    if (!hp_profile_save(profile, output, &error)) {
        hp_command_say("%s: %s", strcmp(output, "-") == 0 ? "standard output" : output, error.text);
        return HP_STATUS_FAULT;
    }
    report(output, profile, unresolved);
    return HP_STATUS_DONE;
}

static int symbolize(const struct settings *settings, const char *output) {
    struct hp_error error = {""};
    if (!hp_output_check(output, HP_OUTPUT_BINARY, &error)) {
        hp_command_say("%s: %s", strcmp(output, "-") == 0 ? "standard output" : output, error.text);
        return HP_STATUS_FAULT;
    }
    if (!settings->use_debuginfod)
        unsetenv("DEBUGINFOD_URLS");
    struct hp_profile *profile = hp_profile_read(settings->file, &error);
    if (profile == NULL) {
        hp_command_say("%s: %s", settings->file, error.text);
        return HP_STATUS_FAULT;
    }
    int status = write_named(settings, output, profile);
    hp_profile_free(profile);
    return status;
}

static int take_option(int letter, struct settings *settings) {
    struct hp_error error = {""};
    switch (letter) {
    case 'o':
        settings->output = optarg;
        return HP_STATUS_DONE;
    case 'p':
        if (hp_search_path_add(&settings->search, optarg, &error))
            return HP_STATUS_DONE;
        hp_command_say("--search-path %s: %s", optarg, error.text);
        return HP_STATUS_FAULT;
    case 'D':
        settings->use_debuginfod = false;
        return HP_STATUS_DONE;
    default:
        return HP_STATUS_USAGE; /* getopt has said why */
    }
}

static int start(struct settings *settings) {
    if (settings->output == NULL && strcmp(settings->file, "-") == 0)
        return hp_command_usage("symbolize",
                                "name the output with -o: standard input has no name to make one of");
    char *output =
        settings->output != NULL ? hp_memory_format("%s", settings->output) : default_output(settings->file);
    int status = symbolize(settings, output);
    free(output);
    return status;
}

static int parse_and_start(int argc, char **argv, struct settings *settings) {
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"search-path", required_argument, NULL, 'p'},
                                            {"no-debuginfod", no_argument, NULL, 'D'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "o:p:h", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        int status = take_option(letter, settings);
        if (status != HP_STATUS_DONE)
            return status;
    }
    if (argc - optind != 1)
        return hp_command_usage("symbolize",
                                argc == optind ? "symbolize needs a file" : "symbolize takes one file");
    settings->file = argv[optind];
    return start(settings);
}

static int run(int argc, char **argv) {
    struct settings settings = {.use_debuginfod = true};
    int status = parse_and_start(argc, argv, &settings);
    hp_search_path_free(&settings.search);
    return status;
}

const struct hp_command hp_command_symbolize = {
    "symbolize", "write a profile anew with names and lines in it", run, print_help};
