/*
 * A profile read back by other hands than those that wrote it: zlib's inflate and protobuf-c's unpack.
 */
#ifndef TESTS_READ_PROFILE_H
#define TESTS_READ_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "profile.pb-c.h"

typedef Heapprof__Pprof__Profile Profile;
typedef Heapprof__Pprof__Sample Sample;

/* Inflates one gzip member that must end where the data does; NULL when it does not. The caller frees. */
uint8_t *inflate_whole(const void *data, size_t bytes, size_t *plain_bytes);

/* The same, unpacked; NULL when it is no Profile. Freed by heapprof__pprof__profile__free_unpacked(·, NULL).
 */
Profile *read_profile(const void *data, size_t bytes);

/* A string of the profile; "(no such string)" when the index is out of range. */
const char *string_of(const Profile *profile, int64_t index);

/* The value behind "key: " among the comments; NULL. */
const char *comment_of(const Profile *profile, const char *key);

/* What a profile must be whatever is in it: checked by cmocka's assertions. Ids are 1, 2, 3 … without a gap,
 * every reference exists, addresses lie in their mapping, all strings are UTF-8, values are not negative. */
void assert_sound(const Profile *profile);

#endif
