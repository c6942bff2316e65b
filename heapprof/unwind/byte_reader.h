/*
 * Reads a binary's tables: little numbers and LEB128s (DWARF 5, 7.6), never beyond the end. After a read that
 * does not fit, `at` is `end`, and what is read is 0: callers check once, at the end.
 */
#ifndef HP_UNWIND_BYTE_READER_H
#define HP_UNWIND_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hp_bytes {
    const uint8_t *at;
    const uint8_t *end;
    bool overrun; /* something was missing */
};

static inline size_t hp_bytes_left(const struct hp_bytes *b) {
    return (size_t)(b->end - b->at);
}

static inline void hp_bytes_skip(struct hp_bytes *b, uint64_t bytes) {
    if (bytes > hp_bytes_left(b)) {
        b->overrun = true;
        b->at = b->end;
        return;
    }
    b->at += bytes;
}

/* An unsigned number of 1, 2, 4 or 8 bytes in the machine's order. */
static inline uint64_t hp_bytes_fixed(struct hp_bytes *b, size_t bytes) {
    uint64_t value = 0;
    if (bytes > hp_bytes_left(b)) {
        hp_bytes_skip(b, bytes);
        return 0;
    }
    memcpy(&value, b->at, bytes); /* little-endian, as every machine of machine.h */
    b->at += bytes;
    return value;
}

/* The same, signed. */
static inline int64_t hp_bytes_fixed_signed(struct hp_bytes *b, size_t bytes) {
    unsigned shift = (unsigned)(8 * (sizeof(uint64_t) - bytes));
    return (int64_t)(hp_bytes_fixed(b, bytes) << shift) >> shift;
}

static inline uint64_t hp_bytes_leb(struct hp_bytes *b, bool is_signed) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint64_t byte = hp_bytes_fixed(b, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0) {
            bool negative = is_signed && (byte & 0x40) != 0 && shift + 7 < 64;
            return negative ? value | (UINT64_MAX << (shift + 7)) : value;
        }
    }
    return value;
}

static inline uint64_t hp_bytes_uleb(struct hp_bytes *b) {
    return hp_bytes_leb(b, false);
}

static inline int64_t hp_bytes_sleb(struct hp_bytes *b) {
    return (int64_t)hp_bytes_leb(b, true);
}

#endif
