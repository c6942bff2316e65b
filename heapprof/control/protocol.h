/*
 * The words that the command and a profiled process exchange over the control socket; docs/protocol.md has
 * them for people. Pure: no I/O, no allocation, no state; the library and the command share it.
 *
 *   request   heapprof/1 status\n                 one line, then nothing more
 *   reply     heapprof/1 ok <length>\n<bytes>     exactly <length> bytes follow, then the end
 *             heapprof/1 error <code> <text>\n    then the end
 *
 * A request has no argument: there is nothing in it that could name a file.
 */
#ifndef HP_CONTROL_PROTOCOL_H
#define HP_CONTROL_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

enum { HP_PROTOCOL_VERSION = 1, HP_PROTOCOL_LINE = 256 /* the longest line, its end included */ };

enum hp_request {
    HP_REQUEST_STATUS,  /* the guard's state, as JSON */
    HP_REQUEST_PROFILE, /* a gzipped pprof profile, made now */
    HP_REQUESTS
};

/* Why there is no answer; the code of an error reply. */
enum hp_fault {
    HP_FAULT_MALFORMED, /* not a line of this protocol */
    HP_FAULT_VERSION,   /* of another version */
    HP_FAULT_UNKNOWN,   /* a request that this version does not know */
    HP_FAULT_BUSY,      /* too many sessions: ask again */
    HP_FAULT_REFUSED,   /* somebody else's process */
    HP_FAULT_LATE,      /* the request did not come in time */
    HP_FAULT_FAILED,    /* it could not be done */
    HP_FAULTS
};

enum hp_protocol_reading {
    HP_PROTOCOL_MORE,  /* good so far, the line has not ended */
    HP_PROTOCOL_WHOLE, /* a whole line, understood */
    HP_PROTOCOL_WRONG, /* it can't become one */
};

/* The word of a request, "status"; the code of a fault, "busy". Static. */
const char *hp_protocol_request_word(enum hp_request request);
const char *hp_protocol_fault_word(enum hp_fault fault);

/* Reads what has come of a request. WHOLE: *request is set; WRONG: *fault is. */
enum hp_protocol_reading hp_protocol_read_request(const char *bytes, size_t length, enum hp_request *request,
                                                  enum hp_fault *fault);

/* The first line of a reply. */
struct hp_reply {
    size_t line_bytes; /* of the line, its end included: the body begins there */
    _Bool is_ok;
    uint64_t body_bytes;         /* when ok */
    enum hp_fault fault;         /* when not; HP_FAULTS: a code that this version does not know */
    char text[HP_PROTOCOL_LINE]; /* when not: the text for people; printable ASCII */
};

/* Reads what has come of a reply. WHOLE: *reply is set; WRONG: it is none, or of another version. */
enum hp_protocol_reading hp_protocol_read_reply(const char *bytes, size_t length, struct hp_reply *reply);

/* Each writes a line, with its end and a NUL behind it, and returns its length. `text` is cut to fit, and
 * what is not printable ASCII in it becomes '?'. */
size_t hp_protocol_write_request(char line[HP_PROTOCOL_LINE + 1], enum hp_request request);
size_t hp_protocol_write_ok(char line[HP_PROTOCOL_LINE + 1], uint64_t body_bytes);
size_t hp_protocol_write_error(char line[HP_PROTOCOL_LINE + 1], enum hp_fault fault, const char *text);

#endif
