/*
 * Many profiles into one, or the difference of two: the values of equal stacks are added up. Each profile may
 * be freed as soon as it was added, so thousands cost no more memory than their different stacks.
 *
 * Stacks are equal when their frames are (merge_code.h has how frames are told apart) and their labels. The
 * label `bytes` of heapprof's own profiles, a mean that changes from dump to dump, does not count: it is
 * computed anew. Samples whose values are all 0 in the end are left out. Not thread-safe.
 *
 * What the result says of itself: the sample types that all have, in the order of the first; the longest
 * period; of what was added, not taken off, the earliest time, the sum of durations, and the comments that
 * all have.
 */
#ifndef HP_TOOLS_PROFILE_MERGE_H
#define HP_TOOLS_PROFILE_MERGE_H

#include <stdbool.h>

#include "tools/base/error.h"
#include "tools/profile/profile.h"

struct hp_profile_merge;

/* HP_MERGE_SUBTRACT: for the base of a difference. The first profile must be added. */
enum hp_merge_sign { HP_MERGE_ADD = 1, HP_MERGE_SUBTRACT = -1 };

/* Never NULL; the caller ends it with hp_profile_merge_free. */
struct hp_profile_merge *hp_profile_merge_new(void);

/*
 * Adds the profile's values, or takes them off. False: `error` says why: another period type, a sample type
 * in another unit, no sample type in common, or too large; then only hp_profile_merge_free is left.
 */
bool hp_profile_merge_add(struct hp_profile_merge *merge, const struct hp_profile *profile,
                          enum hp_merge_sign sign, struct hp_error *error);

/* The sample types that were left out because not all have them, "a, b"; NULL: none. malloc'ed. */
char *hp_profile_merge_left_out(const struct hp_profile_merge *merge);

/* A comment more for the result. False: `error` says that it is too large. */
bool hp_profile_merge_comment(struct hp_profile_merge *merge, const char *text, struct hp_error *error);

/*
 * The result, which the caller frees with hp_profile_free; nothing can be added any more. NULL: `error` says
 * why.
 */
struct hp_profile *hp_profile_merge_finish(struct hp_profile_merge *merge, struct hp_error *error);

/* NULL is fine. Does not free the result. */
void hp_profile_merge_free(struct hp_profile_merge *merge);

#endif
