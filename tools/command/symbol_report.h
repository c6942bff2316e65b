/* What people see while a command looks up symbols. */
#ifndef HP_TOOLS_SYMBOL_REPORT_H
#define HP_TOOLS_SYMBOL_REPORT_H

#include "tools/symbols/symbolizer.h"

/* Says which binaries could not be used in full. */
extern const struct hp_symbolizer_listener hp_symbol_report_brief;

/* Also which have no lines, and for each how to mend it. */
extern const struct hp_symbolizer_listener hp_symbol_report_full;

#endif
