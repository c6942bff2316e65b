/*
 * A first walk over the bytes of a Profile message, before anything is allocated for them: the
 * outer framing holds, the strings are text, and the message is one profile and not several in a row.
 */
#ifndef HP_TOOLS_PROFILE_WIRE_H
#define HP_TOOLS_PROFILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/error.h"

/* True when data[0..size) may be given to protobuf-c; else `error` says what it is instead. */
bool hp_wire_check(const uint8_t *data, size_t size, struct hp_error *error);

#endif
