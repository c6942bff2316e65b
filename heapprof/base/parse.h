/* Numbers and sizes out of text: pure, without locale, without errno. */
#ifndef HP_BASE_PARSE_H
#define HP_BASE_PARSE_H

#include <stddef.h>
#include <stdint.h>

/* Reads decimal digits at `text` into *value and sets *end behind them. 0; -1 when there is no digit or the
 * number does not fit, *value and *end unchanged. */
int hp_parse_u64(const char *text, uint64_t *value, const char **end);

/*
 * Reads a whole text as a size in bytes: digits, an optional fraction, blanks, and an optional K, M, G, T,
 * KB, MB, …, Ki, Mi, …, KiB, MiB, … in any case, all powers of 1024; blanks around are skipped. "128MB" and "128mib"
 * are both 134217728, "1.5G" is 1610612736. 0, or -1 when it is no size or does not fit in 64 bits.
 */
int hp_parse_size(const char *text, size_t len, uint64_t *bytes);

#endif
