/* pprof/gzip_stream: zlib reads it back, whatever its length; a broken output breaks it off. */
#include <stdlib.h>
#include <string.h>

#include "heapprof/base/rng.h"
#include "heapprof/pprof/gzip_stream.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/read_profile.h"

static uint8_t file[8 << 20];
static size_t file_bytes;
static unsigned calls;
static unsigned fails_at; /* the call that fails; 0: none */

static int to_file(void *context, const void *data, size_t bytes) {
    assert_ptr_equal(context, &calls);
    assert_true(bytes > 0);
    calls++;
    if (calls == fails_at) {
        return -1;
    }
    assert_true(fails_at == 0 || calls < fails_at); /* after a failure nothing more is offered */
    assert_true(bytes <= sizeof file - file_bytes);
    memcpy(file + file_bytes, data, bytes);
    file_bytes += bytes;
    return 0;
}

/* Byte number i of the data; every other stretch of 64 KiB is noise. */
static uint8_t byte_at(size_t i) {
    uint64_t state = i;
    return (i >> 16) % 2 == 0 ? (uint8_t)(i / 100) : (uint8_t)hp_rng_next(&state);
}

/* `total` bytes in pieces of `piece`. */
static int write_all(size_t total, size_t piece) {
    struct hp_gzip *stream = hp_gzip_prepare();
    assert_non_null(stream);
    file_bytes = 0;
    calls = 0;
    hp_gzip_begin(stream, to_file, &calls);
    for (size_t at = 0; at < total;) {
        size_t n = total - at < piece ? total - at : piece;
        uint8_t *room = hp_gzip_room(stream, n);
        for (size_t i = 0; i < n; i++) {
            room[i] = byte_at(at + i);
        }
        at += n;
    }
    return hp_gzip_end(stream);
}

static void check_file(size_t total) {
    size_t plain_bytes = 0;
    uint8_t *plain = inflate_whole(file, file_bytes, &plain_bytes);
    assert_non_null(plain);
    assert_int_equal(plain_bytes, total);
    for (size_t i = 0; i < total; i++) {
        if (plain[i] != byte_at(i)) {
            fail_msg("byte %zu", i);
        }
    }
    free(plain);
}

static void test_round_trip(void **state) {
    (void)state;
    static const struct {
        size_t total;
        size_t piece;
    } rows[] = {
        {0, 1},
        {1, 1},
        {HP_GZIP_STAGING - 1, 100},
        {HP_GZIP_STAGING, HP_GZIP_STAGING},
        {HP_GZIP_STAGING + 1, 1},
        {HP_GZIP_STAGING + 1, HP_GZIP_STAGING},
        {10 * HP_GZIP_STAGING, HP_GZIP_STAGING},
        {200000, 7},
        {5000000, 1000},
        {5000001, 32767},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        assert_int_equal(write_all(rows[i].total, rows[i].piece), 0);
        check_file(rows[i].total);
    }
}

static void test_prepare_is_once(void **state) {
    (void)state;
    assert_ptr_equal(hp_gzip_prepare(), hp_gzip_prepare());
}

/* Whichever call fails, the end says so, nothing follows it, and the next file is whole again. */
static void test_failing_output(void **state) {
    (void)state;
    enum { TOTAL = 1000000 };
    assert_int_equal(write_all(TOTAL, 1000), 0);
    unsigned all = calls;
    assert_true(all > 10);
    for (fails_at = 1; fails_at <= all; fails_at++) {
        assert_int_equal(write_all(TOTAL, 1000), -1);
        assert_int_equal(calls, fails_at);
    }
    fails_at = 0;
    assert_int_equal(write_all(TOTAL, 1000), 0);
    check_file(TOTAL);
}

/* A file that was given up in the middle leaves nothing in the next. */
static void test_begin_anew(void **state) {
    (void)state;
    struct hp_gzip *stream = hp_gzip_prepare();
    hp_gzip_begin(stream, to_file, &calls);
    for (int i = 0; i < 100; i++) {
        memset(hp_gzip_room(stream, 1000), 0xaa, 1000);
    }
    assert_int_equal(write_all(1234, 10), 0);
    check_file(1234);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_prepare_is_once),
        cmocka_unit_test(test_failing_output),
        cmocka_unit_test(test_begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
