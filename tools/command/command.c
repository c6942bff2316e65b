#include "tools/command/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"

const struct hp_command *hp_command_find(const char *name) {
    for (const struct hp_command *const *command = hp_commands; *command != NULL; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

void hp_command_say(const char *format, ...) {
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    char *clean = hp_text_clean(text);
    fprintf(stderr, "heapprof: %s\n", clean);
    free(clean);
    free(text);
}

int hp_command_usage(const char *name, const char *format, ...) {
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return HP_STATUS_USAGE;
    hp_command_say("%s (see: heapprof help%s%s)", text, name != NULL ? " " : "", name != NULL ? name : "");
    free(text);
    return HP_STATUS_USAGE;
}

int hp_command_option(int argc, char **argv, const char *letters, const struct option *options,
                      bool in_order) {
    /* getopt names the program by argv[0]. */
    static char program[] = "heapprof";
    char *name = argv[0];
    char *prefixed = hp_memory_format("%s%s", in_order ? "+" : "", letters);
    argv[0] = program;
    int letter = getopt_long(argc, argv, prefixed, options, NULL);
    argv[0] = name;
    free(prefixed);
    return letter;
}

int hp_command_finish(int status) {
    bool failed = ferror(stdout) != 0;
    failed |= fflush(stdout) != 0;
    if (!failed)
        return status;
    hp_command_say("standard output: %s", strerror(errno));
    return HP_STATUS_FAULT;
}
