/* bookkeeping/module_table: one id a binary's segment, names copied, bounded by count and by names. P26. */
#include <stdio.h>
#include <string.h>

#include "heapprof/bookkeeping/module_table.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"

enum { MODULES_MAX = 4096, NAMES_BYTES = 2 << 20, NAME_MAX_BYTES = 16 << 10 }; /* as the table has them */

static int setup(void **state) {
    (void)state;
    return hp_module_table_init() ? 0 : -1;
}

static const struct hp_module sample = {.start = 0x1000,
                                        .end = 0x9000,
                                        .offset = 0x1000,
                                        .path = "/usr/bin/a",
                                        .build_id = {1, 2, 3},
                                        .build_id_len = 3};

static void test_what_makes_a_module(void **state) {
    (void)state;
    assert_int_equal(hp_module_table_count(), 0);
    assert_int_equal(hp_module_table_add(&sample), 1);
    struct hp_module again = sample;
    again.build_id[10] = 99; /* beyond its length */
    assert_int_equal(hp_module_table_add(&again), 1);

    struct hp_module others[7];
    for (size_t i = 0; i < ROWS(others); i++) {
        others[i] = sample;
    }
    others[0].start = 0x2000;
    others[1].end = 0xa000;
    others[2].offset = 0;
    others[3].path = "/usr/bin/b";
    others[4].build_id[2] = 4;
    others[5].build_id_len = 2;
    others[6].build_id_len = 0;
    for (uint32_t i = 0; i < ROWS(others); i++) {
        assert_int_equal(hp_module_table_add(&others[i]), i + 2);
    }
    for (uint32_t i = 0; i < ROWS(others); i++) {
        assert_int_equal(hp_module_table_add(&others[i]), i + 2);
    }
    assert_int_equal(hp_module_table_count(), 8);
}

/* P26: the library is closed, its name gone from memory; the profile still has it. */
static void test_name_is_a_copy(void **state) {
    (void)state;
    char name[64] = "/opt/plugin.so";
    struct hp_module module = {
        .start = 0x100000, .end = 0x200000, .path = name, .build_id = {0xaa}, .build_id_len = 1};
    uint32_t id = hp_module_table_add(&module);
    memset(name, 'X', sizeof name - 1);
    memset(&module, 0xee, sizeof module);
    const struct hp_module *kept = hp_module_table_get(id);
    assert_string_equal(kept->path, "/opt/plugin.so");
    assert_int_equal(kept->start, 0x100000);
    assert_int_equal(kept->end, 0x200000);
    assert_int_equal(kept->build_id_len, 1);
    assert_int_equal(kept->build_id[0], 0xaa);
}

/* P7 */
static int body_child_adds(void) {
    hp_module_table_fork_child();
    struct hp_module module = sample;
    module.path = "/child";
    CHILD_CHECK(hp_module_table_add(&module) == hp_module_table_count());
    return 0;
}

static void test_fork(void **state) {
    (void)state;
    uint32_t count = hp_module_table_count();
    hp_module_table_fork_prepare();
    child_must_succeed(body_child_adds);
    hp_module_table_fork_parent();
    assert_int_equal(hp_module_table_count(), count);
}

static int body_long_names(void) {
    static char name[NAME_MAX_BYTES + 2];
    struct hp_module module = sample;
    module.path = name;
    uint32_t before = hp_module_table_count();
    memset(name, 'n', NAME_MAX_BYTES);
    CHILD_CHECK(hp_module_table_add(&module) == 0); /* one byte too long with its NUL */
    name[NAME_MAX_BYTES - 1] = '\0';
    uint32_t fitted = 0;
    for (uint32_t i = 0; i < MODULES_MAX; i++) {
        (void)snprintf(name, 8, "%07u", i);
        name[7] = 'n';
        uint32_t id = hp_module_table_add(&module);
        CHILD_CHECK(id == 0 || id == before + fitted + 1);
        fitted += id != 0;
    }
    /* One of the chunks for names is in use already. */
    CHILD_CHECK(fitted == NAMES_BYTES / NAME_MAX_BYTES - 1);
    CHILD_CHECK(hp_module_table_add(&sample) == 1);
    return 0;
}

static void test_names_are_bounded(void **state) {
    (void)state;
    child_must_succeed(body_long_names);
}

static void test_cap(void **state) {
    (void)state;
    char name[32];
    struct hp_module module = sample;
    module.path = name;
    for (uint32_t n = hp_module_table_count() + 1; n <= MODULES_MAX; n++) {
        (void)snprintf(name, sizeof name, "/lib/%u", n);
        assert_int_equal(hp_module_table_add(&module), n);
    }
    (void)snprintf(name, sizeof name, "/lib/new");
    assert_int_equal(hp_module_table_add(&module), 0);
    assert_int_equal(hp_module_table_count(), MODULES_MAX);
    (void)snprintf(name, sizeof name, "/lib/%u", MODULES_MAX);
    assert_int_equal(hp_module_table_add(&module), MODULES_MAX);
    assert_string_equal(hp_module_table_get(4000)->path, "/lib/4000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_makes_a_module), /* in this order: the table does not empty */
        cmocka_unit_test(test_name_is_a_copy),      cmocka_unit_test(test_fork),
        cmocka_unit_test(test_names_are_bounded),   cmocka_unit_test(test_cap),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
