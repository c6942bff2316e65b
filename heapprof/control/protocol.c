#include "heapprof/control/protocol.h"

#include <stdbool.h>
#include <string.h>

#include "heapprof/base/parse.h"
#include "heapprof/base/writer.h"

static const char name[] = "heapprof/";

static const char *const request_words[HP_REQUESTS] = {"status", "profile"};
static const char *const fault_words[HP_FAULTS] = {"malformed", "version", "unknown", "busy",
                                                   "refused",   "late",    "failed"};

const char *hp_protocol_request_word(enum hp_request request) {
    return request_words[request];
}

const char *hp_protocol_fault_word(enum hp_fault fault) {
    return fault_words[fault];
}

/* A line as text, one copy on the reader's stack. */
struct line {
    char text[HP_PROTOCOL_LINE + 1]; /* without its end */
    size_t bytes;                    /* with it */
};

static bool is_printable(char c) {
    return c >= ' ' && c <= '~';
}

/* Takes the first line, which must be printable ASCII, off the bytes. */
static enum hp_protocol_reading take_line(const char *bytes, size_t length, struct line *line) {
    for (size_t i = 0; i < length && i < HP_PROTOCOL_LINE; i++) {
        line->text[i] = bytes[i];
        if (bytes[i] == '\n') {
            line->text[i] = '\0';
            line->bytes = i + 1;
            return HP_PROTOCOL_WHOLE;
        }
        if (!is_printable(bytes[i])) {
            return HP_PROTOCOL_WRONG;
        }
    }
    return length < HP_PROTOCOL_LINE ? HP_PROTOCOL_MORE : HP_PROTOCOL_WRONG;
}

/* Behind "heapprof/1 "; NULL with *fault set when the text does not begin so. */
static const char *after_version(const char *text, enum hp_fault *fault) {
    uint64_t version = 0;
    const char *end = NULL;
    *fault = HP_FAULT_MALFORMED;
    if (strncmp(text, name, sizeof name - 1) != 0 ||
        hp_parse_u64(text + sizeof name - 1, &version, &end) != 0 || *end != ' ') {
        return NULL;
    }
    *fault = HP_FAULT_VERSION;
    return version == HP_PROTOCOL_VERSION ? end + 1 : NULL;
}

/* The place of the word of `length` bytes in `words`; `count` when it is not there. */
static unsigned find_word(const char *const *words, unsigned count, const char *word, size_t length) {
    unsigned i = 0;
    while (i < count && (strlen(words[i]) != length || memcmp(words[i], word, length) != 0)) {
        i++;
    }
    return i;
}

enum hp_protocol_reading hp_protocol_read_request(const char *bytes, size_t length, enum hp_request *request,
                                                  enum hp_fault *fault) {
    struct line line;
    *fault = HP_FAULT_MALFORMED;
    enum hp_protocol_reading reading = take_line(bytes, length, &line);
    if (reading != HP_PROTOCOL_WHOLE) {
        return reading;
    }
    const char *word = after_version(line.text, fault);
    if (word == NULL) {
        return HP_PROTOCOL_WRONG;
    }
    if (line.bytes != length) {
        *fault = HP_FAULT_MALFORMED; /* one request, and nothing behind it */
        return HP_PROTOCOL_WRONG;
    }
    unsigned found = find_word(request_words, HP_REQUESTS, word, strlen(word));
    *fault = HP_FAULT_UNKNOWN;
    *request = (enum hp_request)found;
    return found < HP_REQUESTS ? HP_PROTOCOL_WHOLE : HP_PROTOCOL_WRONG;
}

static bool read_ok(const char *number, struct hp_reply *reply) {
    const char *end = NULL;
    reply->is_ok = true;
    return hp_parse_u64(number, &reply->body_bytes, &end) == 0 && *end == '\0';
}

static bool read_error(const char *code, struct hp_reply *reply) {
    const char *blank = strchr(code, ' ');
    if (blank == NULL || blank == code) {
        return false;
    }
    reply->fault = (enum hp_fault)find_word(fault_words, HP_FAULTS, code, (size_t)(blank - code));
    struct hp_writer w = hp_writer_over(reply->text, sizeof reply->text);
    hp_writer_text(&w, blank + 1);
    return true;
}

enum hp_protocol_reading hp_protocol_read_reply(const char *bytes, size_t length, struct hp_reply *reply) {
    struct line line;
    enum hp_fault fault = HP_FAULT_MALFORMED;
    memset(reply, 0, sizeof *reply);
    enum hp_protocol_reading reading = take_line(bytes, length, &line);
    if (reading != HP_PROTOCOL_WHOLE) {
        return reading;
    }
    reply->line_bytes = line.bytes;
    const char *rest = after_version(line.text, &fault);
    bool understood = false;
    if (rest != NULL && strncmp(rest, "ok ", 3) == 0) {
        understood = read_ok(rest + 3, reply);
    } else if (rest != NULL && strncmp(rest, "error ", 6) == 0) {
        understood = read_error(rest + 6, reply);
    }
    return understood ? HP_PROTOCOL_WHOLE : HP_PROTOCOL_WRONG;
}

/* Its last byte is left for the line's end. */
static struct hp_writer begin_line(char line[HP_PROTOCOL_LINE + 1]) {
    struct hp_writer w = hp_writer_over(line, HP_PROTOCOL_LINE);
    hp_writer_format(&w, "%s%d ", name, HP_PROTOCOL_VERSION);
    return w;
}

static size_t end_line(struct hp_writer *w) {
    w->cap++;
    hp_writer_text(w, "\n");
    return w->len;
}

size_t hp_protocol_write_request(char line[HP_PROTOCOL_LINE + 1], enum hp_request request) {
    struct hp_writer w = begin_line(line);
    hp_writer_text(&w, request_words[request]);
    return end_line(&w);
}

size_t hp_protocol_write_ok(char line[HP_PROTOCOL_LINE + 1], uint64_t body_bytes) {
    struct hp_writer w = begin_line(line);
    hp_writer_format(&w, "ok %lu", body_bytes);
    return end_line(&w);
}

size_t hp_protocol_write_error(char line[HP_PROTOCOL_LINE + 1], enum hp_fault fault, const char *text) {
    struct hp_writer w = begin_line(line);
    hp_writer_format(&w, "error %s ", fault_words[fault]);
    size_t start = w.len;
    hp_writer_text(&w, text);
    for (size_t i = start; i < w.len; i++) {
        if (!is_printable(line[i])) {
            line[i] = '?';
        }
    }
    return end_line(&w);
}
