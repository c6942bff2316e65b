/* What happened in a process between two profiles of it. */
#ifndef HP_TOOLS_CAPTURE_DELTA_H
#define HP_TOOLS_CAPTURE_DELTA_H

#include "tools/base/error.h"
#include "tools/profile/profile.h"

enum hp_capture_type {
    HP_CAPTURE_HEAP,   /* live now; no delta */
    HP_CAPTURE_ALLOCS, /* allocated in between: alloc_objects, alloc_space */
    HP_CAPTURE_GROWTH, /* the change of live memory: inuse_objects, inuse_space; negative where it shrank */
    HP_CAPTURE_TYPES
};

/* "heap", "allocs", "growth". Static. */
const char *hp_capture_type_name(enum hp_capture_type type);

/* Where the type has its values: objects and bytes. False: the profile has none such. */
bool hp_capture_columns(const struct hp_profile *profile, enum hp_capture_type type, size_t *objects,
                        size_t *bytes);

/*
 * The difference of two profiles of one process, of the type's two sample types alone: a reader of the other
 * two would take them for something they are not. The caller frees it with hp_profile_free; `first` and
 * `last` stay the caller's. NULL: `error` says why, such as that they are not of the same program.
 */
struct hp_profile *hp_capture_delta(const struct hp_profile *first, const struct hp_profile *last,
                                    enum hp_capture_type type, struct hp_error *error);

#endif
