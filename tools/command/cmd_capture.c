/* heapprof capture: a profile of a live process, now or over a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/live/capture_delta.h"
#include "tools/live/capture_target.h"
#include "tools/live/capture_window.h"
#include "tools/command/command.h"
#include "tools/base/memory.h"
#include "tools/base/output_file.h"
#include "tools/live/proc_file.h"
#include "tools/profile/profile_writer.h"
#include "tools/base/progress.h"
#include "tools/live/sampling_error.h"
#include "tools/symbols/search_path.h"
#include "tools/command/symbol_report.h"
#include "tools/base/text.h"

enum { USUAL_WINDOW_MS = 5000, LONGEST_WINDOW_MS = 24 * 3600 * 1000 };

struct settings {
    const char *who, *output;
    enum hp_capture_type type;
    long duration_ms;
    struct hp_search_path search;
    bool has_duration, raw, all, use_debuginfod;
};

/* One process and what was had of it. */
struct job {
    struct hp_capture_target target;
    char *name;
    struct hp_profile *first; /* at the start of the window; NULL: it failed, and that was said */
};

static void print_help(FILE *stream) {
    fputs("usage: heapprof capture [OPTION...] PID|SERVICE\n"
          "\n"
          "Takes a heap profile of a live process that runs with heapprof, without stopping\n"
          "it, and writes it as a pprof file with functions and lines in it; prints the\n"
          "file's name. Processes in containers are captured from the host. `heapprof list`\n"
          "shows what can be captured.\n"
          "\n"
          "  -t, --profile-type TYPE  heap: what is live now (the usual);\n"
          "                           allocs: what is allocated during the window;\n"
          "                           growth: how live memory changes over the window\n"
          "  -d, --duration-ms N      the window of allocs and growth (default 5000);\n"
          "                           Ctrl-C ends it early and keeps what there is\n"
          "  -o, --output FILE        write to FILE, or into that folder; - is standard\n"
          "                           output (default: a new file in the working folder)\n"
          "  -a, --all                each process of the service, not one\n"
          "  -r, --raw                addresses only: look up no symbols\n"
          "  -p, --search-path DIR    look there first for binaries and debug info\n"
          "      --no-debuginfod      ask no debuginfod server, though one is named\n"
          "  -h, --help               this text\n"
          "\n"
          "Names come from the process's own files, deleted ones too, and from wherever\n"
          "`heapprof symbolize` looks.\n"
          "\n"
          "Example: heapprof top \"$(heapprof capture --profile-type growth edge_service)\"\n",
          stream);
}

/* -- The file -- */

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* heapprof.SERVICE.PID.TIME.TYPE.pb.gz, which rotation does not take for a dump; the caller frees it. */
static char *name_output(const struct settings *settings, const struct hp_process *process) {
    if (settings->output != NULL && !is_folder(settings->output))
        return hp_memory_format("%s", settings->output);
    struct timespec now;
    struct tm utc;
    char date[32];
    clock_gettime(CLOCK_REALTIME, &now);
    strftime(date, sizeof date, "%Y%m%dT%H%M%S", gmtime_r(&now.tv_sec, &utc));
    const char *folder = settings->output != NULL ? settings->output : "";
    bool has_slash = *folder == '\0' || folder[strlen(folder) - 1] == '/';
    return hp_memory_format("%s%sheapprof.%s.%d.%s%03ld.%s.pb.gz", folder, has_slash ? "" : "/",
                            process->service, process->pid, date, now.tv_nsec / 1000000,
                            hp_capture_type_name(settings->type));
}

static const char *shown(const char *output) {
    return strcmp(output, "-") == 0 ? "standard output" : output;
}

static bool check_output(const struct settings *settings, const struct hp_process *process) {
    struct hp_error error = {""};
    char *output = name_output(settings, process);
    bool good = hp_output_check(output, HP_OUTPUT_BINARY, &error);
    if (!good)
        hp_command_say("%s: %s", shown(output), error.text);
    free(output);
    return good;
}

/* The bytes as they came. */
static bool save_raw(const struct hp_control_reply *raw, const char *path, struct hp_error *error) {
    struct hp_output output;
    if (!hp_output_open(&output, path, HP_OUTPUT_BINARY, error))
        return false;
    if (hp_output_write(&output, raw->bytes, raw->length, error))
        return hp_output_commit(&output, error);
    hp_output_abort(&output);
    return false;
}

/* -- What people are told -- */

/* "in 5.0 s" for a window; the caller frees it. */
static char *name_window(const struct hp_profile *profile) {
    return profile->duration_nanos > 0 ? hp_memory_format(" in %.1f s", (double)profile->duration_nanos / 1e9)
                                       : hp_memory_format("%s", "");
}

/* A stretch without a sample is longer than three mean distances once in twenty times. */
static void say_nothing(const struct job *job, const struct settings *settings,
                        const struct hp_profile *profile) {
    char most[HP_TEXT_NUMBER];
    char *window = name_window(profile);
    hp_text_value(most, hp_profile_add(hp_profile_add(profile->period, profile->period), profile->period),
                  "bytes", false);
    if (settings->type == HP_CAPTURE_GROWTH)
        hp_command_say("%s: no sample came or went%s: live memory did not change as far as can be seen",
                       job->name, window);
    else
        hp_command_say("%s: nothing was sampled%s: probably less than %s %s", job->name, window, most,
                       settings->type == HP_CAPTURE_HEAP ? "is live" : "was allocated");
    free(window);
}

static void say_total(const struct job *job, const struct settings *settings,
                      const struct hp_profile *profile, int64_t total,
                      const struct hp_sampling_error *sampling) {
    char text[HP_TEXT_NUMBER], period[HP_TEXT_NUMBER];
    bool is_growth = settings->type == HP_CAPTURE_GROWTH;
    char *window = name_window(profile);
    hp_text_value(text, total, "bytes", false);
    hp_text_value(period, profile->period, "bytes", false);
    hp_command_say("%s: %s%s %s%s, %zu stacks, about %.0f samples, give or take %.1f%%", job->name,
                   is_growth && total > 0 ? "+" : "", text,
                   settings->type == HP_CAPTURE_ALLOCS ? "allocated" : "live", window, profile->n_samples,
                   sampling->samples, 100 * sampling->relative);
    if (sampling->relative > HP_SAMPLING_TRUSTED)
        hp_command_say(
            "%s: too few samples to trust: %sa smaller HEAPPROF_SAMPLE than %s at its start would help",
            job->name, settings->type == HP_CAPTURE_HEAP ? "" : "a longer --duration-ms or ", period);
    free(window);
}

static void say_samples(const struct job *job, const struct settings *settings,
                        const struct hp_profile *profile) {
    size_t objects = 0, bytes = 0;
    int64_t total = 0;
    if (!hp_capture_columns(profile, settings->type, &objects, &bytes))
        return;
    struct hp_sampling_error sampling = hp_sampling_error_of(profile, objects, bytes);
    for (size_t i = 0; i < profile->n_samples; i++)
        total = hp_profile_add(total, profile->samples[i].values[bytes]);
    if (sampling.samples == 0)
        say_nothing(job, settings, profile);
    else
        say_total(job, settings, profile, total, &sampling);
}

static void say_losses(const struct job *job, const struct hp_profile *profile) {
    uint64_t lost = 0;
    if (hp_profile_comment_number(profile, "samples lost", &lost) && lost > 0)
        hp_command_say("%s: %llu samples found no room in its tables: what they stood for is missing",
                       job->name, (unsigned long long)lost);
}

/* -- One process -- */

static bool fail(const struct job *job, const struct hp_error *error) {
    hp_progress_clear();
    hp_command_say("%s: %s", job->name, error->text);
    return false;
}

static bool save(const struct job *job, const struct settings *settings, struct hp_profile *profile,
                 const struct hp_control_reply *raw) {
    struct hp_error error = {""};
    char *output = name_output(settings, job->target.process);
    if (!settings->raw) {
        const struct hp_symbolizer_options options = {
            .places = hp_capture_target_places(&job->target, (const char *const *)settings->search.folders,
                                               settings->search.count)};
        hp_symbolizer_run_with(profile, &options, &hp_symbol_report_brief);
        hp_progress_clear();
    }
    bool done = raw != NULL ? save_raw(raw, output, &error) : hp_profile_save(profile, output, &error);
    if (!done)
        hp_command_say("%s: %s", shown(output), error.text);
    else if (strcmp(output, "-") != 0)
        puts(output);
    fflush(stdout);
    free(output);
    return done;
}

/* The profile of the end, or of the moment when there is no window; written. */
static bool finish(const struct job *job, const struct settings *settings) {
    struct hp_error error = {""};
    struct hp_control_reply raw;
    hp_progress_show("%s: taking a profile", job->name);
    struct hp_profile *profile = hp_capture_target_profile(&job->target, &raw, &error);
    hp_progress_clear();
    if (profile == NULL)
        return fail(job, &error);
    if (settings->type != HP_CAPTURE_HEAP) {
        struct hp_profile *delta = hp_capture_delta(job->first, profile, settings->type, &error);
        hp_profile_free(profile);
        profile = delta;
    }
    if (profile == NULL) {
        free(raw.bytes);
        return fail(job, &error);
    }
    say_samples(job, settings, profile);
    say_losses(job, profile);
    bool is_as_it_came = settings->raw && settings->type == HP_CAPTURE_HEAP;
    bool done = save(job, settings, profile, is_as_it_came ? &raw : NULL);
    hp_profile_free(profile);
    free(raw.bytes);
    return done;
}

/* The profile of the start. */
static bool begin(struct job *job) {
    struct hp_error error = {""};
    struct hp_control_reply raw;
    job->first = hp_capture_target_profile(&job->target, &raw, &error);
    free(raw.bytes);
    return job->first != NULL || fail(job, &error);
}

/* -- All of them -- */

/* False: nobody is left to be asked at the end. */
static bool wait_for_end(const struct settings *settings, const struct job *jobs, size_t count) {
    int *pidfds = hp_memory_new(count, sizeof *pidfds);
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].first != NULL)
            pidfds[waiting++] = jobs[i].target.pidfd;
    enum hp_window_end end = HP_WINDOW_DESERTED;
    if (waiting > 0)
        end = hp_capture_window_wait(settings->duration_ms, pidfds, waiting,
                                     count == 1 ? jobs[0].name : settings->who);
    free(pidfds);
    if (end == HP_WINDOW_DESERTED && waiting > 0)
        hp_command_say("%s: has exited during the window: there is no end to compare its start with",
                       count == 1 ? jobs[0].name : settings->who);
    return end != HP_WINDOW_DESERTED;
}

static int capture(const struct settings *settings, const struct hp_process_list *list) {
    size_t count = list->count, done = 0;
    struct job *jobs = hp_memory_new(count, sizeof *jobs);
    bool has_window = settings->type != HP_CAPTURE_HEAP, goes_on = true;
    for (size_t i = 0; i < count; i++) {
        hp_capture_target_init(&jobs[i].target, &list->items[i]);
        jobs[i].name = hp_capture_target_name(&jobs[i].target);
        if (has_window)
            begin(&jobs[i]);
    }
    if (has_window)
        goes_on = wait_for_end(settings, jobs, count);
    for (size_t i = 0; i < count; i++) {
        if (goes_on && (!has_window || jobs[i].first != NULL))
            done += finish(&jobs[i], settings);
        hp_profile_free(jobs[i].first);
        hp_capture_target_fini(&jobs[i].target);
        free(jobs[i].name);
    }
    free(jobs);
    return done == count ? HP_STATUS_DONE : HP_STATUS_FAULT;
}

/* -- The command line -- */

static void show_choice(const struct hp_process_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        size_t length = 0;
        char *command = hp_proc_read(list->items[i].pid, "cmdline", &length);
        for (size_t at = 0; command != NULL && at + 1 < length; at++)
            if (command[at] == '\0')
                command[at] = ' ';
        char *fitted = hp_text_fit(command != NULL ? command : "", 60);
        fprintf(stderr, "  %7d  %s\n", list->items[i].pid, fitted);
        free(fitted);
        free(command);
    }
}

static int choose(const struct settings *settings, const struct hp_process_list *list) {
    if (list->count > 1 && !settings->all) {
        hp_command_say("%zu processes are called %s: name one by its pid, or take them --all", list->count,
                       settings->who);
        show_choice(list);
        return HP_STATUS_USAGE;
    }
    if (list->count > 1 && settings->output != NULL && !is_folder(settings->output))
        return hp_command_usage("capture", "%zu profiles need %zu files: --output takes a folder for them",
                                list->count, list->count);
    return check_output(settings, &list->items[0]) ? capture(settings, list) : HP_STATUS_FAULT;
}

static int find_and_capture(const struct settings *settings) {
    struct hp_error error = {""};
    if (!settings->use_debuginfod)
        unsetenv("DEBUGINFOD_URLS");
    struct hp_process_list list = hp_process_list_find(settings->who, &error);
    if (list.count == 0)
        hp_command_say("%s", error.text);
    int status = list.count == 0 ? HP_STATUS_FAULT : choose(settings, &list);
    hp_process_list_free(&list);
    return status;
}

static int take_type(struct settings *settings) {
    for (int type = 0; type < HP_CAPTURE_TYPES; type++)
        if (strcmp(optarg, hp_capture_type_name((enum hp_capture_type)type)) == 0) {
            settings->type = (enum hp_capture_type)type;
            return HP_STATUS_DONE;
        }
    return hp_command_usage("capture", "--profile-type takes heap, allocs or growth, not \"%s\"", optarg);
}

static int take_duration(struct settings *settings) {
    char *end = NULL;
    errno = 0;
    long ms = strtol(optarg, &end, 10);
    if (*optarg < '0' || *optarg > '9' || *end != '\0' || errno != 0 || ms < 1 || ms > LONGEST_WINDOW_MS)
        return hp_command_usage("capture", "--duration-ms takes 1 to %d milliseconds (a day), not \"%s\"",
                                LONGEST_WINDOW_MS, optarg);
    settings->duration_ms = ms;
    settings->has_duration = true;
    return HP_STATUS_DONE;
}

static int take_option(int letter, struct settings *settings) {
    struct hp_error error = {""};
    switch (letter) {
    case 't':
        return take_type(settings);
    case 'd':
        return take_duration(settings);
    case 'o':
        settings->output = optarg;
        return HP_STATUS_DONE;
    case 'a':
        settings->all = true;
        return HP_STATUS_DONE;
    case 'r':
        settings->raw = true;
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

static int parse_and_start(int argc, char **argv, struct settings *settings) {
    static const struct option options[] = {{"profile-type", required_argument, NULL, 't'},
                                            {"duration-ms", required_argument, NULL, 'd'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"all", no_argument, NULL, 'a'},
                                            {"raw", no_argument, NULL, 'r'},
                                            {"search-path", required_argument, NULL, 'p'},
                                            {"no-debuginfod", no_argument, NULL, 'D'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "t:d:o:arp:h", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        int status = take_option(letter, settings);
        if (status != HP_STATUS_DONE)
            return status;
    }
    if (argc - optind != 1)
        return hp_command_usage("capture", argc == optind ? "capture needs a pid or a service's name"
                                                          : "capture takes one pid or service");
    if (settings->has_duration && settings->type == HP_CAPTURE_HEAP)
        return hp_command_usage("capture",
                                "--duration-ms is for allocs and growth: heap is what is live now");
    settings->who = argv[optind];
    return find_and_capture(settings);
}

static int run(int argc, char **argv) {
    struct settings settings = {.duration_ms = USUAL_WINDOW_MS, .use_debuginfod = true};
    int status = parse_and_start(argc, argv, &settings);
    hp_search_path_free(&settings.search);
    return status;
}

const struct hp_command hp_command_capture = {"capture", "take a profile of a live process", run, print_help};
