#include "tools/base/json_string.h"

#include <jansson.h>
#include <string.h>

/* jansson's text, with what HTML could take for its own escaped, too: these occur inside of strings only. */
static int write_escaped(const char *text, size_t size, void *stream) {
    for (size_t i = 0; i < size; i++) {
        if (memchr("<>&", text[i], 3) != NULL)
            fprintf(stream, "\\u%04X", (unsigned char)text[i]);
        else
            fputc(text[i], stream);
    }
    return 0;
}

void hp_json_string(FILE *stream, const char *text) {
    json_t *string = json_string(text);
    /* Without memory, or of a text that is no UTF-8: the result stays sound JSON. */
    if (string == NULL ||
        json_dump_callback(string, write_escaped, stream, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) != 0)
        fputs("\"\"", stream);
    json_decref(string);
}
