/* base/procfs: the kernel's small files, under a root of ours. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "heapprof/base/procfs.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/scratch.h"

static int setup(void **state) {
    (void)scratch_make(state);
    static char root[4096];
    (void)snprintf(root, sizeof root, "%s", scratch_path(""));
    hp_procfs_set_root(root);
    return 0;
}

static int teardown(void **state) {
    hp_procfs_set_root("");
    return scratch_remove(state);
}

static void test_reads_and_cuts(void **state) {
    (void)state;
    char buf[8] = "#######";
    scratch_write("short", "abc\n", 4, 0);
    scratch_write("exact", "1234567", 7, 0);
    scratch_write("long", "123456789", 9, 0);
    scratch_write("empty", "", 0, 0);
    assert_int_equal(hp_procfs_read("/short", buf, sizeof buf), 4);
    assert_string_equal(buf, "abc\n");
    assert_int_equal(hp_procfs_read("/exact", buf, sizeof buf), 7);
    assert_string_equal(buf, "1234567");
    assert_int_equal(hp_procfs_read("/long", buf, sizeof buf), 7);
    assert_string_equal(buf, "1234567");
    assert_int_equal(hp_procfs_read("/empty", buf, sizeof buf), 0);
    assert_string_equal(buf, "");
}

static void test_failures(void **state) {
    (void)state;
    char buf[8];
    char path[2000];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    errno = 0;
    assert_int_equal(hp_procfs_read("/none", buf, sizeof buf), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(hp_procfs_read(path, buf, sizeof buf), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
    assert_int_equal(hp_procfs_read("/folder", buf, sizeof buf), -1);
    assert_int_equal(errno, EISDIR);
}

/* /proc is read in pieces of the kernel's choosing; nothing stays open. */
static void test_the_real_root(void **state) {
    (void)state;
    static char maps[1 << 20];
    char self[64];
    hp_procfs_set_root("");
    ssize_t n = hp_procfs_read("/proc/self/maps", maps, sizeof maps);
    assert_true(n > 0 && (size_t)n < sizeof maps - 1);
    assert_non_null(strstr(maps, "[stack]")); /* one of the last lines */
    /* Since Linux 6.2 the size of /proc/self/fd is how many descriptors there are (0 before). */
    struct stat before;
    struct stat after;
    assert_int_equal(stat("/proc/self/fd", &before), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(hp_procfs_read("/proc/self/statm", self, sizeof self) > 0);
        assert_int_equal(hp_procfs_read("/proc/self/none", self, sizeof self), -1);
    }
    assert_int_equal(stat("/proc/self/fd", &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int error; /* 0: the value */
        uint64_t value;
    } rows[] = {
        {"134217728\n", 0, 134217728},
        {"0\n", 0, 0},
        {"max\n", 0, UINT64_MAX},
        {"9223372036854771712\n", 0, UINT64_C(9223372036854771712)}, /* G6: v1's "no limit" is a number */
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616\n", EINVAL, 0},
        {"-1\n", EINVAL, 0},
        {"", EINVAL, 0},
        {"\n", EINVAL, 0},
        {"abc", EINVAL, 0},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        uint64_t value = 7;
        scratch_write("number", rows[i].text, strlen(rows[i].text), 0);
        errno = 0;
        int rc = hp_procfs_read_u64("/number", &value);
        if (rc != (rows[i].error == 0 ? 0 : -1) || value != (rows[i].error == 0 ? rows[i].value : 7) ||
            (rows[i].error != 0 && errno != rows[i].error)) {
            fail_msg("\"%s\": %d, %lu, errno %d", rows[i].text, rc, value, errno);
        }
    }
    uint64_t value = 7;
    assert_int_equal(hp_procfs_read_u64("/missing", &value), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(value, 7);
}

static void test_fields(void **state) {
    (void)state;
    static const char text[] = "inactive_file_more 1\nfile 2\ninactive_file 3\nMemTotal:       16777216 "
                               "kB\ntab\t5\nbad x\nbare\nlast 6";
    static const struct {
        const char *key;
        int rc;
        uint64_t value;
    } rows[] = {
        {"file", 0, 2},
        {"inactive_file", 0, 3},
        {"inactive_file_more", 0, 1},
        {"MemTotal:", 0, 16777216},
        {"tab", 0, 5},
        {"last", 0, 6},
        {"bad", -1, 0},
        {"bare", -1, 0},
        {"active_file", -1, 0},
        {"MemTotal", -1, 0},
        {"las", -1, 0},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        uint64_t value = 0;
        if (hp_procfs_field(text, rows[i].key, &value) != rows[i].rc || value != rows[i].value) {
            fail_msg("%s: %lu", rows[i].key, value);
        }
    }
    uint64_t value = 0;
    assert_int_equal(hp_procfs_field("", "file", &value), -1);
    assert_int_equal(hp_procfs_field("\n\nfile 9\n", "file", &value), 0);
    assert_int_equal(value, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_and_cuts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_real_root, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fields, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
