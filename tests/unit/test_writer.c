/* base/writer: formatting that never leaves its buffer, and UTF-8 repair. */
#include <string.h>

#include "heapprof/base/writer.h"
#include "tests/unit/cmocka_first.h"

static char buffer[128];

/* Past the compiler's check of formats: what it refuses must not break the writer either. */
static const char *formatted(const char *format, ...) {
    va_list args;
    struct hp_writer w = hp_writer_over(buffer, sizeof buffer);
    va_start(args, format);
    hp_writer_vformat(&w, format, args);
    va_end(args);
    assert_int_equal(w.len, strlen(buffer));
    return buffer;
}

static void test_conversions(void **state) {
    (void)state;
    assert_string_equal(formatted("%s, %c%%", "text", 'c'), "text, c%");
    assert_string_equal(formatted("%d %d %d", 0, -2147483647 - 1, 2147483647), "0 -2147483648 2147483647");
    assert_string_equal(formatted("%.3s|%.9s|%.0s|", "text", "text", "text"), "tex|text||");
    assert_string_equal(formatted("%u %x", 4294967295U, 0xdeadU), "4294967295 dead");
    assert_string_equal(formatted("%ld", INT64_MIN), "-9223372036854775808");
    assert_string_equal(formatted("%lu %zu", UINT64_MAX, (size_t)7), "18446744073709551615 7");
    assert_string_equal(formatted("%lx", UINT64_C(0xfedcba9876543210)), "fedcba9876543210");
    assert_string_equal(formatted("%02u:%03u:%08lx", 7U, 1234U, UINT64_C(0xab)), "07:1234:000000ab");
    assert_string_equal(formatted("%016lx", UINT64_C(0)), "0000000000000000");
}

static void test_anything_else_stands_as_it_is(void **state) {
    (void)state;
    assert_string_equal(formatted("50% of"), "50% of");
    assert_string_equal(formatted("%q %"), "%q %");
    assert_string_equal(formatted("%12"), "%12");
    assert_string_equal(formatted("%l"), "%l");
    assert_string_equal(formatted(""), "");
    /* A width beyond any number's digits is cut, not overrun. */
    assert_int_equal(strlen(formatted("%099d", 1)), 64);
}

/* For every capacity the text is the same, cut; the byte behind the buffer is untouched. */
static void test_cuts_at_every_length(void **state) {
    (void)state;
    static const char whole[] = "one -12 0x0ff four";
    for (size_t cap = 1; cap <= sizeof whole + 2; cap++) {
        char small[sizeof whole + 3];
        memset(small, '#', sizeof small);
        struct hp_writer w = hp_writer_over(small, cap);
        hp_writer_format(&w, "one %d 0x%03x ", -12, 255U);
        hp_writer_text(&w, "four");
        size_t expected = cap - 1 < sizeof whole - 1 ? cap - 1 : sizeof whole - 1;
        assert_int_equal(w.len, expected);
        assert_memory_equal(small, whole, expected);
        assert_int_equal(small[expected], '\0');
        for (size_t i = cap; i < sizeof small; i++) {
            assert_int_equal(small[i], '#');
        }
    }
}

static void test_bytes_need_no_end(void **state) {
    (void)state;
    struct hp_writer w = hp_writer_over(buffer, 6);
    hp_writer_bytes(&w, "abcdef", 3);
    hp_writer_bytes(&w, "xyz", 0);
    hp_writer_bytes(&w, "defghi", 6);
    assert_string_equal(buffer, "abcde");
}

static void test_sizes_for_people(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {999, "999 B"},
        {1023, "1023 B"},
        {1024, "1 KiB"},
        {1025, "1 KiB"},
        {1536, "1.5 KiB"},
        {134217728, "128 MiB"},
        {1610612736, "1.5 GiB"},
        {UINT64_C(1) << 40, "1 TiB"},
        {UINT64_C(1) << 50, "1 PiB"},
        {(UINT64_C(1) << 20) - 1, "1023.9 KiB"}, /* rounded down: never more than there is */
        {UINT64_MAX, "15.9 EiB"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_writer w = hp_writer_over(buffer, sizeof buffer);
        hp_writer_size(&w, rows[i].bytes);
        assert_string_equal(buffer, rows[i].text);
    }
}

/* By hand from RFC 3629: the first and the last of each length stay, what lies outside becomes '?', a byte
 * each. The rows of "\x80", "\xc0\xaf" and so on are those of Markus Kuhn's UTF-8 stress test. */
static void test_utf8_repair(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *repaired;
    } rows[] = {
        {"", ""},
        {"plain ~\x7f", "plain ~\x7f"},
        {"\xc2\x80 \xdf\xbf", "\xc2\x80 \xdf\xbf"},
        {"\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf",
         "\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"},
        {"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"},
        {"\x80", "?"},
        {"\xbf\xbf", "??"},
        {"\xc0\xaf", "??"},
        {"\xc1\xbf", "??"},
        {"\xe0\x9f\xbf", "???"},      /* overlong */
        {"\xf0\x8f\xbf\xbf", "????"}, /* overlong */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xed\xbf\xbf", "???"},
        {"\xf4\x90\x80\x80", "????"}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", "????"},
        {"\xfe\xff", "??"},
        {"\xc2", "?"}, /* cut short at the end */
        {"\xe2\x82", "??"},
        {"\xf0\x9f\x98", "???"},
        {"\xc2x", "?x"}, /* cut short by a letter */
        {"\xe2\x82x", "??x"},
        {"\xe2\x82\xac\xe2\x82", "\xe2\x82\xac??"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        char text[32];
        strcpy(text, rows[i].text);
        hp_writer_make_utf8(text);
        assert_string_equal(text, rows[i].repaired);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversions),          cmocka_unit_test(test_anything_else_stands_as_it_is),
        cmocka_unit_test(test_cuts_at_every_length), cmocka_unit_test(test_bytes_need_no_end),
        cmocka_unit_test(test_sizes_for_people),     cmocka_unit_test(test_utf8_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
