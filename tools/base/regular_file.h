/*
 * Opens files whose names, or whose surroundings, somebody else has chosen: a profile, or a process in a container that
 * is looked at from outside, by root perhaps.
 */
#ifndef HP_TOOLS_REGULAR_FILE_H
#define HP_TOOLS_REGULAR_FILE_H

#include "tools/base/error.h"

/*
 * Opens the file at `path` for reading, if it is a regular one. Nothing else is opened, not even for a moment: a device
 * may do something then, a FIFO would be waited for. Where `path` begins with the folder `root` (NULL: none), no link on
 * the way leads out of that: an absolute one starts there. Returns the descriptor; -1 with `error` (may be NULL) set.
 */
int hp_regular_file_open(const char *path, const char *root, struct hp_error *error);

#endif
