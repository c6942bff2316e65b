/* tools/base/key_table, id_map and pool: the small tables below everything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/id_map.h"
#include "tools/base/key_table.h"
#include "tools/base/pool.h"
#include "tests/unit/cmocka_first.h"

static void numbers_distinct_keys(void **state) {
    (void)state;
    enum { KEYS = 5000 };
    static char names[KEYS][16];
    struct hp_key_table *table = hp_key_table_new();
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < KEYS; i++) {
            snprintf(names[i], sizeof names[i], "name%zu", i / 2);
            struct hp_key key = {names[i], "file", (int64_t)(i % 2)};
            assert_int_equal(hp_key_table_place(table, key), i);
        }
    }
    assert_int_equal(hp_key_table_count(table), KEYS);
    /* the border of name and file counts */
    assert_int_equal(hp_key_table_place(table, (struct hp_key){"ab", "c", 0}), KEYS);
    assert_int_equal(hp_key_table_place(table, (struct hp_key){"a", "bc", 0}), KEYS + 1);
    hp_key_table_free(table);
}

static void finds_ids(void **state) {
    (void)state;
    struct hp_id sequential[] = {{1, 0}, {2, 1}, {3, 2}}, any[] = {{7, 0}, {UINT64_MAX, 1}, {3, 2}};
    struct hp_id twice[] = {{7, 0}, {3, 1}, {7, 2}};
    struct hp_id_map map;
    size_t place = 99;
    uint64_t duplicate = 0;
    assert_true(hp_id_map_seal(&map, sequential, 3, &duplicate));
    assert_true(map.sequential && hp_id_map_find(&map, 3, &place));
    assert_int_equal(place, 2);
    assert_false(hp_id_map_find(&map, 0, &place));
    assert_false(hp_id_map_find(&map, 4, &place));
    assert_true(hp_id_map_seal(&map, any, 3, &duplicate));
    assert_true(!map.sequential && hp_id_map_find(&map, UINT64_MAX, &place));
    assert_int_equal(place, 1);
    assert_false(hp_id_map_find(&map, 1, &place));
    assert_false(hp_id_map_seal(&map, twice, 3, &duplicate));
    assert_int_equal(duplicate, 7);
    assert_true(hp_id_map_seal(&map, NULL, 0, &duplicate));
    assert_false(hp_id_map_find(&map, 1, &place));
}

static void keeps_a_pool_within_its_limit(void **state) {
    (void)state;
    struct hp_pool *pool = hp_pool_new(1 << 20);
    size_t got = 0;
    char *last = NULL;
    for (char *memory; (memory = hp_pool_alloc(pool, 1000)) != NULL; got++) {
        assert_int_equal((uintptr_t)memory % 16, 0);
        assert_true(last == NULL || memory >= last + 1000 || memory + 1000 <= last);
        memset(memory, 0xaa, 1000);
        last = memory;
    }
    assert_in_range(got, 900, 1048);
    assert_null(hp_pool_alloc(pool, SIZE_MAX));
    assert_null(hp_pool_calloc(pool, SIZE_MAX / 2, 4));
    assert_null(hp_pool_alloc(NULL, 1));
    hp_pool_free(pool);
    hp_pool_free(NULL);
}

static void pool_memory_is_as_asked_for(void **state) {
    (void)state;
    struct hp_pool *pool = hp_pool_new(1 << 20);
    char *large = hp_pool_calloc(pool, 300000, 1);
    assert_non_null(large);
    for (size_t i = 0; i < 300000; i++)
        assert_int_equal(large[i], 0);
    char *copy = hp_pool_strdup(pool, "text");
    assert_string_equal(copy, "text");
    assert_non_null(hp_pool_alloc(pool, 0));
    hp_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_distinct_keys),
        cmocka_unit_test(finds_ids),
        cmocka_unit_test(keeps_a_pool_within_its_limit),
        cmocka_unit_test(pool_memory_is_as_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
