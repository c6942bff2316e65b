/* heapprof run: start a program with heapprof as its allocator. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command/command.h"
#include "tools/command/environment.h"
#include "tools/base/memory.h"
#include "tools/command/preload.h"
#include "tools/command/program.h"
#include "tools/base/text.h"

enum { FIRST_VARIABLE = 256, WIDTH = 80, INDENT = 24 };

static void print_help(FILE *stream) {
    fputs("usage: heapprof run [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
          "\n"
          "Runs PROGRAM with libheapprof.so preloaded: it writes heap profiles when the\n"
          "program comes near its memory limit. Each option sets an environment variable\n"
          "(HEAPPROF_DUMP_DIR for --dump-dir); those already set stand without it.\n"
          "\n",
          stream);
    for (size_t i = 0; i < hp_variable_count; i++) {
        char option[HP_OPTION_NAME];
        hp_variable_option(&hp_variables[i], option);
        if (option[0] == '\0')
            continue;
        char *left = hp_memory_format("  --%s VALUE", option);
        fprintf(stream, "%-*s", INDENT, left);
        free(left);
        const char *value = hp_variables[i].default_text;
        char *help = *value == '\0' ? hp_memory_format("%s", hp_variables[i].help)
                                    : hp_memory_format("%s [%s]", hp_variables[i].help, value);
        hp_text_wrap(stream, help, INDENT, WIDTH);
        free(help);
    }
    fputs("  -h, --help            this text\n"
          "\n"
          "Example: a service with 128 MiB, and a folder that outlives it\n"
          "  heapprof run --limit 128M --dump-dir /var/tmp/dumps -- ./service --port 8080\n",
          stream);
}

/* getopt's table, made of the variables. */
static struct option *make_options(void) {
    struct option *options = hp_memory_new(hp_variable_count + 2, sizeof *options);
    size_t count = 0;
    for (size_t i = 0; i < hp_variable_count; i++) {
        char name[HP_OPTION_NAME];
        hp_variable_option(&hp_variables[i], name);
        if (name[0] != '\0')
            options[count++] = (struct option){hp_memory_format("%s", name), required_argument, NULL,
                                               FIRST_VARIABLE + (int)i};
    }
    options[count] = (struct option){"help", no_argument, NULL, 'h'};
    return options;
}

static void free_options(struct option *options) {
    for (struct option *option = options; option->val >= FIRST_VARIABLE; option++)
        free((void *)(uintptr_t)option->name);
    free(options);
}

static int start(char **argv) {
    struct hp_error error = {""};
    char *directory = hp_preload_own_directory();
    char *library = hp_preload_find_library(directory, &error);
    char *program = library != NULL ? hp_program_find(argv[0], &error) : NULL;
    if (program != NULL && hp_program_can_preload(program, &error) && hp_preload_set(library, &error)) {
        execvp(argv[0], argv);
        hp_error_set(&error, "%s: %s", argv[0], strerror(errno));
    }
    hp_command_say("%s", error.text);
    free(program);
    free(library);
    free(directory);
    return HP_STATUS_FAULT;
}

/* Sets the variables; `program` becomes the place of the program in argv, or 0 when it is not to be run. */
static int take_options(int argc, char **argv, const struct option *options, int *program) {
    *program = 0;
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "h", options, true)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        if (letter < FIRST_VARIABLE)
            return HP_STATUS_USAGE;
        if (setenv(hp_variables[letter - FIRST_VARIABLE].name, optarg, 1) != 0) {
            hp_command_say("%s", strerror(errno));
            return HP_STATUS_FAULT;
        }
    }
    if (optind == argc)
        return hp_command_usage("run", "run needs a program");
    *program = optind;
    return HP_STATUS_DONE;
}

static int run(int argc, char **argv) {
    int program = 0;
    struct option *options = make_options();
    int status = take_options(argc, argv, options, &program);
    free_options(options);
    return program > 0 ? start(argv + program) : status;
}

const struct hp_command hp_command_run = {"run", "run a program with heapprof as its allocator", run,
                                          print_help};
