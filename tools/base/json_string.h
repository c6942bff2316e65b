/* Strings for JSON that is written piece by piece, because it is large, and may stand inside an HTML page. */
#ifndef HP_TOOLS_JSON_STRING_H
#define HP_TOOLS_JSON_STRING_H

#include <stdio.h>

/*
 * Writes valid UTF-8 as a JSON string, quotes included, in plain ASCII. What could end or open anything in
 * the HTML or JavaScript around it (<, >, &) is escaped.
 */
void hp_json_string(FILE *stream, const char *text);

#endif
