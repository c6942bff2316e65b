/*
 * Text into a fixed buffer, without malloc, locale or locks: what snprintf may not be trusted with inside
 * an allocator. Too long a text is cut; the buffer always ends with a NUL.
 */
#ifndef HP_BASE_WRITER_H
#define HP_BASE_WRITER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct hp_writer {
    char *buf;
    size_t cap; /* at least 1 */
    size_t len; /* without the NUL; < cap */
};

/* A writer over `buf`, which the caller owns. */
struct hp_writer hp_writer_over(char *buf, size_t cap);

void hp_writer_text(struct hp_writer *w, const char *text);
void hp_writer_bytes(struct hp_writer *w, const char *text, size_t len);

/* A small part of printf: %s %c %d %u %lu %zu %lx %%, with an optional zero-padded width (%02u), or for %s the most
 * that is written of it (%.100s). Anything else is written as it stands. */
void hp_writer_format(struct hp_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hp_writer_vformat(struct hp_writer *w, const char *format, va_list args);

/* Puts '?' in the place of every byte of `text` that is not part of valid UTF-8 (RFC 3629): what goes into a
 * profile must be text to every reader. */
void hp_writer_make_utf8(char *text);

/* A count of bytes for people: "128 MiB", "1.5 GiB", "999 B"; at most one decimal, rounded down. */
void hp_writer_size(struct hp_writer *w, uint64_t bytes);

#endif
