/* heapprof: the command. One subcommand a file; this one only picks it. */
#include <stdio.h>
#include <string.h>

#include "tools/command/command.h"

const struct hp_command *const hp_commands[] = {
    &hp_command_run,
    &hp_command_list,
    &hp_command_status,
    &hp_command_capture,
    &hp_command_top,
    &hp_command_flame,
    &hp_command_diff,
    &hp_command_merge,
    &hp_command_symbolize,
    &hp_command_convert,
    &hp_command_check,
    &hp_command_help,
    NULL,
};

static bool is_option(const char *argument, const char *word, const char *letter) {
    return strcmp(argument, word) == 0 || strcmp(argument, letter) == 0;
}

static int dispatch(int argc, char **argv) {
    if (is_option(argv[0], "--version", "-V")) {
        puts("heapprof " HP_VERSION);
        return HP_STATUS_DONE;
    }
    if (is_option(argv[0], "--help", "-h")) {
        hp_command_help.print_help(stdout);
        return HP_STATUS_DONE;
    }
    const struct hp_command *command = hp_command_find(argv[0]);
    if (command != NULL)
        return command->run(argc, argv);
    return argv[0][0] == '-' ? hp_command_usage(NULL, "there is no option %s", argv[0])
                             : hp_command_usage(NULL, "there is no command \"%s\"", argv[0]);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        hp_command_help.print_help(stderr);
        return HP_STATUS_USAGE;
    }
    return hp_command_finish(dispatch(argc - 1, argv + 1));
}
