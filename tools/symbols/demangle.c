#include "tools/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are shown as they are: the demangler's time may grow much faster than the name. */
enum { LONGEST_NAME = 16 * 1024 };

char *hp_demangle(const char *name) {
    /* libiberty would also take a plain "i" for the type int; only names with a mangler's prefix go in. */
    if ((strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0 && strncmp(name, "__Z", 3) != 0) ||
        strlen(name) > LONGEST_NAME)
        return NULL;
    return cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
}
