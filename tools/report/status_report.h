/* What `heapprof list` and `heapprof status` show, for a terminal of 80 columns. Failures are the stream's.
 */
#ifndef HP_TOOLS_STATUS_REPORT_H
#define HP_TOOLS_STATUS_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "tools/live/process_list.h"
#include "tools/live/process_state.h"

/* One process and what it has told; `state` is NULL when it has not, and `why` says why. */
struct hp_status_row {
    const struct hp_process *process;
    const struct hp_process_state *state;
    const char *why;
};

/* A row for each that has told, then a line for each that has not. `width`: of the terminal; 0: none. */
void hp_status_table(FILE *stream, const struct hp_status_row *rows, size_t count, size_t width);

/* All of one process's state. `pid` as we number it; 0: not known (a saved state). */
void hp_status_report(FILE *stream, const struct hp_process_state *state, int pid);

/* What usage was before and after a change, against the limits. */
void hp_status_difference(FILE *stream, const struct hp_process_state *before,
                          const struct hp_process_state *after);

#endif
