/* capture/dump_name: names that never collide, split again, and stay in their folder. P8, G17. */
#include <string.h>
#include <time.h>

#include "heapprof/capture/dump_name.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/faked_identity.h"

#define SECOND INT64_C(1000000000)

static struct hp_dump_identity identity;
static char name[HP_DUMP_NAME_MAX + 1];

static const char *start_at(int64_t ns) {
    fake_wall_clock(ns);
    hp_dump_identity_init(&identity, "svc");
    return identity.start;
}

static void test_whole_name(void **state) {
    (void)state;
    fake_host("web-1", 4711);
    (void)start_at(1700000000 * SECOND + 123456789); /* 2023-11-14 22:13:20 UTC */
    hp_dump_name_write(name, &identity, 7, "limit95");
    assert_string_equal(name, "heapprof.svc.web-1.4711.20231114T221320123.7.limit95.pb.gz");
}

/* By hand; and every 37th hour of 230 years as the C library has it. */
static void test_dates(void **state) {
    (void)state;
    assert_string_equal(start_at(0), "19700101T000000000");
    assert_string_equal(start_at(951782400 * SECOND),
                        "20000229T000000000"); /* a century that is a leap year */
    assert_string_equal(start_at(1709251199 * SECOND + 999999999), "20240229T235959999");
    assert_string_equal(start_at(1709251200 * SECOND), "20240301T000000000");
    assert_string_equal(start_at(4107542399 * SECOND), "21000228T235959000"); /* and one that is not */
    assert_string_equal(start_at(4107542400 * SECOND), "21000301T000000000");
    assert_string_equal(start_at(1798761599 * SECOND + 1000000), "20261231T235959001");
    for (int64_t s = 0; s < INT64_C(230) * 365 * 86400; s += 37 * 3600 + 1) {
        char expected[32];
        struct tm tm;
        time_t t = s;
        assert_non_null(gmtime_r(&t, &tm));
        assert_int_equal(strftime(expected, sizeof expected, "%Y%m%dT%H%M%S000", &tm), 18);
        assert_string_equal(start_at(s * SECOND), expected);
    }
}

static void test_parts_are_cleaned(void **state) {
    (void)state;
    static const struct {
        const char *service;
        const char *clean;
    } rows[] = {
        {"plain-Name_09", "plain-Name_09"},
        {"a.b", "a_b"},
        {"../../etc/passwd", "______etc_passwd"},
        {"two words\n", "two_words_"},
        {"\xc3\xbc%s\x1b[0m", "___s__0m"},
        {"", "unnamed"},
        {"/", "_"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        fake_host(rows[i].service, 0);
        hp_dump_identity_init(&identity, rows[i].service);
        assert_string_equal(identity.service, rows[i].clean);
        assert_string_equal(identity.host, rows[i].clean);
    }
    fake_host("!", 0); /* uname() fails */
    hp_dump_identity_init(&identity, "x");
    assert_string_equal(identity.host, "unnamed");
}

/* The longest parts there are still fit a file's name (255 bytes), also with the temporary's 5 bytes more. */
static void test_longest_name(void **state) {
    (void)state;
    char longest[1000];
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    fake_host(longest, 2147483647);
    fake_wall_clock(INT64_MAX);
    hp_dump_identity_init(&identity, longest);
    assert_int_equal(strlen(identity.service), 64);
    assert_int_equal(strlen(identity.host), 64);
    hp_dump_name_write(name, &identity, 4294967295U, "a-reason-of-23-letters-");
    assert_true(strlen(name) + 5 <= 255);
    assert_true(hp_dump_name_is_dump(name, identity.service));
}

/* Two containers with pid 1, a restart in one of them, the next dump of the same process: four names. */
static void test_g17_names_differ(void **state) {
    (void)state;
    char names[4][HP_DUMP_NAME_MAX + 1];
    fake_host("one", 1);
    (void)start_at(1700000000 * SECOND);
    hp_dump_name_write(names[0], &identity, 1, "limit80");
    hp_dump_name_write(names[1], &identity, 2, "limit80");
    (void)start_at(1700000000 * SECOND + 1000000);
    hp_dump_name_write(names[2], &identity, 1, "limit80");
    fake_host("two", 1);
    (void)start_at(1700000000 * SECOND);
    hp_dump_name_write(names[3], &identity, 1, "limit80");
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(names[i], names[k]);
        }
    }
}

static void test_recognition(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool dump;
        bool temporary;
    } rows[] = {
        {"heapprof.svc.h.1.20231114T221320123.7.limit95.pb.gz", true, false},
        {".heapprof.svc.h.1.20231114T221320123.7.limit95.pb.gz.tmp", false, true},
        {"heapprof.svc2.h.1.20231114T221320123.7.limit95.pb.gz", false, false}, /* another service */
        {"heapprof.sv.h.1.20231114T221320123.7.limit95.pb.gz", false, false},
        {"heapprof.svc-b.h.1.20231114T221320123.7.limit95.pb.gz", false, false},
        {".heapprof.svc2.h.1.20231114T221320123.7.limit95.pb.gz.tmp", false, false},
        {"heapprof.svc.h.1.20231114T221320123.7.limit95.pb.gz.bak", false,
         false}, /* what people leave there */
        {"heapprof.svc.keep.pb.gz", false, false},
        {"heapprof.svc.h.1.x.7.limit95.more.pb.gz", false, false},
        {"heapprof.svc.h.1.20231114T221320123.7.limit95.pb", false, false},
        {"xheapprof.svc.h.1.20231114T221320123.7.limit95.pb.gz", false, false},
        {"heapprof.svc", false, false},
        {"heapprof.", false, false},
        {".heapprof.svc.tmp", false, false},
        {"", false, false},
        {".", false, false},
        {"..", false, false},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        if (hp_dump_name_is_dump(rows[i].name, "svc") != rows[i].dump ||
            hp_dump_name_is_temporary(rows[i].name, "svc") != rows[i].temporary) {
            fail_msg("%s", rows[i].name);
        }
    }
}

static int restore(void **state) {
    (void)state;
    fake_wall_clock(-1);
    fake_host(NULL, 0);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_whole_name, restore),
        cmocka_unit_test_teardown(test_dates, restore),
        cmocka_unit_test_teardown(test_parts_are_cleaned, restore),
        cmocka_unit_test_teardown(test_longest_name, restore),
        cmocka_unit_test_teardown(test_g17_names_differ, restore),
        cmocka_unit_test(test_recognition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
