/* A second, stricter look at a profile that could be read: would every consumer understand it? */
#ifndef HP_TOOLS_PROFILE_AUDIT_H
#define HP_TOOLS_PROFILE_AUDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/base/error.h"
#include "tools/profile/profile.h"

enum { HP_AUDIT_NOTES = 16 };

struct hp_audit {
    size_t deepest;                           /* frames of the deepest stack, inlined ones included */
    size_t symbolized;                        /* locations with a function */
    size_t truncated;                         /* stacks that say they were cut: a "[truncated]" frame */
    size_t unused_locations, unused_mappings; /* no sample leads to them; the main binary does not count */
    size_t n_notes;                           /* what is allowed, yet refused or misread by some reader */
    struct hp_error notes[HP_AUDIT_NOTES];
};

/* Fills `audit`. False: the profile breaks a rule of the format, and `error` says which. */
bool hp_profile_audit(const struct hp_profile *profile, struct hp_audit *audit, struct hp_error *error);

#endif
