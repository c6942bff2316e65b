/* tools/memory_stream: what is written is there, and never more than the bound. */
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory_stream.h"
#include "tests/unit/cmocka_first.h"

static void holds_what_was_written(void **state) {
    (void)state;
    struct hp_memory_stream memory;
    FILE *stream = hp_memory_stream_open(&memory, 10000000);
    assert_non_null(stream);
    for (int i = 0; i < 100000; i++)
        fprintf(stream, "%06d\n", i);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(memory.size, 700000);
    for (int i = 0; i < 100000; i++) {
        char line[16];
        snprintf(line, sizeof line, "%06d\n", i);
        assert_memory_equal(memory.data + 7 * (size_t)i, line, 7);
    }
    free(memory.data);
}

static void ends_at_its_bound(void **state) {
    (void)state;
    struct hp_memory_stream memory;
    FILE *stream = hp_memory_stream_open(&memory, 100000);
    assert_non_null(stream);
    for (int i = 0; i < 100000; i++)
        fputs("0123456789", stream);
    assert_true(ferror(stream) != 0);
    fclose(stream);
    assert_true(memory.size <= 100000 && memory.size > 90000);
    assert_memory_equal(memory.data, "01234567890123456789", 20);
    free(memory.data);
}

static void takes_exactly_its_bound(void **state) {
    (void)state;
    struct hp_memory_stream memory;
    FILE *stream = hp_memory_stream_open(&memory, 5);
    assert_non_null(stream);
    fputs("12345", stream);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(memory.size, 5);
    free(memory.data);
    stream = hp_memory_stream_open(&memory, 4);
    assert_non_null(stream);
    fputs("12345", stream);
    assert_int_not_equal(fclose(stream), 0);
    assert_true(memory.size <= 4);
    free(memory.data);
}

static void may_stay_empty(void **state) {
    (void)state;
    struct hp_memory_stream memory;
    FILE *stream = hp_memory_stream_open(&memory, 5);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(memory.size, 0);
    free(memory.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_what_was_written),
        cmocka_unit_test(ends_at_its_bound),
        cmocka_unit_test(takes_exactly_its_bound),
        cmocka_unit_test(may_stay_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
