/* heapprof check: is this a sound profile, and what is in it? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command/command.h"
#include "tools/profile/profile_audit.h"
#include "tools/profile/profile_reader.h"
#include "tools/base/text.h"

static void print_help(FILE *stream) {
    fputs("usage: heapprof check [--strict] FILE...\n"
          "\n"
          "Says whether each FILE (- is standard input) is a sound pprof profile, and what\n"
          "is in it. Exit status 1, and a line that names the file and its fault, for one\n"
          "that is not.\n"
          "\n"
          "      --strict   what is only worth a note is a fault too: what some readers of\n"
          "                 pprof files refuse or misread\n"
          "  -h, --help     this text\n"
          "\n"
          "Example: are the dumps of this folder fit for every viewer?\n"
          "  heapprof check --strict /var/tmp/dumps/*.pb.gz\n",
          stream);
}

/* "  label         text", made clean. */
static void print_fact(const char *label, const char *text) {
    char *clean = hp_text_clean(text);
    printf("  %-16s%s\n", label, clean);
    free(clean);
}

static void print_types(const struct hp_profile *profile) {
    char number[HP_TEXT_NUMBER];
    size_t shown = hp_profile_default_type(profile);
    for (size_t i = 0; i < profile->n_sample_types; i++) {
        const struct hp_value_type *type = &profile->sample_types[i];
        char *name = hp_text_clean(type->type), *unit = hp_text_clean(type->unit);
        bool in_bytes = strcmp(type->unit, "bytes") == 0;
        printf("  %-16s%12s%s%s%s\n", name,
               hp_text_value(number, hp_profile_total(profile, i), type->unit, false), in_bytes ? "" : " ",
               in_bytes ? "" : unit, i == shown ? "   (shown by default)" : "");
        free(name);
        free(unit);
    }
}

static void print_shape(const struct hp_profile *profile, const struct hp_audit *audit) {
    char share[HP_TEXT_NUMBER];
    printf("  %-16s%zu stacks, at most %zu frames deep\n", "samples", profile->n_samples, audit->deepest);
    printf("  %-16s%zu, %zu of them with symbols, in %zu mappings\n", "locations", profile->n_locations,
           audit->symbolized, profile->n_mappings);
    if (audit->unused_locations > 0 || audit->unused_mappings > 0)
        printf("  %-16s%zu locations, %zu mappings\n", "not used", audit->unused_locations,
               audit->unused_mappings);
    if (audit->truncated > 0)
        printf("  %-16s%zu of %zu stacks (%s)\n", "cut short", audit->truncated, profile->n_samples,
               hp_text_share(share, (int64_t)audit->truncated, (int64_t)profile->n_samples));
    if (profile->period != 0) {
        char *unit = hp_text_clean(profile->period_type.unit);
        bool in_bytes = strcmp(unit, "bytes") == 0;
        printf("  %-16s%s%s%s\n", "sampled every", hp_text_value(share, profile->period, unit, false),
               in_bytes ? "" : " ", in_bytes ? "" : unit);
        free(unit);
    }
}

static void print_profile(const char *path, const struct hp_profile *profile, const struct hp_audit *audit) {
    char time[HP_TEXT_NUMBER];
    char *name = hp_text_clean(path);
    printf("%s: a sound profile\n", name);
    free(name);
    print_types(profile);
    print_shape(profile, audit);
    if (profile->time_nanos != 0)
        print_fact("taken", hp_text_time(time, profile->time_nanos));
    if (profile->drop_frames[0] != '\0')
        print_fact("hides", profile->drop_frames);
    if (profile->doc_url[0] != '\0')
        print_fact("documentation", profile->doc_url);
    for (size_t i = 0; i < profile->n_comments; i++)
        print_fact(i == 0 ? "comments" : "", profile->comments[i]);
    for (size_t i = 0; i < audit->n_notes; i++)
        print_fact(i == 0 ? "notes" : "", audit->notes[i].text);
}

static bool check(const char *path, bool strict) {
    struct hp_error error = {""};
    struct hp_audit audit = {0};
    struct hp_profile *profile = hp_profile_read(path, &error);
    bool sound = profile != NULL && hp_profile_audit(profile, &audit, &error);
    if (sound && strict && audit.n_notes > 0)
        sound = hp_error_set(&error, "%s", audit.notes[0].text);
    if (sound)
        print_profile(path, profile, &audit);
    else
        hp_command_say("%s: %s", path, error.text);
    hp_profile_free(profile);
    return sound;
}

static int run(int argc, char **argv) {
    enum { STRICT = 256 };
    static const struct option options[] = {
        {"strict", no_argument, NULL, STRICT}, {"help", no_argument, NULL, 'h'}, {0}};
    bool strict = false, all_sound = true;
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "h", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        if (letter != STRICT)
            return HP_STATUS_USAGE;
        strict = true;
    }
    if (optind == argc)
        return hp_command_usage("check", "check needs a file");
    for (int i = optind; i < argc; i++)
        all_sound &= check(argv[i], strict);
    return all_sound ? HP_STATUS_DONE : HP_STATUS_FAULT;
}

const struct hp_command hp_command_check = {"check", "say whether a profile file is sound, and what is in it",
                                            run, print_help};
