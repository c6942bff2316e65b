/* Names as people write them. */
#ifndef HP_TOOLS_DEMANGLE_H
#define HP_TOOLS_DEMANGLE_H

/*
 * The readable form of a linkage name of C++ or Rust (its hash dropped), with parameters. NULL when the
 * name is not mangled: it is its own readable form. malloc'ed; the caller frees it.
 */
char *hp_demangle(const char *name);

#endif
