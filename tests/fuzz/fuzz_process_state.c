/*
 * Any text at all as the state of a process that is asked, and all that `heapprof list` and `status` show of it: nothing
 * in that may drive a terminal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/live/process_state.h"
#include "tools/report/status_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds)
        abort();
}

static void show(FILE *stream, const struct hp_process_state *state) {
    const struct hp_process process = {.pid = 7, .own_pid = 7, .standing = HP_PROCESS_REACHABLE};
    const struct hp_status_row row = {.process = &process, .state = state};
    hp_status_table(stream, &row, 1, 80);
    hp_status_report(stream, state, 7);
    hp_status_difference(stream, state, state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hp_error error = {""};
    struct hp_process_state *state = hp_process_state_parse((const char *)data, size, &error);
    must((state == NULL) == (error.text[0] != '\0')); /* a refusal has a reason, and nothing else has one */
    if (state == NULL)
        return 0;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    must(stream != NULL);
    show(stream, state);
    must(fclose(stream) == 0 && length > 0);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i], next = (unsigned char)text[i + 1]; /* there is a NUL behind it */
        must((byte >= ' ' && byte != 0x7f) || byte == '\n');
        must(byte != 0xc2 || next < 0x80 || next > 0x9f); /* U+0080 to U+009F in UTF-8 */
    }
    free(text);
    hp_process_state_free(state);
    return 0;
}
