/* base/log: one write a line, levels, the cap for each process. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_falls_silent_and_says_so),
        cmocka_unit_test(test_a_line_is_one_write),
        cmocka_unit_test(test_keeps_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
