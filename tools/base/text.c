#include "tools/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "tools/base/memory.h"
#include "tools/base/utf8.h"

static const char *bytes_text(char buffer[HP_TEXT_NUMBER], int64_t value) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double scaled = (double)value;
    size_t unit = 0;
    /* 1023.95 would print as 1024.0 */
    while ((scaled >= 1023.95 || scaled <= -1023.95) && unit < sizeof units / sizeof *units - 1) {
        scaled /= 1024;
        unit++;
    }
    snprintf(buffer, HP_TEXT_NUMBER, unit == 0 ? "%.0f %s" : "%.1f %s", scaled, units[unit]);
    return buffer;
}

const char *hp_text_value(char buffer[HP_TEXT_NUMBER], int64_t value, const char *unit, bool exact) {
    if (!exact && strcmp(unit, "bytes") == 0)
        return bytes_text(buffer, value);
    snprintf(buffer, HP_TEXT_NUMBER, "%" PRId64, value);
    return buffer;
}

const char *hp_text_share(char buffer[HP_TEXT_NUMBER], int64_t part, int64_t whole) {
    if (whole == 0)
        return "-";
    snprintf(buffer, HP_TEXT_NUMBER, "%.1f%%", 100 * ((double)part / (double)whole));
    return buffer;
}

const char *hp_text_time(char buffer[HP_TEXT_NUMBER], int64_t nanoseconds) {
    time_t seconds = nanoseconds / 1000000000;
    struct tm parts;
    buffer[0] = '\0';
    if (nanoseconds != 0 && gmtime_r(&seconds, &parts) != NULL)
        strftime(buffer, HP_TEXT_NUMBER, "%Y-%m-%d %H:%M:%S UTC", &parts);
    return buffer;
}

/* C0, DEL and C1, the last in two bytes of UTF-8; a byte that is no UTF-8 counts too. */
static size_t control_length(const uint8_t *at, size_t left) {
    size_t length = hp_utf8_length(at, left);
    if (length == 0)
        return 1;
    bool is_control = at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
    return is_control ? length : 0;
}

char *hp_text_clean(const char *text) {
    size_t length = strlen(text);
    char *clean = hp_memory_new(4 * length + 1, 1), *to = clean;
    for (size_t at = 0; at < length;) {
        const uint8_t *from = (const uint8_t *)text + at;
        size_t control = control_length(from, length - at);
        size_t step = control > 0 ? control : hp_utf8_length(from, length - at);
        for (size_t i = 0; i < control; i++)
            to += snprintf(to, 5, "\\x%02x", from[i]);
        if (control == 0) {
            memcpy(to, from, step);
            to += step;
        }
        at += step;
    }
    return clean;
}

static bool starts_character(char byte) {
    return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t hp_text_width(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += starts_character(*text);
    return width;
}

/* The byte at which the character of this number starts. */
static size_t character_start(const char *text, size_t number) {
    size_t at = 0;
    for (; text[at] != '\0'; at++)
        if (starts_character(text[at]) && number-- == 0)
            break;
    return at;
}

char *hp_text_fit(const char *text, size_t width) {
    char *clean = hp_text_clean(text);
    size_t has = hp_text_width(clean);
    if (has <= width)
        return clean;
    size_t tail = (width - 3) / 2, head = width - 3 - tail;
    char *fitted = hp_memory_format("%.*s...%s", (int)character_start(clean, head), clean,
                                    clean + character_start(clean, has - tail));
    free(clean);
    return fitted;
}

size_t hp_text_terminal_width(FILE *stream) {
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col > 0 ? size.ws_col : 80;
}

void hp_text_wrap(FILE *stream, const char *text, size_t indent, size_t width) {
    size_t column = indent;
    bool first = true;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (!first && column + 1 + word > width) {
            fprintf(stream, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", (int)word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
        first = false;
    }
    fputc('\n', stream);
}
