/*
 * Gives a profile its functions and lines, from the binaries and debug info on this machine. What a
 * profile says already is kept; what can't be resolved stays an address.
 */
#ifndef HP_TOOLS_SYMBOLIZER_H
#define HP_TOOLS_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/symbols/binary_places.h"
#include "tools/profile/profile.h"

/* What is not known about a binary. */
enum hp_symbolizer_lack {
    HP_LACK_BINARY,  /* neither it nor its debug info was found */
    HP_LACK_SYMBOLS, /* it is stripped, and its debug info was not found */
    HP_LACK_SPLIT,   /* a part of the debug info, in .dwo files, was not found */
    HP_LACK_LINES    /* there is no debug info, only names of functions */
};

/* Who is told what; each may be NULL. Texts are valid during the call only. */
struct hp_symbolizer_listener {
    /* Once for each binary that could not be used in full: the binary's path and one sentence. */
    void (*note)(void *context, const char *path, const char *text);
    /* Before each binary: its number from 0, of how many. */
    void (*progress)(void *context, const char *path, size_t number, size_t count);
    void *context;
    /* Once for each binary of which something is not known; HP_LACK_LINES, too, which is no note. */
    void (*lack)(void *context, const struct hp_mapping *mapping, enum hp_symbolizer_lack lack);
};

struct hp_symbolizer_options {
    struct hp_binary_places places; /* beside the usual ones */
    bool again;                     /* also in mappings that are symbolized already, in part */
};

/*
 * Adds lines to the locations that have none and whose mapping is not symbolized already. Opens only
 * binaries that such a location lies in, one at a time. New strings go into the profile's pool; when
 * that is full the rest stays unresolved. A mapping with a location that was resolved is marked as
 * symbolized, so that pprof does not overwrite it with what it finds itself. Returns how many locations
 * are still without a line.
 */
size_t hp_symbolizer_run(struct hp_profile *profile, const struct hp_symbolizer_listener *listener);

/* The same with options. */
size_t hp_symbolizer_run_with(struct hp_profile *profile, const struct hp_symbolizer_options *options,
                              const struct hp_symbolizer_listener *listener);

#endif
