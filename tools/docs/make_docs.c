/*
 * make_docs HEAPPROF VERSION bash|zsh|man: a shell completion, or the man page, from what `HEAPPROF help`
 * prints. Run by the build.
 */
#include "make_docs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

enum hp_docs_kind hp_docs_argument_kind(const struct hp_help_option *option) {
    const char *argument = option->argument;
    if (strchr(argument, '|') != NULL && strpbrk(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL)
        return HP_DOCS_WORDS;
    if (strstr(option->name, "dir") != NULL || strstr(argument, "DIR") != NULL ||
        strstr(argument, "FOLDER") != NULL)
        return HP_DOCS_FOLDER;
    if (strncmp(argument, "FILE", 4) == 0 || strncmp(argument, "OUT", 3) == 0)
        return HP_DOCS_FILE;
    return HP_DOCS_ANYTHING;
}

enum hp_docs_kind hp_docs_operand_kind(const struct hp_help_text *help) {
    if (strstr(help->usage, "PROGRAM") != NULL)
        return HP_DOCS_PROGRAM;
    if (strstr(help->usage, "COMMAND") != NULL)
        return HP_DOCS_COMMAND;
    if (strstr(help->usage, "PID") != NULL)
        return HP_DOCS_PROCESS;
    return strstr(help->usage, "FILE") != NULL ? HP_DOCS_FILE : HP_DOCS_ANYTHING;
}

/* The overview lists the commands after two blanks, the name in a column of its own. */
static void take_commands(struct hp_docs *docs, const char *heapprof, char *overview) {
    char *save = NULL;
    for (char *line = strtok_r(overview, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "  ", 2) != 0 || strncmp(line, "  heapprof ", 11) == 0)
            continue;
        char *name = line + 2, *end = name + strcspn(name, " ");
        char *summary = end + strspn(end, " ");
        *end = '\0';
        if (docs->n_commands == HP_HELP_MOST)
            hp_help_fail("the overview", "too many commands");
        char *text = hp_help_run(heapprof, name);
        hp_help_parse(&docs->commands[docs->n_commands++], name, summary, text);
        free(text);
    }
    if (docs->n_commands == 0)
        hp_help_fail("the overview", "no commands");
}

/* The paragraph after the usage. */
static char *intro_of(const char *overview) {
    const char *begin = strstr(overview, "\n\n");
    const char *end = begin != NULL ? strstr(begin + 2, "\n\n") : NULL;
    if (end == NULL)
        hp_help_fail("the overview", "no paragraph");
    return hp_memory_format("%.*s", (int)(end - begin - 2), begin + 2);
}

int main(int argc, char **argv) {
    static struct hp_docs docs;
    static const struct {
        const char *name;
        void (*make)(FILE *stream, const struct hp_docs *docs);
    } kinds[] = {{"bash", hp_docs_bash}, {"zsh", hp_docs_zsh}, {"man", hp_docs_man}};
    if (argc != 4)
        hp_help_fail("make_docs", "usage: make_docs HEAPPROF VERSION bash|zsh|man");
    char *overview = hp_help_run(argv[1], "");
    docs.version = argv[2];
    docs.intro = intro_of(overview);
    docs.environment = hp_help_run(argv[1], "env");
    take_commands(&docs, argv[1], overview);
    free(overview);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[3], kinds[i].name) != 0)
            continue;
        kinds[i].make(stdout, &docs);
        return fflush(stdout) != 0 || ferror(stdout) != 0;
    }
    hp_help_fail(argv[3], "is neither bash, zsh nor man");
}
