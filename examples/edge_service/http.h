/*
 * HTTP/1.1 on the wire: a parser for one whole request and a writer for one response. No state, no heap;
 * safe from any thread.
 */
#ifndef EDGE_HTTP_H
#define EDGE_HTTP_H

#include "slice.h"

enum { HTTP_MAX_HEADERS = 32, HTTP_MAX_BODY = 4096 };

enum http_result { HTTP_OK, HTTP_INCOMPLETE, HTTP_BAD };

struct http_header {
    struct slice name, value; /* the value without blanks around it */
};

struct http_request { /* all slices point into the text that was parsed */
    struct slice method, path, body;
    struct http_header headers[HTTP_MAX_HEADERS];
    size_t header_count;
};

struct http_response {
    int status;
    const char *type;    /* Content-Type */
    const char *session; /* for Set-Cookie: sid=…; NULL: none */
    struct slice body;
};

/*
 * Reads one request. HTTP_INCOMPLETE: right so far, but the end is missing. HTTP_BAD: can never become a
 * request, or is beyond the limits above. `request` is meaningful with HTTP_OK only.
 */
enum http_result http_parse(struct slice text, struct http_request *request);

/* The value of a header, whose name is compared without regard to case; an empty slice if it is missing. */
struct slice http_header(const struct http_request *request, const char *name);

/* The value of a cookie of the request; an empty slice if it is missing. */
struct slice http_cookie(const struct http_request *request, const char *name);

/* The bytes written to `out`; 0 if they would not fit. */
size_t http_write(const struct http_response *response, char *out, size_t capacity);

#endif
