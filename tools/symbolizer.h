/*
 * Gives a profile its functions and lines, from the binaries and debug info on this machine. What a
 * profile says already is kept; what can't be resolved stays an address.
 */
#ifndef HP_TOOLS_SYMBOLIZER_H
#define HP_TOOLS_SYMBOLIZER_H

#include <stddef.h>

#include "profile.h"

/* Who is told what; either may be NULL. Texts are valid during the call only. */
struct hp_symbolizer_listener {
    /* Once for each binary that could not be used in full: the binary's path and one sentence. */
    void (*note)(void *context, const char *path, const char *text);
    /* Before each binary: its number from 0, of how many. */
    void (*progress)(void *context, const char *path, size_t number, size_t count);
    void *context;
};

/*
 * Adds lines to the locations that have none and whose mapping is not symbolized already. Opens only
 * binaries that such a location lies in, one at a time. New strings go into the profile's pool; when
 * that is full the rest stays unresolved. Returns how many locations are still without a line.
 */
size_t hp_symbolizer_run(struct hp_profile *profile, const struct hp_symbolizer_listener *listener);

#endif
