/* Hides the frames that a profile itself declares uninteresting: the allocator's own. */
#ifndef HP_TOOLS_PROFILE_PRUNE_H
#define HP_TOOLS_PROFILE_PRUNE_H

#include <stdbool.h>

#include "tools/profile/profile.h"

/*
 * Applies drop_frames and keep_frames as pprof does: of each stack, what lies below the outermost
 * dropped function, itself included, goes; a stack whose outermost functions are all dropped keeps
 * those. Needs symbols, so comes after the symbolizer. False: a pattern is not understood; then nothing
 * was hidden.
 */
bool hp_profile_prune(struct hp_profile *profile);

#endif
