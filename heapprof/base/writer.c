#include "heapprof/base/writer.h"

#include <stdbool.h>
#include <string.h>

struct hp_writer hp_writer_over(char *buf, size_t cap) {
    buf[0] = '\0';
    return (struct hp_writer){.buf = buf, .cap = cap, .len = 0};
}

void hp_writer_bytes(struct hp_writer *w, const char *text, size_t len) {
    size_t room = w->cap - 1 - w->len;
    if (len > room) {
        len = room;
    }
    memcpy(w->buf + w->len, text, len);
    w->len += len;
    w->buf[w->len] = '\0';
}

void hp_writer_text(struct hp_writer *w, const char *text) {
    hp_writer_bytes(w, text, strlen(text));
}

static void write_number(struct hp_writer *w, uint64_t value, unsigned base, unsigned width) {
    char digits[64];
    unsigned n = 0;
    do {
        digits[sizeof digits - 1 - n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (n < width && n < sizeof digits) {
        digits[sizeof digits - 1 - n++] = '0';
    }
    hp_writer_bytes(w, digits + sizeof digits - n, n);
}

static void write_signed(struct hp_writer *w, int64_t value, unsigned width) {
    if (value < 0) {
        hp_writer_text(w, "-");
    }
    write_number(w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, width);
}

static unsigned parse_width(const char **at) {
    unsigned width = 0;
    while (**at >= '0' && **at <= '9') {
        width = width * 10 + (unsigned)(**at - '0');
        (*at)++;
    }
    return width;
}

void hp_writer_vformat(struct hp_writer *w, const char *format, va_list args) {
    for (const char *p = format; *p != '\0'; p++) {
        if (*p != '%') {
            hp_writer_bytes(w, p, 1);
            continue;
        }
        const char *start = p++;
        unsigned width = parse_width(&p);
        bool has_most = *p == '.';
        p += has_most;
        size_t most = has_most ? parse_width(&p) : SIZE_MAX;
        int is_long = *p == 'l' || *p == 'z';
        p += is_long;
        switch (*p) {
        case 's': {
            const char *text = va_arg(args, const char *);
            hp_writer_bytes(w, text, strnlen(text, most));
            break;
        }
        case 'c': {
            char c = (char)va_arg(args, int);
            hp_writer_bytes(w, &c, 1);
            break;
        }
        case 'd':
            write_signed(w, is_long ? va_arg(args, long) : va_arg(args, int), width);
            break;
        case 'u':
        case 'x':
            write_number(w, is_long ? va_arg(args, unsigned long) : va_arg(args, unsigned), *p == 'u' ? 10 : 16,
                         width);
            break;
        case '%':
            hp_writer_text(w, "%");
            break;
        default:
            hp_writer_bytes(w, start, (size_t)(p - start) + (*p != '\0'));
            if (*p == '\0') {
                return;
            }
        }
    }
}

void hp_writer_format(struct hp_writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    hp_writer_vformat(w, format, args);
    va_end(args);
}

void hp_writer_size(struct hp_writer *w, uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    uint64_t whole = bytes;
    uint64_t tenths = 0;
    while (whole >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        tenths = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit++;
    }
    hp_writer_format(w, "%lu", whole);
    if (tenths != 0) {
        hp_writer_format(w, ".%lu", tenths);
    }
    hp_writer_format(w, " %s", units[unit]);
}

/* The length of the valid UTF-8 sequence at `p`; 0 when it is none. */
static unsigned utf8_sequence(const unsigned char *p) {
    if (p[0] < 0x80) {
        return 1;
    }
    unsigned length = p[0] >= 0xc2 && p[0] <= 0xdf ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : 0;
    for (unsigned i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] > 0x9f;
    bool beyond = p[0] == 0xf4 && p[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

void hp_writer_make_utf8(char *text) {
    unsigned char *p = (unsigned char *)text;
    while (*p != '\0') {
        unsigned length = utf8_sequence(p);
        if (length == 0) {
            *p = '?';
            length = 1;
        }
        p += length;
    }
}
