/* tools/base/text, tools/symbols/short_name, tools/base/utf8 and tools/symbols/demangle: what people read. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/symbols/demangle.h"
#include "tools/symbols/short_name.h"
#include "tools/base/text.h"
#include "tools/base/utf8.h"
#include "tests/unit/cmocka_first.h"

static void shows_bytes_in_units(void **state) {
    (void)state;
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {-1536, "-1.5 KiB"},
        {134217728, "128.0 MiB"},
        {1048524, "1023.9 KiB"},   /* the last that rounds down … */
        {1048576 - 51, "1.0 MiB"}, /* … and one that would print as 1024.0 KiB */
        {INT64_MAX, "8.0 EiB"},
        {INT64_MIN, "-8.0 EiB"},
    };
    char buffer[HP_TEXT_NUMBER];
    for (size_t i = 0; i < ROWS(rows); i++)
        assert_string_equal(hp_text_value(buffer, rows[i].value, "bytes", false), rows[i].text);
    assert_string_equal(hp_text_value(buffer, 123456789, "count", false), "123456789");
    assert_string_equal(hp_text_value(buffer, INT64_MIN, "bytes", true), "-9223372036854775808");
}

static void shows_shares_and_times(void **state) {
    (void)state;
    char buffer[HP_TEXT_NUMBER];
    assert_string_equal(hp_text_share(buffer, 1, 8), "12.5%");
    assert_string_equal(hp_text_share(buffer, -8, 8), "-100.0%");
    assert_string_equal(hp_text_share(buffer, 1, 0), "-");
    assert_string_equal(hp_text_time(buffer, 1700000000000000000), "2023-11-14 22:13:20 UTC");
    assert_string_equal(hp_text_time(buffer, 0), "");
    hp_text_time(buffer, INT64_MAX);
    hp_text_time(buffer, INT64_MIN);
}

static void expect_clean(const char *text, const char *expected) {
    char *clean = hp_text_clean(text);
    assert_string_equal(clean, expected);
    free(clean);
}

static void hides_control_characters(void **state) {
    (void)state;
    expect_clean("plain", "plain");
    expect_clean("S\xc3\xb6ren \xe2\x82\xac \xf0\x9f\x98\x80", "S\xc3\xb6ren \xe2\x82\xac \xf0\x9f\x98\x80");
    expect_clean("\033[2J\r\n\x7f", "\\x1b[2J\\x0d\\x0a\\x7f");
    expect_clean("\xc2\x9b"
                 "31m",
                 "\\xc2\\x9b31m"); /* C1: another way to start an escape */
    expect_clean("\xff\xc3", "\\xff\\xc3");
}

static void expect_fit(const char *text, size_t width, const char *expected) {
    char *fitted = hp_text_fit(text, width);
    assert_string_equal(fitted, expected);
    free(fitted);
}

static void fits_long_names(void **state) {
    (void)state;
    expect_fit("short", 5, "short");
    expect_fit("app::Shelf<int>::add", 11, "app:...:add");
    expect_fit("app::Shelf<int>::add", 5, "a...d");
    expect_fit("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc", 5, "\xc3\xa4...\xc3\xbc");
}

static void shortens_names_by_what_tells_least(void **state) {
    (void)state;
    static const struct {
        const char *name, *shorter;
        size_t width;
    } rows[] = {
        {"app::add(int)", "app::add(int)", 13},
        {"app::add(int)", "app::add", 12},
        {"app::Cart<long>::add(long) const", "app::Cart<long>::add", 31},
        {"app::Cart<long>::add(long) const", "app::Cart<>::add", 19},
        {"f(int (*)(char), long)", "f", 20},
        {"Map<a, b<c> >::operator()(int) const", "Map<a, b<c> >::operator()", 35},
        {"Map<a, b<c> >::operator()(int) const", "Map<>::operator()", 20},
        {"operator<< <char>(Stream<char>&)", "operator<< <char>", 30},
        {"Set<int>::operator->(int)", "Set<>::operator->", 17},
        {"Set<decltype(a->b)>::add(int)", "Set<>::add", 17},
        {"app::(anonymous namespace)::twice(int)", "app::(anonymous namespace)::twice", 36},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()", 40},
        {"main::{lambda(int)#1}", "main::{...int)#1}", 17},
        {"<alloc::RawVec<T<u8>>>::grow_one", "<alloc::RawVec<>>::grow_one", 30},
        {"broken<<int(", "brok...int(", 11},
        {"broken<<int(x", "bro...(x", 8},
        {")", ")", 5},
        {"))))))))", ")...)", 5},
        {"<><><><>", "<...>", 5},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        char *shorter = hp_short_name(rows[i].name, rows[i].width);
        if (strcmp(shorter, rows[i].shorter) != 0)
            fail_msg("%s in %zu: %s", rows[i].name, rows[i].width, shorter);
        free(shorter);
    }
}

static void wraps_words(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    hp_text_wrap(stream, "one two three averyveryverylongword x", 4, 14);
    fclose(stream);
    assert_string_equal(text, "one two\n    three\n    averyveryverylongword\n    x\n");
    free(text);
}

static void judges_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"", true},
        {"\x7f", true},
        {"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true},
        {"\x80", false},
        {"\xc0\x80", false}, /* overlong */
        {"\xc1\xbf", false},
        {"\xe0\x9f\xbf", false},
        {"\xf0\x8f\xbf\xbf", false},
        {"\xed\xa0\x80", false},     /* a surrogate */
        {"\xf4\x90\x80\x80", false}, /* beyond the last character */
        {"\xf5\x80\x80\x80", false},
        {"\xe2\x82", false}, /* cut */
        {"\xe2\x28\xa1", false},
        {"a\xff", false},
    };
    for (size_t i = 0; i < ROWS(rows); i++)
        if (hp_utf8_is_valid((const uint8_t *)rows[i].text, strlen(rows[i].text)) != rows[i].valid)
            fail_msg("row %zu", i);
}

static void demangles(void **state) {
    (void)state;
    static const struct {
        const char *mangled, *name;
    } rows[] = {
        {"_ZN3app5ShelfIiLi7EE3addEi", "app::Shelf<int, 7>::add(int)"},
        {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
        {"_ZdlPv", "operator delete(void*)"},
        {"main", NULL},
        {"i", NULL}, /* the type int, to libiberty */
        {"_Zgarbage", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        char *name = hp_demangle(rows[i].mangled);
        if (rows[i].name == NULL)
            assert_null(name);
        else if (name == NULL || strcmp(name, rows[i].name) != 0)
            fail_msg("%s: %s", rows[i].mangled, name != NULL ? name : "(null)");
        free(name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_bytes_in_units),
        cmocka_unit_test(shows_shares_and_times),
        cmocka_unit_test(hides_control_characters),
        cmocka_unit_test(fits_long_names),
        cmocka_unit_test(shortens_names_by_what_tells_least),
        cmocka_unit_test(wraps_words),
        cmocka_unit_test(judges_utf8),
        cmocka_unit_test(demangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
