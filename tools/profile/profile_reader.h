/*
 * A pprof file, made into a struct hp_profile, or refused. Whatever passes can be walked without a
 * further look: every reference leads somewhere, every sample has a value for each type, every
 * address lies in its mapping. Stricter than pprof, which lets the last one and some others through.
 */
#ifndef HP_TOOLS_PROFILE_READER_H
#define HP_TOOLS_PROFILE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "tools/base/error.h"
#include "tools/profile/profile.h"
#include "tools/profile/profile_input.h"

/*
 * Reads the profile in `path` ("-": standard input), gzipped or not. NULL: `error` says what is wrong
 * with it. The caller frees it with hp_profile_free. Takes at most about 768 MiB for the worst file,
 * some ten times the unpacked size for a usual one.
 */
struct hp_profile *hp_profile_read(const char *path, struct hp_error *error);

/* The same from memory, which may be freed afterwards. */
struct hp_profile *hp_profile_parse(const uint8_t *data, size_t size, const struct hp_input_limits *limits,
                                    struct hp_error *error);

#endif
