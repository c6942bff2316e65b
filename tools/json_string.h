/* Strings in JSON that may stand inside an HTML page. */
#ifndef HP_TOOLS_JSON_STRING_H
#define HP_TOOLS_JSON_STRING_H

#include <stdio.h>

/*
 * Writes valid UTF-8 as a JSON string, quotes included. What could end or open anything in HTML or
 * JavaScript around it (<, >, &, U+2028, U+2029) and all control characters are escaped.
 */
void hp_json_string(FILE *stream, const char *text);

#endif
