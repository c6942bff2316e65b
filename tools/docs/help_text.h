/*
 * The help text of a command, taken apart: the one source of what the man page and the shell completions say.
 *
 *   usage: heapprof NAME ...     and, indented, its further lines
 *
 *   Paragraphs of text.
 *
 *     -x, --long ARGUMENT   what it does; further lines are indented more
 *         --other a|b       an argument that is one of these words
 *
 *   Example: what for
 *     heapprof NAME ...
 *
 * Built and used at build time only.
 */
#ifndef HP_TOOLS_DOCS_HELP_TEXT_H
#define HP_TOOLS_DOCS_HELP_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum { HP_HELP_MOST = 64 };

struct hp_help_option {
    char letter;    /* 0: none */
    char *name;     /* without the dashes */
    char *argument; /* "" without one */
    char *text;     /* in one line */
};

struct hp_help_text {
    char *name;                 /* the command's */
    char *summary;              /* of the overview */
    char *usage;                /* without "usage: "; each form a line */
    char *blocks[HP_HELP_MOST]; /* paragraphs before and after the options, lines as they are */
    struct hp_help_option options[HP_HELP_MOST];
    char *example;                               /* without "Example: ", lines as they are; "" without one */
    size_t n_blocks, n_blocks_before, n_options; /* blocks before the options come first */
};

/* What `HEAPPROF help TOPIC` prints (TOPIC may be ""). Ends the program with a line when it can't be run. */
char *hp_help_run(const char *heapprof, const char *topic);

/* Takes it apart, or ends the program with a line that says what does not fit the form above. */
void hp_help_parse(struct hp_help_text *help, const char *name, const char *summary, const char *text);

/* Ends the program: a help text is not as it has to be. */
void hp_help_fail(const char *name, const char *what) __attribute__((noreturn));

#endif
