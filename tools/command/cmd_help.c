/* heapprof help: what there is, one command in full, or the environment variables. */
#include <string.h>

#include "tools/command/command.h"
#include "tools/command/environment.h"
#include "tools/base/text.h"

enum { WIDTH = 80 };

static void print_overview(FILE *stream) {
    fputs("usage: heapprof COMMAND [ARGUMENT...]\n"
          "\n"
          "Finds the code that holds a program's memory, from the heap profiles that\n"
          "libheapprof.so writes before a memory limit kills the program.\n"
          "\n",
          stream);
    for (const struct hp_command *const *command = hp_commands; *command != NULL; command++)
        fprintf(stream, "  %-10s%s\n", (*command)->name, (*command)->summary);
    fputs("\n"
          "  heapprof help COMMAND   a command's options\n"
          "  heapprof help env       the environment variables that libheapprof.so reads\n"
          "  heapprof --version      the version\n"
          "\n"
          "Exit status: 0 done, 1 the input or the program is at fault, 2 wrong usage.\n",
          stream);
}

/* A width that fits the longest of the table's first or second column. */
static size_t column_width(size_t (*length)(const struct hp_variable *variable)) {
    size_t width = 0;
    for (size_t i = 0; i < hp_variable_count; i++)
        if (length(&hp_variables[i]) > width)
            width = length(&hp_variables[i]);
    return width + 2;
}

static size_t name_length(const struct hp_variable *variable) {
    return strlen(variable->name);
}

static size_t default_length(const struct hp_variable *variable) {
    return strlen(variable->default_text);
}

static void print_environment(FILE *stream) {
    int names = (int)column_width(name_length), defaults = (int)column_width(default_length);
    fprintf(stream, "%-*s%-*s%s\n", names, "VARIABLE", defaults, "DEFAULT", "MEANING");
    for (size_t i = 0; i < hp_variable_count; i++) {
        const struct hp_variable *variable = &hp_variables[i];
        fprintf(stream, "%-*s%-*s", names, variable->name, defaults, variable->default_text);
        hp_text_wrap(stream, variable->help, (size_t)(names + defaults), WIDTH);
    }
    fputs("\nSizes take K, M, G or T (powers of 1024). A value that can't be understood is\n"
          "named on standard error, and the default stands. `heapprof run` sets them by\n"
          "options.\n",
          stream);
}

static int run(int argc, char **argv) {
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "h", options, false)) != -1;)
        if (letter != 'h')
            return HP_STATUS_USAGE;
    if (argc - optind > 1)
        return hp_command_usage(NULL, "help explains one thing at a time");
    const char *topic = optind < argc ? argv[optind] : NULL;
    const struct hp_command *command = topic != NULL ? hp_command_find(topic) : NULL;
    if (topic == NULL)
        print_overview(stdout);
    else if (strcmp(topic, "env") == 0)
        print_environment(stdout);
    else if (command != NULL)
        command->print_help(stdout);
    else
        return hp_command_usage(NULL, "there is no command \"%s\"", topic);
    return HP_STATUS_DONE;
}

const struct hp_command hp_command_help = {"help", "explain a command, or the environment (help env)", run,
                                           print_overview};
