/* The HEAPPROF_* variables, as the command shows and sets them; from the one table, options.def. */
#ifndef HP_TOOLS_ENVIRONMENT_H
#define HP_TOOLS_ENVIRONMENT_H

#include <stddef.h>

struct hp_variable {
    const char *name;         /* "HEAPPROF_DUMP_DIR" */
    const char *default_text; /* "." */
    const char *help;
};

/* All of them, in the order of the table. */
extern const struct hp_variable hp_variables[];
extern const size_t hp_variable_count;

enum { HP_OPTION_NAME = 64 }; /* room for any of these */

/*
 * The option of `heapprof run` that sets the variable, without its dashes: "dump-dir". "" for HEAPPROF
 * itself, which needs none: running without the profiler is running the program.
 */
void hp_variable_option(const struct hp_variable *variable, char option[HP_OPTION_NAME]);

#endif
