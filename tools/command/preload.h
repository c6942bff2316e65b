/* Where libheapprof.so is, and how the loader is told to load it. */
#ifndef HP_TOOLS_PRELOAD_H
#define HP_TOOLS_PRELOAD_H

#include <stdbool.h>

#include "tools/base/error.h"

/*
 * The library's path: beside the directory's binary (a build folder), in ../lib of it (installed), or in
 * the library folder chosen at build time. `directory` is the command's own. malloc'ed, the caller frees
 * it; NULL with `error` set when there is none.
 */
char *hp_preload_find_library(const char *directory, struct hp_error *error);

/* The folder this command's binary lies in: malloc'ed, the caller frees it. NULL: /proc is not there. */
char *hp_preload_own_directory(void);

/*
 * Puts the library in front of LD_PRELOAD in the environment. False, with `error` set, when its path
 * has a blank or colon in it: the loader would take those for separators.
 */
bool hp_preload_set(const char *library, struct hp_error *error);

#endif
