#include "help_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

void hp_help_fail(const char *name, const char *what) {
    fprintf(stderr, "make_docs: help of %s: %s\n", name, what);
    exit(1);
}

char *hp_help_run(const char *heapprof, const char *topic) {
    char *command = hp_memory_format("'%s' help %s", heapprof, topic);
    FILE *stream = popen(command, "r");
    char *text = hp_memory_new(1, 1);
    char part[4096];
    for (size_t got; stream != NULL && (got = fread(part, 1, sizeof part, stream)) > 0;) {
        char *longer = hp_memory_format("%s%.*s", text, (int)got, part);
        free(text);
        text = longer;
    }
    if (stream == NULL || pclose(stream) != 0)
        hp_help_fail(topic, "the command failed");
    free(command);
    return text;
}

/* The text with every run of blanks and line ends as one blank. */
static char *in_one_line(const char *text, size_t length) {
    char *line = hp_memory_new(length + 1, 1), *to = line;
    for (size_t i = 0; i < length; i++) {
        if (!isspace((unsigned char)text[i]))
            *to++ = text[i];
        else if (to > line && to[-1] != ' ')
            *to++ = ' ';
    }
    if (to > line && to[-1] == ' ')
        to--;
    *to = '\0';
    return line;
}

/* "-x, --long" or "    --long" after two blanks. */
static bool is_option(const char *line) {
    return strncmp(line, "  -", 3) == 0 || strncmp(line, "      --", 8) == 0;
}

static const char *next_line(const char *line) {
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* One option, from its line to before the next one's. */
static const char *take_option(struct hp_help_text *help, const char *line, const char *end) {
    if (help->n_options == HP_HELP_MOST)
        hp_help_fail(help->name, "too many options");
    struct hp_help_option *option = &help->options[help->n_options++];
    const char *at = line + strspn(line, " ");
    if (at[1] != '-') {
        option->letter = at[1];
        at += strspn(at + 2, ", ") + 2;
    }
    if (strncmp(at, "--", 2) != 0)
        hp_help_fail(help->name, "an option without a long name");
    at += 2;
    size_t length = strcspn(at, " \n");
    option->name = in_one_line(at, length);
    at += length;
    /* An argument follows after one blank, the text after two or more. */
    length = at[0] == ' ' && at[1] != ' ' ? strcspn(at + 1, " \n") + 1 : 0;
    option->argument = in_one_line(at, length);
    at += length;
    const char *after = next_line(at);
    while (after < end && !is_option(after))
        after = next_line(after);
    option->text = in_one_line(at, (size_t)(after - at));
    if (*option->text == '\0')
        hp_help_fail(help->name, "an option without a text");
    return after;
}

static void take_paragraph(struct hp_help_text *help, const char *block, size_t length) {
    if (length == 0)
        return;
    if (help->n_blocks == HP_HELP_MOST)
        hp_help_fail(help->name, "too many paragraphs");
    help->blocks[help->n_blocks++] = hp_memory_format("%.*s", (int)length, block);
}

/* A paragraph, options, or options under a line that introduces them. */
static void take_block(struct hp_help_text *help, const char *block, size_t length) {
    const char *line = block, *end = block + length;
    while (line < end && !is_option(line))
        line = next_line(line);
    take_paragraph(help, block, (size_t)(line - block));
    if (line < end)
        help->n_blocks_before = help->n_blocks;
    while (line < end)
        line = take_option(help, line, end);
}

/* Each form of the usage in a line of its own; a line that does not begin with the command goes on with the
 * last one. */
static char *usage_of(const char *block, size_t length) {
    char *usage = hp_memory_format("%s", "");
    for (const char *line = block, *end = block + length; line < end; line = next_line(line)) {
        char *part = in_one_line(line, strcspn(line, "\n"));
        bool is_new = *usage == '\0' || strncmp(part, "heapprof ", 9) == 0;
        char *longer = hp_memory_format("%s%s%s", usage, *usage == '\0' ? "" : is_new ? "\n" : " ", part);
        free(usage);
        free(part);
        usage = longer;
    }
    return usage;
}

void hp_help_parse(struct hp_help_text *help, const char *name, const char *summary, const char *text) {
    static const char usage[] = "usage: ", example[] = "Example: ";
    *help = (struct hp_help_text){.name = hp_memory_format("%s", name),
                                  .summary = hp_memory_format("%s", summary)};
    help->example = hp_memory_format("%s", "");
    if (strncmp(text, usage, sizeof usage - 1) != 0)
        hp_help_fail(name, "does not begin with its usage");
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t length = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        if (help->usage == NULL) {
            help->usage = usage_of(text + sizeof usage - 1, length - (sizeof usage - 1));
        } else if (strncmp(text, example, sizeof example - 1) == 0) {
            free(help->example);
            help->example = hp_memory_format("%s", text + sizeof example - 1);
            break;
        } else {
            take_block(help, text, length);
        }
        text += length;
        text += strspn(text, "\n");
    }
}
