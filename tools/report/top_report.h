/* How `heapprof top` shows a table. */
#ifndef HP_TOOLS_TOP_REPORT_H
#define HP_TOOLS_TOP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/profile/profile.h"
#include "tools/profile/profile_table.h"

struct hp_top_report {
    const struct hp_profile *profile;
    const struct hp_profile_table *table; /* sorted; its total is that of all stacks */
    const char *file, *base;              /* where it is from, what it is compared with; NULL: not said */
    size_t n_stacks;                      /* in the profile; `profile` may have fewer, after a filter */
    size_t type;                          /* of the profile's sample types */
    size_t most_rows;                     /* 0: all */
    size_t width;                         /* columns to fit into; 0: no limit, nothing is shortened */
    bool by_line;                         /* each row is a line, not a function */
    bool exact;                           /* plain numbers */
};

/* What the profile is of: service, reason, time; usage and limit. As far as its comments say. */
void hp_top_report_header(FILE *stream, const struct hp_top_report *report);

/* The table, and how many rows were left out. */
void hp_top_report_rows(FILE *stream, const struct hp_top_report *report);

/* How many rows of the table are shown. */
size_t hp_top_report_shown(const struct hp_top_report *report);

#endif
