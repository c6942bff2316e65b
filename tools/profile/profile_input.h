/*
 * The bytes of a profile: from a file or standard input, unpacked if gzipped, and never more than
 * a bound whatever the input claims.
 */
#ifndef HP_TOOLS_PROFILE_INPUT_H
#define HP_TOOLS_PROFILE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/error.h"

struct hp_bytes {
    uint8_t *data; /* malloc'ed */
    size_t size, capacity;
};

/* What one input may cost. */
struct hp_input_limits {
    size_t max_bytes;  /* of the unpacked profile, and of the file */
    size_t free_bytes; /* up to here any compression is believed … */
    size_t max_ratio;  /* … beyond it no more than this many bytes from one byte of the file */
};

extern const struct hp_input_limits hp_input_limits_default;

/*
 * Reads all of `path` ("-": standard input) into `bytes`, gunzipped when it starts as gzip does.
 * Several gzip members count as one stream (RFC 1952); anything else after one is refused, as is an
 * empty input. True: the caller frees bytes->data. False: nothing is owned and `error` says why.
 */
bool hp_input_read(const char *path, const struct hp_input_limits *limits, struct hp_bytes *bytes,
                   struct hp_error *error);

/* The same from memory; `bytes` is always a copy. */
bool hp_input_unpack(const uint8_t *data, size_t size, const struct hp_input_limits *limits,
                     struct hp_bytes *bytes, struct hp_error *error);

#endif
