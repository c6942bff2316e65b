#include "tools/command/symbol_report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/command/command.h"
#include "tools/base/memory.h"
#include "tools/base/progress.h"
#include "tools/base/text.h"

static void show_note(void *context, const char *path, const char *text) {
    (void)context;
    hp_progress_clear();
    hp_command_say("%s: %s", path, text);
}

/* Debug info of a large program takes seconds to read. */
static void show_progress(void *context, const char *path, size_t number, size_t count) {
    (void)context;
    char *fitted = hp_text_fit(path, 48);
    hp_progress_show("reading symbols %zu/%zu: %s", number + 1, count, fitted);
    free(fitted);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* "app or .build-id/ab/cdef.debug" */
static char *name_files(const struct hp_mapping *mapping, bool or_binary) {
    char *by_id = hp_binary_places_by_id("", ".build-id", mapping->build_id, ".debug");
    char *files = by_id != NULL && or_binary
                      ? hp_memory_format("%s or %s", base_name(mapping->filename), by_id)
                      : hp_memory_format("%s", by_id != NULL ? by_id : base_name(mapping->filename));
    free(by_id);
    return files;
}

static void show_advice(void *context, const struct hp_mapping *mapping, enum hp_symbolizer_lack lack) {
    (void)context;
    hp_progress_clear();
    char *files = name_files(mapping, lack == HP_LACK_BINARY);
    if (lack == HP_LACK_LINES)
        hp_command_say("%s: has no debug info: its functions are named, without lines", mapping->filename);
    if (lack == HP_LACK_SPLIT)
        hp_command_say(
            "    to mend it: put the .dwo files where the compiler wrote them, or beside the program");
    else
        hp_command_say("    to mend it: --search-path with a folder that has %s", files);
    free(files);
}

const struct hp_symbolizer_listener hp_symbol_report_brief = {.note = show_note, .progress = show_progress};

const struct hp_symbolizer_listener hp_symbol_report_full = {
    .note = show_note, .progress = show_progress, .lack = show_advice};
