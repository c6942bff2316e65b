/* The example's HTTP parser and writer: what is a request, what may become one, what never will. */
#include "examples/edge_service/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static const char post[] = "POST /login HTTP/1.1\r\n"
                           "Host: edge.example\r\n"
                           "content-LENGTH:  9 \r\n"
                           "Cookie: theme=dark; sid=0123abcd; sidecar=1\r\n"
                           "\r\n"
                           "user=anna";

static void assert_slice(struct slice slice, const char *text) {
    assert_true(slice_equal(slice, slice_of(text)));
}

static void parses_a_whole_request(void **state) {
    (void)state;
    struct http_request request;
    assert_int_equal(http_parse(slice_of(post), &request), HTTP_OK);
    assert_slice(request.method, "POST");
    assert_slice(request.path, "/login");
    assert_slice(request.body, "user=anna");
    assert_int_equal(request.header_count, 3);
    assert_slice(http_header(&request, "host"), "edge.example");
    assert_slice(http_header(&request, "Content-Length"), "9");
    assert_null(http_header(&request, "Accept").at);
    assert_slice(http_cookie(&request, "sid"), "0123abcd");
    assert_slice(http_cookie(&request, "sidecar"), "1");
    assert_null(http_cookie(&request, "side").at);
}

/* Every beginning is incomplete, never bad; each is a block of its own, so that a sanitizer sees a read
 * past its end. */
static void every_beginning_is_incomplete(void **state) {
    (void)state;
    for (size_t length = 0; length < sizeof post - 1; length++) {
        char *copy = malloc(length + 1);
        assert_non_null(copy);
        memmove(copy + 1, post, length);
        struct http_request request;
        assert_int_equal(http_parse((struct slice){copy + 1, length}, &request), HTTP_INCOMPLETE);
        free(copy);
    }
}

static void refuses_what_is_no_request(void **state) {
    (void)state;
    static const char *const bad[] = {
        "GET / HTTP/1.1\n\n",
        "\r\n",
        "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        " / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET index.html HTTP/1.1\r\n\r\n",
        "GET /\x7f HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\n: a\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 0x10\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 4097\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct http_request request;
        if (http_parse(slice_of(bad[i]), &request) != HTTP_BAD)
            fail_msg("not refused: %s", bad[i]);
    }
    static const char zero[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
    struct http_request request;
    assert_int_equal(http_parse((struct slice){zero, sizeof zero - 1}, &request), HTTP_BAD);
}

static void bounds_the_headers(void **state) {
    (void)state;
    char text[1024];
    for (int count = HTTP_MAX_HEADERS; count <= HTTP_MAX_HEADERS + 1; count++) {
        int length = snprintf(text, sizeof text, "GET / HTTP/1.1\r\n");
        for (int i = 0; i < count; i++)
            length += snprintf(text + length, sizeof text - (size_t)length, "A%d: %d\r\n", i, i);
        snprintf(text + length, sizeof text - (size_t)length, "\r\n");
        struct http_request request;
        assert_int_equal(http_parse(slice_of(text), &request), count > HTTP_MAX_HEADERS ? HTTP_BAD : HTTP_OK);
    }
}

static void writes_a_response_or_nothing(void **state) {
    (void)state;
    static const char expected[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
                                   "Set-Cookie: sid=abc; HttpOnly; Secure\r\n\r\nok\n";
    struct http_response response = {
        .status = 200, .type = "text/plain", .session = "abc", .body = {"ok\n", 3}};
    char out[sizeof expected];
    assert_int_equal(http_write(&response, out, sizeof out), sizeof expected - 1);
    assert_memory_equal(out, expected, sizeof expected - 1);
    for (size_t capacity = 0; capacity < sizeof expected - 1; capacity++)
        assert_int_equal(http_write(&response, out, capacity), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_a_whole_request),       cmocka_unit_test(every_beginning_is_incomplete),
        cmocka_unit_test(refuses_what_is_no_request),   cmocka_unit_test(bounds_the_headers),
        cmocka_unit_test(writes_a_response_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
