/* Text for people: units, widths, and nothing in it that could drive their terminal. */
#ifndef HP_TOOLS_TEXT_H
#define HP_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { HP_TEXT_NUMBER = 32 }; /* room for any number below */

/*
 * A value in its unit: bytes as "101.3 MiB", others as digits. `exact`: always digits. The result is
 * in `buffer`.
 */
const char *hp_text_value(char buffer[HP_TEXT_NUMBER], int64_t value, const char *unit, bool exact);

/* part of whole as "12.3%"; "-" without a whole. */
const char *hp_text_share(char buffer[HP_TEXT_NUMBER], int64_t part, int64_t whole);

/* Nanoseconds since the epoch as "2026-01-31 23:59:59 UTC"; "" for 0. */
const char *hp_text_time(char buffer[HP_TEXT_NUMBER], int64_t nanoseconds);

/*
 * The text with control characters (a terminal would obey them) as \xNN. malloc'ed; the caller frees it.
 */
char *hp_text_clean(const char *text);

/* How many columns the UTF-8 text takes, one for each character. */
size_t hp_text_width(const char *text);

/*
 * The clean text in at most `width` (>= 5) columns, with "..." in the place of its middle when it
 * does not fit: a name's scope and its end both tell. malloc'ed; the caller frees it.
 */
char *hp_text_fit(const char *text, size_t width);

/* The columns of the terminal that `stream` is; 0 when it is none. */
size_t hp_text_terminal_width(FILE *stream);

/*
 * Writes the text with line breaks instead of blanks, so that no line passes `width` columns; the first
 * line starts at column `indent` already, the others get that many blanks. Ends the last line.
 */
void hp_text_wrap(FILE *stream, const char *text, size_t indent, size_t width);

#endif
