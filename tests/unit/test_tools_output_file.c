/* tools/output_file: whole or not at all, and nothing replaced that is no file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/output_file.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/scratch.h"

static void write_text(const char *path, const char *text) {
    struct hp_output output;
    struct hp_error error = {""};
    assert_true(hp_output_check(path, HP_OUTPUT_BINARY, &error));
    assert_true(hp_output_open(&output, path, HP_OUTPUT_BINARY, &error));
    assert_true(hp_output_write(&output, text, strlen(text), &error));
    assert_true(hp_output_commit(&output, &error));
    assert_string_equal(error.text, "");
}

static void expect_content(const char *name, const char *expected) {
    char text[64];
    size_t size = scratch_read(name, text, sizeof text);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
}

static mode_t mode_of(const char *name) {
    struct stat status;
    assert_int_equal(stat(scratch_path(name), &status), 0);
    return status.st_mode & 07777;
}

static void a_new_file_has_the_umask_s_mode(void **state) {
    (void)state;
    mode_t before = umask(0027);
    write_text(scratch_path("new"), "one");
    umask(before);
    expect_content("new", "one");
    assert_int_equal(mode_of("new"), 0640);
    assert_int_equal(scratch_list("", NULL, 0), 1);
}

static void a_file_is_replaced_and_keeps_its_mode(void **state) {
    (void)state;
    scratch_write("old", "before", 6, 0);
    chmod(scratch_path("old"), 0604);
    write_text(scratch_path("old"), "after");
    expect_content("old", "after");
    assert_int_equal(mode_of("old"), 0604);
}

static void a_link_stays_a_link(void **state) {
    (void)state;
    struct stat status;
    scratch_write("target", "before", 6, 0);
    assert_int_equal(symlink("target", scratch_path("link")), 0);
    write_text(scratch_path("link"), "after");
    expect_content("target", "after");
    assert_int_equal(lstat(scratch_path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void until_the_end_the_old_file_is_there(void **state) {
    (void)state;
    struct hp_output output;
    struct hp_error error = {""};
    scratch_write("kept", "before", 6, 0);
    assert_true(hp_output_open(&output, scratch_path("kept"), HP_OUTPUT_TEXT, &error));
    assert_true(hp_output_write(&output, "after", 5, &error));
    expect_content("kept", "before");
    hp_output_abort(&output);
    expect_content("kept", "before");
    assert_int_equal(scratch_list("", NULL, 0), 1);
}

static void signals_wait_while_a_file_is_open(void **state) {
    (void)state;
    struct hp_output output;
    struct hp_error error = {""};
    sigset_t mask;
    assert_true(hp_output_open(&output, scratch_path("file"), HP_OUTPUT_TEXT, &error));
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_true(sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM));
    assert_true(hp_output_commit(&output, &error));
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT) || sigismember(&mask, SIGTERM));
}

static void a_device_is_written_to_and_stays(void **state) {
    (void)state;
    struct stat status;
    write_text("/dev/null", "gone");
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void expect_refused(const char *path, int reason) {
    struct hp_output output;
    struct hp_error early = {""}, late = {""};
    assert_false(hp_output_check(path, HP_OUTPUT_BINARY, &early));
    assert_false(hp_output_open(&output, path, HP_OUTPUT_BINARY, &late) && hp_output_commit(&output, &late));
    assert_string_equal(early.text, strerror(reason));
    assert_string_equal(late.text, strerror(reason));
}

static void what_can_not_be_a_file_is_refused_early(void **state) {
    (void)state;
    mkdir(scratch_path("folder"), 0700);
    expect_refused(scratch_path("folder"), EISDIR);
    expect_refused(scratch_path("missing/file"), ENOENT);
    scratch_write("plain", "", 0, 0);
    expect_refused(scratch_path("plain/file"), ENOTDIR);
    assert_int_equal(scratch_list("", NULL, 0), 2);
}

static void nothing_binary_goes_to_a_terminal(void **state) {
    (void)state;
    struct hp_output output;
    struct hp_error error = {""};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        skip();
    const char *path = ptsname(terminal);
    assert_false(hp_output_open(&output, path, HP_OUTPUT_BINARY, &error));
    assert_non_null(strstr(error.text, "is a terminal"));
    assert_true(hp_output_open(&output, path, HP_OUTPUT_TEXT, &error));
    assert_true(hp_output_commit(&output, &error));
    close(terminal);
}

#define test(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        test(a_new_file_has_the_umask_s_mode),
        test(a_file_is_replaced_and_keeps_its_mode),
        test(a_link_stays_a_link),
        test(until_the_end_the_old_file_is_there),
        test(signals_wait_while_a_file_is_open),
        test(a_device_is_written_to_and_stays),
        test(what_can_not_be_a_file_is_refused_early),
        test(nothing_binary_goes_to_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
