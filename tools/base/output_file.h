/*
 * Where a command's result goes: a file that appears whole or not at all, or standard output.
 *
 * A file is written under a temporary name in its own folder and renamed at the end; its mode is that of
 * the file it replaces, else the umask's. What is no regular file (a FIFO, /dev/null) is written to as it is.
 * A name that is a symbolic link stays one. While a temporary file is open, SIGINT, SIGTERM and SIGHUP wait:
 * write what is ready, and do not compute in between.
 */
#ifndef HP_TOOLS_OUTPUT_FILE_H
#define HP_TOOLS_OUTPUT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/base/error.h"

enum hp_output_kind {
    HP_OUTPUT_TEXT,
    HP_OUTPUT_BINARY /* not for a terminal: refused there */
};

struct hp_output {
    int fd;
    char *path;      /* NULL: standard output */
    char *temporary; /* NULL: written in place */
    sigset_t mask;   /* to return to */
};

/*
 * Whether hp_output_open will find what it needs: said before minutes of work, not after. Nothing is
 * made or changed. False: `error` says why not.
 */
bool hp_output_check(const char *path, enum hp_output_kind kind, struct hp_error *error);

/* Begins the file `path`; "-" is standard output. False: `error` says why, and nothing is open. */
bool hp_output_open(struct hp_output *output, const char *path, enum hp_output_kind kind,
                    struct hp_error *error);

/* Writes all of it. False: `error` says why, and only hp_output_abort is left. */
bool hp_output_write(struct hp_output *output, const void *data, size_t size, struct hp_error *error);

/* Ends the file, which gets its name now. False: `error` says why, and nothing is left behind. */
bool hp_output_commit(struct hp_output *output, struct hp_error *error);

/* Ends without a result: a file is as it was before. */
void hp_output_abort(struct hp_output *output);

#endif
