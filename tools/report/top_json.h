/* What `heapprof top --json` prints; docs/profile.md has the keys. */
#ifndef HP_TOOLS_TOP_JSON_H
#define HP_TOOLS_TOP_JSON_H

#include <stdio.h>

#include "tools/report/top_report.h"

/* One object, indented. Failures are the stream's. */
void hp_top_json(FILE *stream, const struct hp_top_report *report);

#endif
