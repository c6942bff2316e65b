/* What make_docs makes of the help texts. Each writes a whole file. */
#ifndef HP_TOOLS_DOCS_MAKE_DOCS_H
#define HP_TOOLS_DOCS_MAKE_DOCS_H

#include "help_text.h"

struct hp_docs {
    struct hp_help_text commands[HP_HELP_MOST];
    size_t n_commands;
    const char *version;
    char *intro;       /* the overview's paragraph on what the command is for */
    char *environment; /* what `heapprof help env` prints */
};

/* A completion of each option, of arguments that are words, files or folders, and of what the usage ends in.
 */
void hp_docs_bash(FILE *stream, const struct hp_docs *docs);
void hp_docs_zsh(FILE *stream, const struct hp_docs *docs);

/* heapprof(1), in the macros of man(7). */
void hp_docs_man(FILE *stream, const struct hp_docs *docs);

/* What stands in an option's argument or in a usage. */
enum hp_docs_kind {
    HP_DOCS_ANYTHING,
    HP_DOCS_WORDS,
    HP_DOCS_FILE,
    HP_DOCS_FOLDER,
    HP_DOCS_PROGRAM,
    HP_DOCS_COMMAND,
    HP_DOCS_PROCESS
};

enum hp_docs_kind hp_docs_argument_kind(const struct hp_help_option *option);
enum hp_docs_kind hp_docs_operand_kind(const struct hp_help_text *help);

#endif
