/* UTF-8, as protobuf demands of every string. */
#ifndef HP_TOOLS_UTF8_H
#define HP_TOOLS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length in bytes (1..4) of the well-formed character at the start of text[0..size); 0: none is. */
size_t hp_utf8_length(const uint8_t *text, size_t size);

/* All of text[0..size) is well-formed: no overlong form, no surrogate, nothing beyond U+10FFFF. */
bool hp_utf8_is_valid(const uint8_t *text, size_t size);

#endif
