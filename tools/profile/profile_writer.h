/*
 * A struct hp_profile as a pprof file: gzipped, ids from 1 without a gap, each string once, the sample types'
 * names first. Locations and mappings that no sample leads to are left out, except the first mapping, which
 * is the main binary.
 */
#ifndef HP_TOOLS_PROFILE_WRITER_H
#define HP_TOOLS_PROFILE_WRITER_H

#include <stdbool.h>

#include "tools/base/error.h"
#include "tools/base/output_file.h"
#include "tools/profile/profile.h"

/*
 * Writes the profile into an output, which stays open. The samples' locations must be elements of
 * profile->locations, and their mappings of profile->mappings; functions may be anywhere. Values may be
 * negative. False: `error` says why.
 */
bool hp_profile_write_to(const struct hp_profile *profile, struct hp_output *output, struct hp_error *error);

/* The same to the file `path`, as hp_output_open has it ("-": standard output, unless it is a terminal). */
bool hp_profile_save(const struct hp_profile *profile, const char *path, struct hp_error *error);

#endif
