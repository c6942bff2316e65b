/* heapprof merge, heapprof diff: many profiles into one, and what changed from one to another. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command/command.h"
#include "tools/base/output_file.h"
#include "tools/profile/profile_merge.h"
#include "tools/profile/profile_reader.h"
#include "tools/profile/profile_writer.h"
#include "tools/base/progress.h"

struct job {
    const char *command, *output;
    char **files;
    size_t n_files;
    bool is_difference; /* the first file is the base */
};

static void print_merge_help(FILE *stream) {
    fputs("usage: heapprof merge -o OUT FILE...\n"
          "\n"
          "Adds up the values of all FILEs, stack by stack, into one profile. The files may\n"
          "be of different processes and hosts: a frame is known by the build id of its\n"
          "binary (else by its name) and the offset in it. One file is read at a time, so\n"
          "thousands take no more memory than their different stacks. The result keeps the\n"
          "comments that all files have, and the sample types that all have.\n"
          "\n"
          "  -o, --output OUT   where the result goes; - is standard output\n"
          "  -h, --help         this text\n"
          "\n"
          "Example: all dumps of a night\n"
          "  heapprof merge -o night.pb.gz /var/tmp/dumps/*.pb.gz\n",
          stream);
}

static void print_diff_help(FILE *stream) {
    fputs("usage: heapprof diff BASE FILE -o OUT\n"
          "\n"
          "Writes what changed from BASE to FILE: of each stack, FILE's values less BASE's,\n"
          "negative where there is less. Frames are told apart as by heapprof merge, so the\n"
          "two may be of different processes.\n"
          "\n"
          "  -o, --output OUT   where the result goes; - is standard output\n"
          "  -h, --help         this text\n"
          "\n"
          "Example: what grew between two thresholds\n"
          "  heapprof diff s.1.limit80.pb.gz s.3.limit95.pb.gz -o growth.pb.gz\n",
          stream);
}

static bool add_file(struct hp_profile_merge *merge, const char *path, enum hp_merge_sign sign) {
    struct hp_error error = {""};
    struct hp_profile *profile = hp_profile_read(path, &error);
    bool done = profile != NULL && hp_profile_merge_add(merge, profile, sign, &error);
    hp_profile_free(profile);
    if (!done) {
        hp_progress_clear();
        hp_command_say("%s: %s", path, error.text);
    }
    return done;
}

static bool add_files(struct hp_profile_merge *merge, const struct job *job) {
    /* What is added comes first: the result is described by it. */
    if (job->is_difference)
        return add_file(merge, job->files[1], HP_MERGE_ADD) &&
               add_file(merge, job->files[0], HP_MERGE_SUBTRACT);
    for (size_t i = 0; i < job->n_files; i++) {
        hp_progress_show("reading %zu of %zu: %s", i + 1, job->n_files, job->files[i]);
        if (!add_file(merge, job->files[i], HP_MERGE_ADD))
            return false;
    }
    hp_progress_clear();
    return true;
}

static void say_left_out(const struct hp_profile_merge *merge) {
    char *names = hp_profile_merge_left_out(merge);
    if (names != NULL)
        hp_command_say("left out %s: not every file has it", names);
    free(names);
}

static bool save(struct hp_profile_merge *merge, const char *path) {
    struct hp_error error = {""};
    struct hp_profile *profile = hp_profile_merge_finish(merge, &error);
    bool done = profile != NULL && hp_profile_save(profile, path, &error);
    hp_profile_free(profile);
    if (!done)
        hp_command_say("%s: %s", path, error.text);
    return done;
}

static int do_job(const struct job *job) {
    struct hp_error error = {""};
    if (!hp_output_check(job->output, HP_OUTPUT_BINARY, &error)) {
        hp_command_say("%s: %s", job->output, error.text);
        return HP_STATUS_FAULT;
    }
    struct hp_profile_merge *merge = hp_profile_merge_new();
    bool done = add_files(merge, job);
    if (done) {
        say_left_out(merge);
        done = save(merge, job->output);
    }
    hp_profile_merge_free(merge);
    return done ? HP_STATUS_DONE : HP_STATUS_FAULT;
}

/* False: the command is over, with *status. */
static bool take_options(int argc, char **argv, struct job *job, int *status) {
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {0}};
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "o:h", options, false)) != -1;) {
        if (letter != 'o') {
            *status = letter == 'h' ? HP_STATUS_DONE : HP_STATUS_USAGE;
            if (letter == 'h')
                hp_command_find(job->command)->print_help(stdout);
            return false;
        }
        job->output = optarg;
    }
    job->files = argv + optind;
    job->n_files = (size_t)(argc - optind);
    if (job->output != NULL)
        return true;
    *status = hp_command_usage(job->command, "%s needs -o OUT", job->command);
    return false;
}

static int run_merge(int argc, char **argv) {
    struct job job = {.command = "merge"};
    int status = HP_STATUS_DONE;
    if (!take_options(argc, argv, &job, &status))
        return status;
    if (job.n_files == 0)
        return hp_command_usage("merge", "merge needs a file");
    return do_job(&job);
}

static int run_diff(int argc, char **argv) {
    struct job job = {.command = "diff", .is_difference = true};
    int status = HP_STATUS_DONE;
    if (!take_options(argc, argv, &job, &status))
        return status;
    if (job.n_files != 2)
        return hp_command_usage("diff", "diff needs two files, BASE and FILE");
    return do_job(&job);
}

const struct hp_command hp_command_merge = {"merge", "add up many profiles", run_merge, print_merge_help};
const struct hp_command hp_command_diff = {"diff", "write what changed from one profile to another", run_diff,
                                           print_diff_help};
