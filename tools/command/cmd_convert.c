/* heapprof convert: jemalloc's own heap dumps, as pprof files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/command/command.h"
#include "tools/profile/heap_v2.h"
#include "tools/base/memory.h"
#include "tools/base/output_file.h"
#include "tools/profile/profile_input.h"
#include "tools/profile/profile_merge.h"
#include "tools/profile/profile_writer.h"

static void print_help(FILE *stream) {
    fputs("usage: heapprof convert FILE [-o OUT]\n"
          "\n"
          "Turns a heap dump of jemalloc itself (MALLOC_CONF=prof:true; its first line is\n"
          "heap_v2/...) into a pprof file that heapprof and pprof read. The values become\n"
          "estimates of the whole, by the formula of jeprof. Do it where the program ran:\n"
          "the dump has no build ids, so the files that it names are asked for theirs.\n"
          "\n"
          "  -o, --output OUT   write to OUT; - is standard output (default: FILE.pb.gz)\n"
          "  -h, --help         this text\n"
          "\n"
          "Example: who holds the memory in a dump of jemalloc\n"
          "  heapprof convert jeprof.4711.0.f.heap -o dump.pb.gz\n"
          "  heapprof top dump.pb.gz\n",
          stream);
}

/* When the dump was written, in ns since 1970: it does not say so itself. 0 when nothing tells. */
static int64_t time_of(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_mtim.tv_sec < 0 ||
        status.st_mtim.tv_sec > INT64_MAX / 1000000000 - 1)
        return 0;
    return (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
}

static struct hp_profile *read_dump(const char *path, struct hp_error *error) {
    struct hp_bytes bytes = {0};
    if (!hp_input_read(path, &hp_input_limits_default, &bytes, error))
        return NULL;
    struct hp_profile *profile = hp_heap_v2_parse(bytes.data, bytes.size, error);
    free(bytes.data);
    if (profile != NULL && strcmp(path, "-") != 0)
        profile->time_nanos = time_of(path);
    return profile;
}

/* Stacks that differed only inside jemalloc become one. */
static struct hp_profile *read_merged(const char *path, struct hp_error *error) {
    struct hp_profile *dump = read_dump(path, error), *merged = NULL;
    if (dump == NULL)
        return NULL;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    if (hp_profile_merge_add(merge, dump, HP_MERGE_ADD, error) &&
        hp_profile_merge_comment(merge, "converted from: jemalloc heap_v2", error))
        merged = hp_profile_merge_finish(merge, error);
    hp_profile_merge_free(merge);
    hp_profile_free(dump);
    return merged;
}

static int convert(const char *path, const char *output) {
    struct hp_error error = {""};
    if (!hp_output_check(output, HP_OUTPUT_BINARY, &error)) {
        hp_command_say("%s: %s", output, error.text);
        return HP_STATUS_FAULT;
    }
    struct hp_profile *profile = read_merged(path, &error);
    if (profile == NULL) {
        hp_command_say("%s: %s", path, error.text);
        return HP_STATUS_FAULT;
    }
    bool done = hp_profile_save(profile, output, &error);
    hp_profile_free(profile);
    if (!done)
        hp_command_say("%s: %s", output, error.text);
    return done ? HP_STATUS_DONE : HP_STATUS_FAULT;
}

static int run(int argc, char **argv) {
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *output = NULL;
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "o:h", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        if (letter != 'o')
            return HP_STATUS_USAGE;
        output = optarg;
    }
    if (argc - optind != 1)
        return hp_command_usage("convert",
                                argc == optind ? "convert needs a file" : "convert takes one file");
    const char *path = argv[optind];
    char *usual = strcmp(path, "-") == 0 ? hp_memory_format("-") : hp_memory_format("%s.pb.gz", path);
    int status = convert(path, output != NULL ? output : usual);
    free(usual);
    return status;
}

const struct hp_command hp_command_convert = {"convert", "make a pprof file of jemalloc's own heap dump", run,
                                              print_help};
