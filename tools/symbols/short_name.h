/* Function names that fit into a column and still name the function. */
#ifndef HP_TOOLS_SHORT_NAME_H
#define HP_TOOLS_SHORT_NAME_H

#include <stddef.h>

/*
 * The name, clean, in at most `width` (>= 5) columns. What is dropped, as far as it has to be: first the
 * parameters, then what stands between template brackets, then the middle. malloc'ed; the caller frees it.
 */
char *hp_short_name(const char *name, size_t width);

#endif
