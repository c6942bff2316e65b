#include "http.h"

#include <stdio.h>
#include <strings.h>

static bool is_token(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c));
}

/* Cuts the front of `rest` up to `end` off, and `end` with it; false if there is no `end`. */
static bool cut(struct slice *rest, char end, struct slice *piece) {
    const char *at = rest->length ? memchr(rest->at, end, rest->length) : NULL;
    if (!at)
        return false;
    *piece = (struct slice){rest->at, (size_t)(at - rest->at)};
    *rest = (struct slice){at + 1, rest->length - piece->length - 1};
    return true;
}

static enum http_result cut_line(struct slice *rest, struct slice *line) {
    if (!cut(rest, '\n', line))
        return HTTP_INCOMPLETE;
    if (line->length == 0 || line->at[line->length - 1] != '\r')
        return HTTP_BAD;
    line->length--;
    return HTTP_OK;
}

static struct slice trim(struct slice text) {
    while (text.length && (text.at[0] == ' ' || text.at[0] == '\t')) {
        text.at++;
        text.length--;
    }
    while (text.length && (text.at[text.length - 1] == ' ' || text.at[text.length - 1] == '\t'))
        text.length--;
    return text;
}

static bool all_tokens(struct slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (!is_token((unsigned char)text.at[i]))
            return false;
    }
    return text.length > 0;
}

static bool is_path(struct slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] <= ' ' || text.at[i] > '~')
            return false;
    }
    return text.length > 0 && text.at[0] == '/';
}

static bool parse_request_line(struct slice line, struct http_request *request) {
    return cut(&line, ' ', &request->method) && all_tokens(request->method) &&
           cut(&line, ' ', &request->path) && is_path(request->path) &&
           slice_equal(line, slice_of("HTTP/1.1"));
}

static bool parse_header(struct slice line, struct http_request *request) {
    if (request->header_count == HTTP_MAX_HEADERS)
        return false;
    struct http_header *header = &request->headers[request->header_count++];
    if (!cut(&line, ':', &header->name) || !all_tokens(header->name))
        return false;
    header->value = trim(line);
    return !memchr(header->value.at, 0, header->value.length);
}

/* Takes the body that Content-Length announces from `rest`. */
static enum http_result parse_body(struct slice rest, struct http_request *request) {
    struct slice digits = http_header(request, "Content-Length");
    if (http_header(request, "Transfer-Encoding").at)
        return HTTP_BAD;
    size_t length = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.at[i] < '0' || digits.at[i] > '9')
            return HTTP_BAD;
        length = 10 * length + (size_t)(digits.at[i] - '0');
        if (length > HTTP_MAX_BODY)
            return HTTP_BAD;
    }
    if (rest.length < length)
        return HTTP_INCOMPLETE;
    request->body = (struct slice){rest.at, length};
    return HTTP_OK;
}

enum http_result http_parse(struct slice text, struct http_request *request) {
    struct slice line;
    request->header_count = 0;
    enum http_result result = cut_line(&text, &line);
    if (result != HTTP_OK)
        return result;
    if (!parse_request_line(line, request))
        return HTTP_BAD;
    for (;;) {
        result = cut_line(&text, &line);
        if (result != HTTP_OK)
            return result;
        if (line.length == 0)
            return parse_body(text, request);
        if (!parse_header(line, request))
            return HTTP_BAD;
    }
}

struct slice http_header(const struct http_request *request, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        if (header->name.length == length && strncasecmp(header->name.at, name, length) == 0)
            return header->value;
    }
    return (struct slice){0};
}

struct slice http_cookie(const struct http_request *request, const char *name) {
    struct slice rest = http_header(request, "Cookie");
    struct slice wanted = slice_of(name);
    while (rest.length) {
        struct slice pair, key;
        if (!cut(&rest, ';', &pair)) {
            pair = rest;
            rest.length = 0;
        }
        pair = trim(pair);
        if (cut(&pair, '=', &key) && slice_equal(key, wanted))
            return pair;
    }
    return (struct slice){0};
}

static const char *reason_of(int status) {
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 503:
        return "Service Unavailable";
    default:
        return "Internal Server Error";
    }
}

size_t http_write(const struct http_response *response, char *out, size_t capacity) {
    int head =
        snprintf(out, capacity, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s%s\r\n",
                 response->status, reason_of(response->status), response->type, response->body.length,
                 response->session ? "Set-Cookie: sid=" : "", response->session ? response->session : "",
                 response->session ? "; HttpOnly; Secure\r\n" : "");
    if (head < 0 || (size_t)head >= capacity || capacity - (size_t)head < response->body.length)
        return 0;
    if (response->body.length)
        memcpy(out + head, response->body.at, response->body.length);
    return (size_t)head + response->body.length;
}
