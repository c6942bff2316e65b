/* base/parse: numbers and sizes. G1, G2 and the sizes of G4. */
#include <stdbool.h>
#include <string.h>

#include "heapprof/base/parse.h"
#include "tests/unit/cmocka_first.h"

#define REFUSED UINT64_C(0xdeadbeef) /* what *value held before, and still holds */

static const struct {
    const char *text;
    uint64_t bytes;
} sizes[] = {
    /* G1: one number in six spellings, all of them powers of 1024. */
    {"128MB", 134217728},
    {"128M", 134217728},
    {"128m", 134217728},
    {"128MiB", 134217728},
    {"128Mi", 134217728}, /* as Kubernetes writes it */
    {"2gi", 2147483648},
    {"134217728", 134217728},
    {" 128mb\n", 134217728},
    {"1G", 1073741824},
    /* G2: neither 42 bytes nor none. */
    {"42GB", 45097156608},
    {"5GB", 5368709120},
    {"5 GB", 5368709120},
    {"0", 0},
    {"1", 1},
    {"1b", 1},
    {"1B", 1},
    {"1k", 1024},
    {"1Kb", 1024},
    {"1kIb", 1024},
    {"3T", 3298534883328},
    {"1.5G", 1610612736},
    {"0.5k", 512},
    {"1.5", 1}, /* half a byte is none */
    {"0.999999999k", 1023},
    {"0.1234567899999999999999999M", 129453}, /* 0.123456789 * 2^20 = 129453.8… */
    {"007", 7},
    {"\t\r\n 7 \t\r\n", 7},
    {"1\t k", 1024},
    {"18446744073709551615", UINT64_MAX},
    {"18446744073709551615.9", UINT64_MAX},
    {"18446744073709551616", REFUSED},
    {"16777215T", UINT64_C(0xffffff0000000000)},
    {"16777215.5T", UINT64_C(0xffffff8000000000)},
    {"16777216T", REFUSED},
    {"99999999999999999999T", REFUSED},
    /* G4 and its kind. */
    {"", REFUSED},
    {" ", REFUSED},
    {"-1", REFUSED},
    {"+1", REFUSED},
    {"abc", REFUSED},
    {"50%", REFUSED},
    {"max", REFUSED},
    {"1e3", REFUSED},
    {"0x10", REFUSED},
    {"1 2", REFUSED},
    {"1,5G", REFUSED},
    {".5G", REFUSED},
    {"1.", REFUSED},
    {"1.G", REFUSED},
    {"1..5G", REFUSED},
    {"M", REFUSED},
    {"1MM", REFUSED},
    {"1MiBB", REFUSED},
    {"1iB", REFUSED},
    {"1P", REFUSED},
    {"1M B", REFUSED},
    {"1 MB x", REFUSED},
    {"1\xc2\xa0M", REFUSED}, /* a no-break space */
};

static void test_sizes(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(sizes); i++) {
        uint64_t bytes = REFUSED;
        int rc = hp_parse_size(sizes[i].text, strlen(sizes[i].text), &bytes);
        if (bytes != sizes[i].bytes || rc != (sizes[i].bytes == REFUSED ? -1 : 0)) {
            fail_msg("\"%s\": %d, %lu", sizes[i].text, rc, bytes);
        }
    }
}

/* A list's item ends where the caller says, not at a NUL. */
static void test_size_ends_at_its_length(void **state) {
    (void)state;
    uint64_t bytes = 0;
    assert_int_equal(hp_parse_size("12K,7", 3, &bytes), 0);
    assert_int_equal(bytes, 12288);
    assert_int_equal(hp_parse_size("12K", 2, &bytes), 0);
    assert_int_equal(bytes, 12);
    assert_int_equal(hp_parse_size("12K", 0, &bytes), -1);
    assert_int_equal(bytes, 12);
}

static void test_overlong_size_is_refused(void **state) {
    (void)state;
    char text[5000];
    memset(text, '0', sizeof text);
    uint64_t bytes = REFUSED;
    assert_int_equal(hp_parse_size(text, sizeof text, &bytes), -1);
    memset(text, ' ', sizeof text); /* blanks around do not count */
    text[2000] = '9';
    assert_int_equal(hp_parse_size(text, sizeof text, &bytes), 0);
    assert_int_equal(bytes, 9);
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        int rest; /* where the digits end; -1: refused */
    } rows[] = {
        {"0", 0, 1},
        {"12ab", 12, 2},
        {"18446744073709551615 ", UINT64_MAX, 20},
        {"00000000000000000000000000000000000001", 1, 38},
        {"18446744073709551616", 0, -1},
        {"18446744073709551620", 0, -1},
        {"99999999999999999999999", 0, -1},
        {"", 0, -1},
        {" 1", 0, -1},
        {"-1", 0, -1},
        {"x", 0, -1},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        uint64_t value = REFUSED;
        const char *end = NULL;
        int rc = hp_parse_u64(rows[i].text, &value, &end);
        bool refused = rows[i].rest < 0;
        assert_int_equal(rc, refused ? -1 : 0);
        assert_true(value == (refused ? REFUSED : rows[i].value));
        assert_ptr_equal(end, refused ? NULL : rows[i].text + rows[i].rest);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_size_ends_at_its_length),
        cmocka_unit_test(test_overlong_size_is_refused),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
