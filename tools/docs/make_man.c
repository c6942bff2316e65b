#include <stdlib.h>
#include <string.h>

#include "make_docs.h"
#include "tools/base/memory.h"

/* Text for roff: nothing in it is a request or an escape; - is a minus sign, as in what one types. */
static void print_text(FILE *stream, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char letter = text[i];
        if ((letter == '.' || letter == '\'') && (i == 0 || text[i - 1] == '\n'))
            fputs("\\&", stream);
        if (letter == '\\')
            fputs("\\e", stream);
        else if (letter == '-')
            fputs("\\-", stream);
        else if (letter == '^')
            fputs("\\(ha", stream);
        else if (letter == '~')
            fputs("\\(ti", stream);
        else if (letter == '\'')
            fputs("\\(aq", stream);
        else if (letter == '`')
            fputs("\\(ga", stream);
        else
            fputc(letter, stream);
    }
}

static void print_all(FILE *stream, const char *text) {
    print_text(stream, text, strlen(text));
}

/* A paragraph; lines that are indented stay as they are. */
static void print_block(FILE *stream, const char *block) {
    int is_open = 0;
    fputs(".PP\n", stream);
    while (*block != '\0') {
        size_t length = strcspn(block, "\n");
        int is_indented = *block == ' ';
        if (is_indented != is_open)
            fputs(is_indented ? ".RS 4\n.EX\n" : ".EE\n.RE\n", stream);
        is_open = is_indented;
        size_t blanks = strspn(block, " ");
        print_text(stream, block + (is_indented && blanks >= 2 ? 2 : 0),
                   length - (is_indented && blanks >= 2 ? 2 : 0));
        fputc('\n', stream);
        block += length + (block[length] == '\n');
    }
    if (is_open)
        fputs(".EE\n.RE\n", stream);
}

static void print_option(FILE *stream, const struct hp_help_option *option) {
    fputs(".TP\n\\fB", stream);
    if (option->letter != 0)
        fprintf(stream, "\\-%c\\fR, \\fB", option->letter);
    fputs("\\-\\-", stream);
    print_all(stream, option->name);
    fputs("\\fR", stream);
    if (*option->argument != '\0') {
        fputs(" \\fI", stream);
        print_all(stream, option->argument);
        fputs("\\fR", stream);
    }
    fputc('\n', stream);
    print_all(stream, option->text);
    fputc('\n', stream);
}

/* "for what\n  command\n" */
static void print_example(FILE *stream, const char *example) {
    if (*example == '\0')
        return;
    fputs(".PP\nExample:", stream);
    if (strncmp(example, "heapprof ", 9) == 0) {
        fputs("\n.RS 4\n.EX\n", stream);
        print_all(stream, example);
        fputs(".EE\n.RE\n", stream);
        return;
    }
    size_t length = strcspn(example, "\n");
    fputc(' ', stream);
    print_text(stream, example, length);
    fputs("\n.RS 4\n.EX\n", stream);
    for (const char *line = example + length + (example[length] == '\n'); *line != '\0';) {
        line += strspn(line, " ");
        length = strcspn(line, "\n");
        print_text(stream, line, length);
        fputc('\n', stream);
        line += length + (line[length] == '\n');
    }
    fputs(".EE\n.RE\n", stream);
}

static void print_command(FILE *stream, const struct hp_help_text *help) {
    fprintf(stream, ".SS heapprof %s\n.nf\n\\fB", help->name);
    print_all(stream, help->usage);
    fputs("\\fR\n.fi\n", stream);
    for (size_t i = 0; i < help->n_blocks_before; i++)
        print_block(stream, help->blocks[i]);
    for (size_t i = 0; i < help->n_options; i++)
        print_option(stream, &help->options[i]);
    for (size_t i = help->n_blocks_before; i < help->n_blocks; i++)
        print_block(stream, help->blocks[i]);
    print_example(stream, help->example);
}

/* The table of `heapprof help env`: name, default and meaning in columns, further lines of meaning indented.
 */
static void print_environment(FILE *stream, const char *text) {
    const char *meaning = strstr(text, "MEANING");
    if (meaning == NULL)
        hp_help_fail("env", "no column MEANING");
    size_t column = (size_t)(meaning - text);
    text += strcspn(text, "\n") + 1;
    while (*text != '\0' && *text != '\n') {
        size_t length = strcspn(text, "\n"), name = strcspn(text, " ");
        if (length <= column)
            hp_help_fail("env", "a line without a meaning");
        if (name > 0) {
            const char *value = text + name + strspn(text + name, " ");
            fputs(".TP\n\\fB", stream);
            print_text(stream, text, name);
            fputs("\\fR", stream);
            if (value < text + column) {
                fputs(" (", stream);
                print_text(stream, value, strcspn(value, " "));
                fputc(')', stream);
            }
            fputc('\n', stream);
        }
        print_text(stream, text + column, length - column);
        fputc('\n', stream);
        text += length + (text[length] == '\n');
    }
    text += strspn(text, "\n");
    if (*text != '\0')
        print_block(stream, text);
}

void hp_docs_man(FILE *stream, const struct hp_docs *docs) {
    fprintf(stream,
            ".\\\" Made from the help texts.\n"
            ".TH HEAPPROF 1 \"\" \"heapprof %s\" \"User Commands\"\n"
            ".SH NAME\nheapprof \\- find the code that holds a program\\(aqs memory\n"
            ".SH SYNOPSIS\n\\fBheapprof\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n"
            ".SH DESCRIPTION\n",
            docs->version);
    print_all(stream, docs->intro);
    fputs("\n.SH COMMANDS\n", stream);
    for (size_t i = 0; i < docs->n_commands; i++)
        if (strcmp(docs->commands[i].name, "help") != 0)
            print_command(stream, &docs->commands[i]);
    fputs(".SS heapprof help\nExplains a command, or with \\fBenv\\fR the environment variables below.\n"
          ".SH ENVIRONMENT\nThe library libheapprof.so reads, with these defaults:\n",
          stream);
    print_environment(stream, docs->environment);
    fputs(".SH EXIT STATUS\n0: done. 1: the input or the program is at fault, and one line on standard error "
          "says why.\n"
          "2: wrong usage.\n"
          ".SH SEE ALSO\n\\fBjemalloc\\fR(3), \\fBcgroups\\fR(7)\n",
          stream);
}
