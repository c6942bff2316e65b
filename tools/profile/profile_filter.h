/* Keeps the stacks that somebody asks for by a pattern, as pprof's -focus and -ignore do. */
#ifndef HP_TOOLS_PROFILE_FILTER_H
#define HP_TOOLS_PROFILE_FILTER_H

#include "tools/base/error.h"
#include "tools/profile/profile.h"

struct hp_frame_pattern;

/*
 * A POSIX extended regular expression, found anywhere in a function's name, its source file, or the file of
 * its binary. NULL: `error` says what is wrong with it. The caller frees it with hp_frame_pattern_free. It
 * comes from the user: unlike name_pattern, which takes a file's, a costly one is the user's own affair.
 */
struct hp_frame_pattern *hp_frame_pattern_new(const char *text, struct hp_error *error);

/* NULL is fine. */
void hp_frame_pattern_free(struct hp_frame_pattern *pattern);

/*
 * Removes the samples without a frame that `focus` matches, and those with one that `ignore` matches; either
 * may be NULL. Needs symbols, so comes after the symbolizer.
 */
void hp_profile_filter(struct hp_profile *profile, const struct hp_frame_pattern *focus,
                       const struct hp_frame_pattern *ignore);

#endif
