/* heapprof flame: a flamegraph of a profile, as a page of its own or for other viewers. */
#include <stdlib.h>
#include <string.h>

#include "tools/command/command.h"
#include "tools/flame/flame_formats.h"
#include "tools/flame/flame_json.h"
#include "tools/flame/flame_page.h"
#include "tools/flame/flame_tree.h"
#include "tools/profile/location_name.h"
#include "tools/base/memory.h"
#include "tools/base/memory_stream.h"
#include "tools/base/output_file.h"
#include "tools/profile/profile_prune.h"
#include "tools/profile/profile_reader.h"
#include "tools/base/progress.h"
#include "tools/symbols/search_path.h"
#include "tools/command/symbol_report.h"
#include "tools/symbols/symbolizer.h"
#include "tools/base/text.h"

enum { MOST_RESULT = 1024 * 1024 * 1024 };

enum format { FORMAT_HTML, FORMAT_FOLDED, FORMAT_SPEEDSCOPE, FORMATS };

static const struct {
    const char *name, *ending, *use;
} formats[FORMATS] = {{"html", ".html", "open it in a browser"},
                      {"folded", ".folded", "for flamegraph.pl, inferno, …"},
                      {"speedscope", ".speedscope.json", "open it in speedscope"}};

struct settings {
    char **files;
    size_t n_files;
    const char *base, *output, *type;
    enum format format;
    struct hp_search_path search;
    bool use_debuginfod;
};

/* What becomes the result. */
struct graph {
    struct hp_flame_tree *tree;
    struct hp_profile *first; /* the first file's, for what it says about itself */
    size_t type;
};

static void print_help(FILE *stream) {
    fputs("usage: heapprof flame [OPTION...] FILE...\n"
          "\n"
          "Makes a flamegraph of a profile (- is standard input), of several their sum: one\n"
          "HTML file that needs no network, with the graph, a table of functions, search,\n"
          "all sample types, the callers' view, and what the dump says about itself. Names\n"
          "come from the binaries on this machine, as for `heapprof top`.\n"
          "\n"
          "  -o, --output OUT        write to OUT; - is standard output (default: the name\n"
          "                          of FILE with the format's ending, in this folder)\n"
          "  -b, --base FILE         compare with this profile: colours show what grew\n"
          "  -f, --format html|folded|speedscope\n"
          "                          what to make: the page (the usual), folded stacks for\n"
          "                          flamegraph.pl and the like, or JSON for speedscope\n"
          "  -t, --type TYPE         which values to show first, and which folded stacks\n"
          "                          have: inuse_space (what is held now: the usual),\n"
          "                          alloc_space (all ever allocated), inuse_objects,\n"
          "                          alloc_objects; --sample-type is the same\n"
          "  -p, --search-path DIR   look there first for binaries, debug info; repeatable\n"
          "      --no-debuginfod     do not ask debuginfod, even if DEBUGINFOD_URLS is set\n"
          "  -h, --help              this text\n"
          "\n"
          "Example: heapprof flame --base limit80.pb.gz limit95.pb.gz -o growth.html\n",
          stream);
}

static bool complain(const char *path, const char *text) {
    hp_progress_clear();
    hp_command_say("%s: %s", path, text);
    return false;
}

/* Reads a profile and gives it names; NULL when it can't be read, which was said. */
static struct hp_profile *load(const struct settings *settings, const char *path) {
    const struct hp_symbolizer_options options = {
        .places = {.folders = (const char *const *)settings->search.folders,
                   .n_folders = settings->search.count}};
    struct hp_error error = {""};
    hp_progress_show("reading %s", path);
    struct hp_profile *profile = hp_profile_read(path, &error);
    if (profile == NULL) {
        complain(path, error.text);
        return NULL;
    }
    hp_symbolizer_run_with(profile, &options, &hp_symbol_report_brief);
    if (!hp_profile_prune(profile))
        complain(path, "its drop_frames pattern is not understood: nothing is hidden");
    return profile;
}

/* Adds a file to the tree; the first one's profile is kept. */
static bool add_file(const struct settings *settings, const char *path, enum hp_flame_side side,
                     struct graph *graph) {
    struct hp_error error = {""};
    struct hp_profile *profile = load(settings, path);
    if (profile == NULL)
        return false;
    bool added = hp_flame_tree_add(graph->tree, profile, side, &error) || complain(path, error.text);
    if (graph->first == NULL)
        graph->first = profile;
    else
        hp_profile_free(profile);
    return added;
}

/* Which type is shown first; says what there is when the profile lacks the wanted one. */
static bool choose_type(const struct settings *settings, struct graph *graph) {
    graph->type = graph->tree->default_type;
    int found = settings->type != NULL ? hp_flame_tree_find_type(graph->tree, settings->type) : 0;
    if (settings->type != NULL && found >= 0)
        graph->type = (size_t)found;
    if (found >= 0)
        return true;
    char *names = hp_memory_format("%s", graph->tree->types[0].type);
    for (size_t i = 1; i < graph->tree->n_types; i++) {
        char *longer = hp_memory_format("%s, %s", names, graph->tree->types[i].type);
        free(names);
        names = longer;
    }
    hp_command_say("%s: has no sample type %s; it has %s", settings->files[0], settings->type, names);
    free(names);
    return false;
}

static bool read_all(const struct settings *settings, struct graph *graph) {
    for (size_t i = 0; i < settings->n_files; i++)
        if (!add_file(settings, settings->files[i], HP_FLAME_NOW, graph))
            return false;
    if (settings->base != NULL && !add_file(settings, settings->base, HP_FLAME_BEFORE, graph))
        return false;
    hp_progress_clear();
    if (graph->tree->n_cut > 0)
        hp_command_say("%zu stacks are too deep or too many: they end in [deeper frames]",
                       graph->tree->n_cut);
    return choose_type(settings, graph);
}

static void write_page(FILE *stream, const struct settings *settings, const struct graph *graph) {
    const struct hp_flame_page *page = hp_flame_page_get();
    const struct hp_profile *first = graph->first;
    const struct hp_flame_facts facts = {.files = (const char *const *)settings->files,
                                         .n_files = settings->n_files,
                                         .base = settings->base,
                                         .comments = first->comments,
                                         .n_comments = first->n_comments,
                                         .time_nanos = first->time_nanos,
                                         .duration_nanos = first->duration_nanos,
                                         .period = first->period,
                                         .period_unit = first->period_type.unit,
                                         .type = graph->type};
    fwrite(page->head, 1, page->head_size, stream);
    hp_flame_json_write(stream, graph->tree, &facts, HP_FLAME_MOST_SHOWN);
    fwrite(page->tail, 1, page->tail_size, stream);
}

static void write_result(FILE *stream, const struct settings *settings, const struct graph *graph) {
    if (settings->format == FORMAT_HTML)
        write_page(stream, settings, graph);
    else if (settings->format == FORMAT_FOLDED)
        hp_flame_write_folded(stream, graph->tree, graph->type);
    else
        hp_flame_write_speedscope(stream, graph->tree, graph->type, hp_base_name(settings->files[0]));
}

/* The whole result, which the caller frees also after a failure. */
static bool make_result(const struct settings *settings, const struct graph *graph,
                        struct hp_memory_stream *result, struct hp_error *error) {
    FILE *stream = hp_memory_stream_open(result, MOST_RESULT);
    if (stream == NULL)
        return hp_error_set(error, "does not fit into memory");
    write_result(stream, settings, graph);
    bool failed = ferror(stream) != 0;
    failed |= fclose(stream) != 0;
    return !failed || hp_error_set(error, "would be larger than 1 GiB, or than what fits into memory");
}

static bool write_file(const char *path, const struct hp_memory_stream *result, struct hp_error *error) {
    struct hp_output output;
    if (!hp_output_open(&output, path, HP_OUTPUT_TEXT, error))
        return false;
    if (hp_output_write(&output, result->data, result->size, error))
        return hp_output_commit(&output, error);
    hp_output_abort(&output);
    return false;
}

static bool save(const struct settings *settings, const char *path, const struct graph *graph,
                 struct hp_error *error) {
    char number[HP_TEXT_NUMBER];
    struct hp_memory_stream result;
    bool saved = make_result(settings, graph, &result, error) && write_file(path, &result, error);
    free(result.data);
    if (saved && strcmp(path, "-") != 0)
        printf("%s: %s, %s\n", path, hp_text_value(number, (int64_t)result.size, "bytes", false),
               formats[settings->format].use);
    return saved;
}

static int make(const struct settings *settings, const char *path) {
    const char *shown = strcmp(path, "-") == 0 ? "standard output" : path;
    struct graph graph = {.tree = hp_flame_tree_new()};
    struct hp_error error = {""};
    bool done = hp_output_check(path, HP_OUTPUT_TEXT, &error) || complain(shown, error.text);
    done = done && read_all(settings, &graph);
    done = done && (save(settings, path, &graph, &error) || complain(shown, error.text));
    hp_profile_free(graph.first);
    hp_flame_tree_free(graph.tree);
    return done ? HP_STATUS_DONE : HP_STATUS_FAULT;
}

static bool ends_with(const char *text, size_t length, const char *ending) {
    size_t size = strlen(ending);
    return length > size && strncmp(text + length - size, ending, size) == 0;
}

/* The name of the first file without its endings, with the format's; the caller frees it. */
static char *default_output(const struct settings *settings) {
    static const char *const endings[] = {".gz", ".pb", ".pprof"};
    const char *name = strcmp(settings->files[0], "-") == 0 ? "heapprof" : hp_base_name(settings->files[0]);
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(name, length, endings[i]))
            length -= strlen(endings[i]);
    return hp_memory_format("%.*s%s", (int)length, name, formats[settings->format].ending);
}

static int start(struct settings *settings) {
    if (settings->n_files == 0)
        return hp_command_usage("flame", "flame needs a file");
    if (settings->format == FORMAT_SPEEDSCOPE && settings->base != NULL)
        return hp_command_usage("flame", "speedscope's format can't compare: --base needs html or folded");
    const char *missing = hp_flame_page_get()->missing;
    if (settings->format == FORMAT_HTML && missing != NULL) {
        hp_command_say("this heapprof can make no HTML: %s; --format folded and speedscope work", missing);
        return HP_STATUS_FAULT;
    }
    if (!settings->use_debuginfod)
        unsetenv("DEBUGINFOD_URLS");
    char *path =
        settings->output != NULL ? hp_memory_format("%s", settings->output) : default_output(settings);
    int status = make(settings, path);
    free(path);
    return status;
}

static int take_format(struct settings *settings) {
    for (int format = 0; format < FORMATS; format++)
        if (strcmp(optarg, formats[format].name) == 0) {
            settings->format = (enum format)format;
            return HP_STATUS_DONE;
        }
    return hp_command_usage("flame", "--format takes html, folded or speedscope, not \"%s\"", optarg);
}

static int take_option(int letter, struct settings *settings) {
    struct hp_error error = {""};
    switch (letter) {
    case 'o':
        settings->output = optarg;
        return HP_STATUS_DONE;
    case 'b':
        settings->base = optarg;
        return HP_STATUS_DONE;
    case 'f':
        return take_format(settings);
    case 't':
        settings->type = optarg;
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

static int run(int argc, char **argv) {
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"base", required_argument, NULL, 'b'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"type", required_argument, NULL, 't'},
                                            {"sample-type", required_argument, NULL, 't'},
                                            {"search-path", required_argument, NULL, 'p'},
                                            {"no-debuginfod", no_argument, NULL, 'D'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct settings settings = {.use_debuginfod = true};
    int status = HP_STATUS_DONE;
    optind = 1;
    for (int letter; status == HP_STATUS_DONE &&
                     (letter = hp_command_option(argc, argv, "o:b:f:t:p:h", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            hp_search_path_free(&settings.search);
            return HP_STATUS_DONE;
        }
        status = take_option(letter, &settings);
    }
    settings.files = argv + optind;
    settings.n_files = (size_t)(argc - optind);
    if (status == HP_STATUS_DONE)
        status = start(&settings);
    hp_search_path_free(&settings.search);
    return status;
}

const struct hp_command hp_command_flame = {"flame", "draw a flamegraph that opens in a browser", run,
                                            print_help};
