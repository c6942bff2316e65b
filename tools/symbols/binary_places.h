/* Where the binaries of a profile, and their debug info, may lie; and the order in which to look. */
#ifndef HP_TOOLS_BINARY_PLACES_H
#define HP_TOOLS_BINARY_PLACES_H

#include <stddef.h>
#include <sys/types.h>

#include "tools/profile/profile.h"

struct hp_binary_places {
    const char *const *folders; /* the user's, absolute: laid out as /, as /usr/lib/debug, or flat */
    size_t n_folders;
    const char *root; /* the process's own "/", "/proc/4711/root"; NULL: it is ours */
    pid_t pid;        /* > 0: the process lives, and what it maps can be read even when it was deleted */
};

/* One place to look at. */
struct hp_binary_place {
    char *path; /* malloc'ed */
    /* What the file is called in its own folder, for debug info beside it: malloc'ed; NULL: as `path`. */
    char *name;
    bool by_build_id; /* not known by its name: only the build id can show that it is the one */
    bool is_own;      /* where the process had it: people are told what is wrong with this one */
};

/*
 * All places where the mapping's binary, or a file with its debug info alone, may be on this machine, the
 * best first. Nothing is looked at. The caller frees it with hp_binary_places_free.
 */
struct hp_binary_place *hp_binary_places_of(const struct hp_mapping *mapping,
                                            const struct hp_binary_places *places, size_t *count);

void hp_binary_places_free(struct hp_binary_place *list, size_t count);

/* The folders for libdw to look for debug info in, colons between: malloc'ed, the caller frees it. */
char *hp_binary_places_debug_path(const struct hp_binary_places *places);

/*
 * Where `folder` has what belongs to a build id (hex): with `infix` "/.build-id" or "", `suffix` ".debug" or
 * "". malloc'ed, the caller frees it; NULL for no proper id.
 */
char *hp_binary_places_by_id(const char *folder, const char *infix, const char *build_id, const char *suffix);

#endif
