/* The program that `heapprof run` starts, looked at before it is. */
#ifndef HP_TOOLS_PROGRAM_H
#define HP_TOOLS_PROGRAM_H

#include <stdbool.h>

#include "tools/base/error.h"

/*
 * Finds `name` as execvp will: itself when it has a slash, else through PATH. malloc'ed, the caller frees
 * it; NULL, with `error` set, when there is no such executable file.
 */
char *hp_program_find(const char *name, struct hp_error *error);

/*
 * False, with `error` set, when the loader will not preload anything into the program at `path`: it is
 * linked statically, or runs with other rights than its caller's. A script or unreadable file passes.
 */
bool hp_program_can_preload(const char *path, struct hp_error *error);

#endif
