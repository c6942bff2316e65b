/* control/protocol: every line there is, and what is none. */
#include <stdio.h>
#include <string.h>

#include "heapprof/control/protocol.h"
#include "tests/unit/cmocka_first.h"

static enum hp_request request;
static enum hp_fault fault;

static enum hp_protocol_reading read_request(const char *text) {
    request = HP_REQUESTS;
    fault = HP_FAULTS;
    return hp_protocol_read_request(text, strlen(text), &request, &fault);
}

static void test_requests(void **state) {
    (void)state;
    assert_int_equal(read_request("heapprof/1 status\n"), HP_PROTOCOL_WHOLE);
    assert_int_equal(request, HP_REQUEST_STATUS);
    assert_int_equal(read_request("heapprof/1 profile\n"), HP_PROTOCOL_WHOLE);
    assert_int_equal(request, HP_REQUEST_PROFILE);
}

/* Each beginning of a request is one that may become whole. */
static void test_half_a_request(void **state) {
    (void)state;
    static const char line[] = "heapprof/1 status\n";
    for (size_t n = 0; n + 1 < sizeof line - 1; n++) {
        assert_int_equal(hp_protocol_read_request(line, n, &request, &fault), HP_PROTOCOL_MORE);
    }
}

static void test_what_is_no_request(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum hp_fault fault;
    } rows[] = {
        {"\n", HP_FAULT_MALFORMED},
        {"status\n", HP_FAULT_MALFORMED},
        {"GET / HTTP/1.1\r\n", HP_FAULT_MALFORMED},
        {"heapprof/ status\n", HP_FAULT_MALFORMED},
        {"heapprof/x status\n", HP_FAULT_MALFORMED},
        {"heapprof/1status\n", HP_FAULT_MALFORMED},
        {"heapprof/1\n", HP_FAULT_MALFORMED},
        {"heapprof/-1 status\n", HP_FAULT_MALFORMED},
        {"heapprof/99999999999999999999 status\n", HP_FAULT_MALFORMED},
        {"HEAPPROF/1 status\n", HP_FAULT_MALFORMED},
        {"heapprof/1 status\nheapprof/1 status\n", HP_FAULT_MALFORMED},
        {"heapprof/1 status\n\n", HP_FAULT_MALFORMED},
        {"heapprof/1\tstatus\n", HP_FAULT_MALFORMED},
        {"heapprof/1 stat\xc3\xbc\x73\n", HP_FAULT_MALFORMED},
        {"heapprof/0 status\n", HP_FAULT_VERSION},
        {"heapprof/2 status\n", HP_FAULT_VERSION},
        {"heapprof/2 what the future brings\n", HP_FAULT_VERSION},
        {"heapprof/1 \n", HP_FAULT_UNKNOWN},
        {"heapprof/1 stop\n", HP_FAULT_UNKNOWN},
        {"heapprof/1 Status\n", HP_FAULT_UNKNOWN},
        {"heapprof/1  status\n", HP_FAULT_UNKNOWN},
        {"heapprof/1 status \n", HP_FAULT_UNKNOWN},
        {"heapprof/1 profile /etc/passwd\n", HP_FAULT_UNKNOWN}, /* a request can't name a file */
        {"heapprof/1 profile../x\n", HP_FAULT_UNKNOWN},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        assert_int_equal(read_request(rows[i].text), HP_PROTOCOL_WRONG);
        assert_int_equal(fault, rows[i].fault);
    }
    /* A NUL is no end of a line. */
    assert_int_equal(hp_protocol_read_request("heapprof/1 status\0\n", 19, &request, &fault),
                     HP_PROTOCOL_WRONG);
    assert_int_equal(fault, HP_FAULT_MALFORMED);
}

/* 256 bytes with the end: one more is too long, and known to be before its end has come. */
static void test_the_longest_line(void **state) {
    (void)state;
    char line[300];
    memset(line, 'x', sizeof line);
    memcpy(line, "heapprof/1 ", 11);
    line[255] = '\n';
    assert_int_equal(hp_protocol_read_request(line, 255, &request, &fault), HP_PROTOCOL_MORE);
    assert_int_equal(hp_protocol_read_request(line, 256, &request, &fault), HP_PROTOCOL_WRONG);
    assert_int_equal(fault, HP_FAULT_UNKNOWN);
    line[255] = 'x';
    assert_int_equal(hp_protocol_read_request(line, 256, &request, &fault), HP_PROTOCOL_WRONG);
    assert_int_equal(fault, HP_FAULT_MALFORMED);
}

static enum hp_protocol_reading read_reply(const char *text, struct hp_reply *reply) {
    return hp_protocol_read_reply(text, strlen(text), reply);
}

static void test_ok_reply(void **state) {
    (void)state;
    struct hp_reply reply;
    assert_int_equal(read_reply("heapprof/1 ok 5\nhe", &reply), HP_PROTOCOL_WHOLE);
    assert_true(reply.is_ok);
    assert_int_equal(reply.body_bytes, 5);
    assert_int_equal(reply.line_bytes, 16);
    assert_int_equal(read_reply("heapprof/1 ok 18446744073709551615\n", &reply), HP_PROTOCOL_WHOLE);
    assert_true(reply.body_bytes == UINT64_MAX);
}

static void test_error_reply(void **state) {
    (void)state;
    struct hp_reply reply;
    assert_int_equal(read_reply("heapprof/1 error busy ask again\n", &reply), HP_PROTOCOL_WHOLE);
    assert_false(reply.is_ok);
    assert_int_equal(reply.fault, HP_FAULT_BUSY);
    assert_string_equal(reply.text, "ask again");
    assert_int_equal(read_reply("heapprof/1 error tired go away\n", &reply), HP_PROTOCOL_WHOLE);
    assert_int_equal(reply.fault, HP_FAULTS);
    assert_string_equal(reply.text, "go away");
}

static void test_what_is_no_reply(void **state) {
    (void)state;
    static const char *const rows[] = {
        "heapprof/1 ok\n",
        "heapprof/1 ok \n",
        "heapprof/1 ok -5\n",
        "heapprof/1 ok 5x\n",
        "heapprof/1 ok 18446744073709551616\n",
        "heapprof/1 error\n",
        "heapprof/1 error busy\n",
        "heapprof/1 error  busy\n",
        "heapprof/2 ok 5\n",
        "HTTP/1.1 400 Bad Request\r\n",
        "\n",
    };
    struct hp_reply reply;
    for (size_t i = 0; i < ROWS(rows); i++) {
        assert_int_equal(read_reply(rows[i], &reply), HP_PROTOCOL_WRONG);
    }
    assert_int_equal(read_reply("heapprof/1 ok 5", &reply), HP_PROTOCOL_MORE);
}

/* What one side writes the other reads as the same. */
static void test_there_and_back(void **state) {
    (void)state;
    char line[HP_PROTOCOL_LINE + 1];
    struct hp_reply reply;
    for (unsigned i = 0; i < HP_REQUESTS; i++) {
        size_t n = hp_protocol_write_request(line, (enum hp_request)i);
        assert_int_equal(hp_protocol_read_request(line, n, &request, &fault), HP_PROTOCOL_WHOLE);
        assert_int_equal(request, i);
    }
    for (unsigned i = 0; i < HP_FAULTS; i++) {
        size_t n = hp_protocol_write_error(line, (enum hp_fault)i, "why, and why not");
        assert_int_equal(hp_protocol_read_reply(line, n, &reply), HP_PROTOCOL_WHOLE);
        assert_int_equal(reply.fault, i);
        assert_string_equal(reply.text, "why, and why not");
        assert_int_equal(reply.line_bytes, n);
    }
    size_t n = hp_protocol_write_ok(line, UINT64_MAX);
    assert_string_equal(line, "heapprof/1 ok 18446744073709551615\n");
    assert_int_equal(n, strlen(line));
}

/* Too long a text is cut, and nothing in it ends the line or drives a terminal. */
static void test_a_hostile_text(void **state) {
    (void)state;
    char line[HP_PROTOCOL_LINE + 1];
    char text[1000];
    struct hp_reply reply;
    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[0] = '\x1b';
    size_t n = hp_protocol_write_error(line, HP_FAULT_FAILED, text);
    assert_int_equal(n, HP_PROTOCOL_LINE);
    assert_ptr_equal(memchr(line, '\n', n), line + n - 1);
    assert_int_equal(hp_protocol_read_reply(line, n, &reply), HP_PROTOCOL_WHOLE);
    assert_int_equal(strspn(reply.text, "?"), strlen(reply.text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),           cmocka_unit_test(test_half_a_request),
        cmocka_unit_test(test_what_is_no_request), cmocka_unit_test(test_the_longest_line),
        cmocka_unit_test(test_ok_reply),           cmocka_unit_test(test_error_reply),
        cmocka_unit_test(test_what_is_no_reply),   cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_a_hostile_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
