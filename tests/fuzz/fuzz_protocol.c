/*
 * control/protocol on any bytes, against its grammar as a regular expression; what comes bit by bit must be
 * read as what comes at once; and what is written must be read as the same.
 */
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heapprof/control/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BEGINNING "^heapprof/0*1 "

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

static bool matches(const char *text, const char *grammar) {
    regex_t regex;
    must(regcomp(&regex, grammar, REG_EXTENDED | REG_NOSUB) == 0);
    bool does = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return does;
}

/* The first line, if it is whole, printable and not too long. */
static bool first_line(const uint8_t *data, size_t size, char line[HP_PROTOCOL_LINE]) {
    for (size_t i = 0; i < size && i < HP_PROTOCOL_LINE; i++) {
        line[i] = (char)data[i];
        if (data[i] == '\n') {
            line[i] = '\0';
            return true;
        }
        if (data[i] < 0x20 || data[i] > 0x7e) {
            return false;
        }
    }
    return false;
}

static void check_request(const uint8_t *data, size_t size) {
    char line[HP_PROTOCOL_LINE];
    enum hp_request request = HP_REQUESTS;
    enum hp_fault fault = HP_FAULTS;
    bool is_line = first_line(data, size, line);
    enum hp_protocol_reading at_once = hp_protocol_read_request((const char *)data, size, &request, &fault);
    bool is_request = is_line && strlen(line) + 1 == size && matches(line, BEGINNING "(status|profile)$");
    must((at_once == HP_PROTOCOL_WHOLE) == is_request);
    must(at_once != HP_PROTOCOL_WRONG || fault < HP_FAULTS);
    must(at_once != HP_PROTOCOL_WHOLE || request < HP_REQUESTS);
    must(at_once != HP_PROTOCOL_MORE || (!is_line && size < HP_PROTOCOL_LINE));
}

static void check_reply(const uint8_t *data, size_t size) {
    char line[HP_PROTOCOL_LINE];
    struct hp_reply reply;
    bool is_line = first_line(data, size, line);
    enum hp_protocol_reading reading = hp_protocol_read_reply((const char *)data, size, &reply);
    if (reading == HP_PROTOCOL_WHOLE) {
        must(is_line && reply.line_bytes == strlen(line) + 1);
        must(matches(line, reply.is_ok ? BEGINNING "ok [0-9]+$" : BEGINNING "error [^ ]+ .*$"));
    } else {
        must(!is_line || !matches(line, BEGINNING "(ok [0-9]{1,19}|error [^ ]+ .*)$"));
    }
}

/* Once it is wrong or whole, it was not before a byte more. */
static void check_bit_by_bit(const uint8_t *data, size_t size) {
    enum hp_request request = HP_REQUESTS;
    enum hp_fault fault = HP_FAULTS;
    bool is_over = false;
    for (size_t n = 0; n <= size && n <= HP_PROTOCOL_LINE + 1; n++) {
        enum hp_protocol_reading now = hp_protocol_read_request((const char *)data, n, &request, &fault);
        must(!is_over || now != HP_PROTOCOL_MORE);
        is_over = is_over || now != HP_PROTOCOL_MORE;
    }
}

static void check_written(const uint8_t *data, size_t size) {
    char line[HP_PROTOCOL_LINE + 1];
    struct hp_reply reply;
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    enum hp_fault fault = (enum hp_fault)(size % HP_FAULTS);
    size_t length = hp_protocol_write_error(line, fault, text);
    must(length <= HP_PROTOCOL_LINE && line[length - 1] == '\n' && strlen(line) == length);
    must(hp_protocol_read_reply(line, length, &reply) == HP_PROTOCOL_WHOLE && !reply.is_ok &&
         reply.fault == fault);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_request(data, size);
    check_reply(data, size);
    check_bit_by_bit(data, size);
    check_written(data, size);
    return 0;
}
