/* base/log: one write a line, levels, the cap for each process, no waiting. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "heapprof/base/log.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"

/* In a child, so that each test starts with the whole allowance of lines. */

static int body_levels(void) {
    hp_log(HP_LOG_ERROR, "e%d", 1);
    hp_log(HP_LOG_WARN, "w%s", "2");
    hp_log(HP_LOG_INFO, "not by default");
    hp_log_set_level(HP_LOG_ERROR);
    hp_log(HP_LOG_WARN, "no more");
    hp_log_set_level(HP_LOG_INFO);
    hp_log(HP_LOG_INFO, "i%lu", 3UL);
    return 0;
}

static void test_levels(void **state) {
    (void)state;
    struct child_end end;
    child_run(body_levels, &end);
    assert_string_equal(end.said, "heapprof: e1\nheapprof: w2\nheapprof: i3\n");
}

static int body_cap(void) {
    for (int i = 0; i < 50; i++) {
        hp_log(HP_LOG_INFO, "not written, not counted");
    }
    for (int i = 0; i < 1000; i++) {
        hp_log(HP_LOG_WARN, "x");
    }
    return 0;
}

static void test_falls_silent_and_says_so(void **state) {
    (void)state;
    struct child_end end;
    child_run(body_cap, &end);
    unsigned lines = 0;
    const char *last = end.said;
    for (const char *p = end.said; (p = strchr(p, '\n')) != NULL; p++) {
        lines++;
        last = p[1] != '\0' ? p + 1 : last;
    }
    assert_int_equal(lines, HP_LOG_LINES);
    assert_string_equal(last, "heapprof: enough said; no more lines from this process\n");
}

/* A pipe in packet mode gives back what each write(2) brought: two threads' lines never mix. */
static int body_one_write(void) {
    int ends[2];
    char packet[4096];
    char text[1000];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHILD_CHECK(pipe2(ends, O_DIRECT) == 0 && dup2(ends[1], 2) == 2);
    hp_log(HP_LOG_WARN, "%s and %d", "text", 5);
    hp_log(HP_LOG_WARN, "%s", text);
    ssize_t n = read(ends[0], packet, sizeof packet);
    CHILD_CHECK(n == 21 && memcmp(packet, "heapprof: text and 5\n", 21) == 0);
    n = read(ends[0], packet, sizeof packet);
    CHILD_CHECK(n > 400 && n <= 512 && packet[n - 1] == '\n' && packet[n - 2] == 'y');
    return 0;
}

static void test_a_line_is_one_write(void **state) {
    (void)state;
    child_must_succeed(body_one_write);
}

/* Whoever logs does so from inside malloc: errno is the application's. */
static int body_errno(void) {
    (void)close(2);
    errno = ENOENT;
    hp_log(HP_LOG_ERROR, "into nothing");
    CHILD_CHECK(errno == ENOENT);
    return 0;
}

static void test_keeps_errno(void **state) {
    (void)state;
    child_must_succeed(body_errno);
}

/* A reader that stands still, as a stuck collector of logs, costs lines and nothing else. */
static int body_full_pipe(void) {
    int ends[2];
    char text[4096];
    memset(text, 'z', sizeof text);
    CHILD_CHECK(pipe2(ends, O_NONBLOCK) == 0);
    while (write(ends[1], text, sizeof text) > 0) {
    }
    CHILD_CHECK(errno == EAGAIN && fcntl(ends[1], F_SETFL, 0) == 0 && dup2(ends[1], 2) == 2);
    hp_log(HP_LOG_ERROR, "lost");
    hp_log_find_standard_error();
    hp_log(HP_LOG_ERROR, "lost, too");
    while (read(ends[0], text, sizeof text) > 0) {
    }
    hp_log(HP_LOG_ERROR, "said");
    ssize_t n = read(ends[0], text, sizeof text);
    CHILD_CHECK(n == 15 && memcmp(text, "heapprof: said\n", 15) == 0);
    return 0;
}

static void test_does_not_wait_for_a_reader(void **state) {
    (void)state;
    child_must_succeed(body_full_pipe);
}

/* Nor does one that is gone: the application may never write there, and not expect SIGPIPE. */
static int body_no_reader(void) {
    int ends[2];
    CHILD_CHECK(pipe2(ends, 0) == 0 && dup2(ends[1], 2) == 2 && close(ends[0]) == 0);
    hp_log(HP_LOG_ERROR, "lost");
    hp_log_find_standard_error();
    hp_log(HP_LOG_ERROR, "lost, too");
    return 0;
}

static void test_no_signal_without_a_reader(void **state) {
    (void)state;
    child_must_succeed(body_no_reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_falls_silent_and_says_so),
        cmocka_unit_test(test_a_line_is_one_write),
        cmocka_unit_test(test_keeps_errno),
        cmocka_unit_test(test_does_not_wait_for_a_reader),
        cmocka_unit_test(test_no_signal_without_a_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
