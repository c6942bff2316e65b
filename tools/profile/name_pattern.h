/*
 * The regular expressions of a profile's drop_frames and keep_frames.
 *
 * Own code, because the pattern and the names both come from a file that may be hostile: regcomp()
 * lets those take unbounded memory and time. Here both are bounded, by pattern length times name length.
 * Understood are literals, . [a-z] [^a-z] ( ) (?: ) | * + ? ^ $ and escapes of punctuation, \d \w \s:
 * what such lists of names are made of.
 */
#ifndef HP_TOOLS_NAME_PATTERN_H
#define HP_TOOLS_NAME_PATTERN_H

#include <stdbool.h>

struct hp_name_pattern;

/*
 * Compiles the pattern; it has to match a whole name, as if written ^(pattern)$. NULL: it is not
 * understood, or longer than 4096 bytes. The caller frees it with hp_name_pattern_free.
 */
struct hp_name_pattern *hp_name_pattern_new(const char *pattern);

/* True when the whole of `name` matches. Of a name beyond 4096 bytes only those count. Not thread-safe. */
bool hp_name_pattern_matches(struct hp_name_pattern *pattern, const char *name);

/* NULL is fine. */
void hp_name_pattern_free(struct hp_name_pattern *pattern);

#endif
