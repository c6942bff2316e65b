/* base/json and base/date: text that any reader of JSON takes, and that is cut visibly. */
#include <string.h>
#include <time.h>

#include "heapprof/base/date.h"
#include "heapprof/base/json.h"
#include "tests/unit/cmocka_first.h"

static char buffer[512];

static void test_structure(void **state) {
    (void)state;
    struct hp_json json = hp_json_over(buffer, sizeof buffer);
    hp_json_open(&json, NULL, '{');
    hp_json_number(&json, "zero", 0);
    hp_json_number(&json, "most", UINT64_MAX);
    hp_json_open(&json, "list", '[');
    hp_json_number(&json, NULL, 1);
    hp_json_open(&json, NULL, '{');
    hp_json_close(&json, '}');
    hp_json_flag(&json, NULL, true);
    hp_json_null(&json, NULL);
    hp_json_close(&json, ']');
    hp_json_flag(&json, "no", false);
    hp_json_open(&json, "empty", '[');
    hp_json_close(&json, ']');
    hp_json_text(&json, "text", "x");
    hp_json_close(&json, '}');
    assert_string_equal(buffer,
                        "{\"zero\":0,\"most\":18446744073709551615,\"list\":[1,{},true,null],\"no\":false,"
                        "\"empty\":[],\"text\":\"x\"}");
    assert_true(hp_json_fits(&json));
    assert_int_equal(json.w.len, strlen(buffer));
}

static void test_any_text(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *json;
    } rows[] = {
        {"", "\"\""},
        {"plain /text/ with 'these'", "\"plain /text/ with 'these'\""},
        {"\"\\", "\"\\\"\\\\\""},
        {"\n\t\x1b[0m\x7f\x01", "\"\\u000a\\u0009\\u001b[0m\\u007f\\u0001\""},
        {"\xc3\xbc\xe2\x82\xac", "\"\xc3\xbc\xe2\x82\xac\""},
        {"\xff\xc3", "\"??\""},
        {"\xc3\"", "\"?\\\"\""}, /* a quote does not complete a sequence */
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_json json = hp_json_over(buffer, sizeof buffer);
        hp_json_text(&json, NULL, rows[i].text);
        assert_string_equal(buffer, rows[i].json);
    }
}

/* At every size of the buffer: what fits is whole, what does not says so and stays in its bounds. */
static void test_too_small(void **state) {
    (void)state;
    char small[64];
    const size_t needed = strlen("{\"a\":\"bcd\",\"e\":12}");
    for (size_t cap = 2; cap < sizeof small; cap++) {
        memset(small, 'x', sizeof small);
        struct hp_json json = hp_json_over(small, cap);
        hp_json_open(&json, NULL, '{');
        hp_json_text(&json, "a", "bcd");
        hp_json_number(&json, "e", 12);
        hp_json_close(&json, '}');
        assert_int_equal(hp_json_fits(&json), cap > needed + 1);
        assert_int_equal(strlen(small), cap > needed ? needed : cap - 1);
        assert_true(cap == sizeof small || small[cap] == 'x');
    }
}

static void test_times(void **state) {
    (void)state;
    struct hp_json json = hp_json_over(buffer, sizeof buffer);
    hp_json_time(&json, NULL, INT64_C(1798761599001999999));
    assert_string_equal(buffer, "\"2026-12-31T23:59:59.001Z\"");
    json = hp_json_over(buffer, sizeof buffer);
    hp_json_time(&json, NULL, 0);
    assert_string_equal(buffer, "null");
}

/* Every 37th hour of 230 years as the C library has it. */
static void test_dates(void **state) {
    (void)state;
    for (int64_t s = 0; s < INT64_C(230) * 365 * 86400; s += 37 * 3600 + 1) {
        struct hp_date date = hp_date_of(s * 1000000000 + 5000000);
        time_t t = s;
        struct tm tm;
        assert_non_null(gmtime_r(&t, &tm));
        assert_int_equal(date.year, tm.tm_year + 1900);
        assert_int_equal(date.month, tm.tm_mon + 1);
        assert_int_equal(date.day, tm.tm_mday);
        assert_int_equal(date.hour * 3600 + date.minute * 60 + date.second,
                         (tm.tm_hour * 60 + tm.tm_min) * 60 + tm.tm_sec);
        assert_int_equal(date.millisecond, 5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure), cmocka_unit_test(test_any_text), cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_times),     cmocka_unit_test(test_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
