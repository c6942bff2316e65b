/* What a subcommand of `heapprof` is. Each lives in its own cmd_*.c; main.c has the table. */
#ifndef HP_TOOLS_COMMAND_H
#define HP_TOOLS_COMMAND_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum hp_status {
    HP_STATUS_DONE = 0,
    HP_STATUS_FAULT = 1, /* the input or the target is at fault; one line said why */
    HP_STATUS_USAGE = 2  /* the command line is */
};

struct hp_command {
    const char *name;
    const char *summary;               /* one line */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an hp_status */
    /* In the form that docs/help_text.h has: the man page and the completions are made of it. */
    void (*print_help)(FILE *stream);
};

/* All of them, in the order of the help; NULL after the last. */
extern const struct hp_command *const hp_commands[];

/* The command of this name; NULL when there is none. */
const struct hp_command *hp_command_find(const char *name);

/* Says on standard error, after "heapprof: ", what is wrong. Control characters are shown, not sent. */
void hp_command_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a wrong command line, with a hint at `heapprof help NAME`. Returns HP_STATUS_USAGE. */
int hp_command_usage(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * getopt_long for a command: its messages start with "heapprof: ". Scans argv[1..) only up to the first
 * word that is no option when `in_order`.
 */
int hp_command_option(int argc, char **argv, const char *letters, const struct option *options,
                      bool in_order);

/* Flushes standard output: HP_STATUS_FAULT, and a line, when what was written did not arrive. */
int hp_command_finish(int status);

extern const struct hp_command hp_command_run, hp_command_list, hp_command_status, hp_command_capture,
    hp_command_top, hp_command_flame, hp_command_diff, hp_command_merge, hp_command_symbolize,
    hp_command_convert, hp_command_check, hp_command_help;

#endif
