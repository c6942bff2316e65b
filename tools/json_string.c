#include "json_string.h"

#include <string.h>

/* U+2028 and U+2029 end a line in JavaScript before ES2019. */
static unsigned line_separator(const char *at) {
    if (strncmp(at, "\xe2\x80\xa8", 3) == 0)
        return 0x2028;
    return strncmp(at, "\xe2\x80\xa9", 3) == 0 ? 0x2029 : 0;
}

void hp_json_string(FILE *stream, const char *text) {
    fputc('"', stream);
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        unsigned separator = line_separator(at);
        if (separator != 0) {
            fprintf(stream, "\\u%04x", separator);
            at += 2;
        } else if (byte == '"' || byte == '\\') {
            fprintf(stream, "\\%c", byte);
        } else if (byte < 0x20 || byte == 0x7f || strchr("<>&", byte) != NULL) {
            fprintf(stream, "\\u%04x", byte);
        } else {
            fputc(byte, stream);
        }
    }
    fputc('"', stream);
}
