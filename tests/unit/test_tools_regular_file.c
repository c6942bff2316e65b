/* regular_file: what somebody else may have put in a file's place. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cmocka_first.h"
#include "tests/unit/scratch.h"
#include "tools/base/regular_file.h"

/* What the file at `path` begins with; or why it can't be opened. */
static const char *look(const char *path, const char *root) {
    static char text[64];
    struct hp_error error = {""};
    int fd = hp_regular_file_open(path, root, &error);
    if (fd < 0) {
        (void)snprintf(text, sizeof text, "%.60s", error.text);
        return text;
    }
    assert_string_equal(error.text, "");
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    assert_int_equal(close(fd), 0);
    return text;
}

static void test_what_is_a_file(void **state) {
    (void)state;
    scratch_write("file", "here", 4, 0);
    assert_int_equal(symlink("file", scratch_path("link")), 0);
    assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
    assert_string_equal(look(scratch_path("file"), NULL), "here");
    assert_string_equal(look(scratch_path("link"), NULL), "here");
    assert_string_equal(look(scratch_path("none"), NULL), "No such file or directory");
    assert_string_equal(look(scratch_path("folder"), NULL), "not a regular file");
    assert_string_equal(look("/dev/null", NULL), "not a regular file");
    assert_int_equal(hp_regular_file_open("/dev/null", NULL, NULL), -1);
}

static _Atomic bool was_opened;

/* A FIFO's writer waits until somebody opens it to read. */
static void *wait_for_reader(void *path) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    atomic_store(&was_opened, true);
    (void)close(fd);
    return NULL;
}

static void test_fifo_is_not_opened(void **state) {
    (void)state;
    char fifo[256];
    pthread_t writer;
    (void)snprintf(fifo, sizeof fifo, "%s", scratch_path("fifo"));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, wait_for_reader, fifo), 0);
    for (int i = 0; i < 20; i++) {
        (void)usleep(5000); /* so that it waits by now */
        assert_string_equal(look(fifo, NULL), "not a regular file");
        assert_string_equal(look(fifo, scratch_path("")), "not a regular file");
        assert_false(atomic_load(&was_opened));
    }
    int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_true(atomic_load(&was_opened));
    (void)close(fd);
}

/* An absolute link means the root's file, and ".." does not lead out of it; nor does a link of the kernel's. */
static void test_root(void **state) {
    (void)state;
    char root[256];
    char outside[256];
    (void)snprintf(root, sizeof root, "%s", scratch_path("root"));
    (void)snprintf(outside, sizeof outside, "%s", scratch_path("secret"));
    assert_int_equal(mkdir(root, 0700), 0);
    scratch_write("secret", "outside", 7, 0);
    scratch_write("root/secret", "inside", 6, 0);
    assert_int_equal(symlink("/secret", scratch_path("root/absolute")), 0);
    assert_int_equal(symlink("../../secret", scratch_path("root/above")), 0);
    assert_int_equal(symlink(outside, scratch_path("root/out")), 0);
    assert_int_equal(symlink("/", scratch_path("root/all")), 0);
    assert_string_equal(look(scratch_path("root/absolute"), root), "inside");
    assert_string_equal(look(scratch_path("root/above"), root), "inside");
    assert_string_equal(look(scratch_path("root/../secret"), root), "inside");
    assert_string_equal(look(scratch_path("root/all/all/secret"), root), "inside");
    assert_string_equal(look(scratch_path("root/out"), root), "No such file or directory");
    /* What does not begin with it is ours. */
    assert_string_equal(look(outside, root), "outside");
    assert_string_equal(look(scratch_path("root/out"), NULL), "outside");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_a_file, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_fifo_is_not_opened, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_root, scratch_make, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
