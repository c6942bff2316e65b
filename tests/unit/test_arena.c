/* base/arena: zeroed, aligned, bounded. */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heapprof/base/arena.h"
#include "tests/unit/cmocka_first.h"

enum { PAGE = 4096, CHUNK = 4 * PAGE };

static bool is_zero(const char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Each piece is filled with its own letter; at the end all letters still stand: no two overlap. */
static void test_pieces_are_zeroed_aligned_and_apart(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 15, 16, 17, 100, 4096, 5000, 1, 12000, CHUNK, 3};
    char *pieces[ROWS(sizes)];
    struct hp_arena arena;
    hp_arena_init(&arena, CHUNK, 16 * CHUNK);
    for (size_t i = 0; i < ROWS(sizes); i++) {
        pieces[i] = hp_arena_take(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        assert_true(is_zero(pieces[i], sizes[i]));
        memset(pieces[i], 'a' + (int)i, sizes[i]);
    }
    for (size_t i = 0; i < ROWS(sizes); i++) {
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(pieces[i][k], 'a' + (int)i);
        }
    }
}

/* Two chunks of 16 KiB hold 1024 pieces of 32 bytes each, then there is nothing, for good. */
static void test_cap_is_exact(void **state) {
    (void)state;
    struct hp_arena arena;
    hp_arena_init(&arena, CHUNK, 2 * CHUNK);
    for (int i = 0; i < 2 * CHUNK / 32; i++) {
        assert_non_null(hp_arena_take(&arena, 32));
    }
    assert_null(hp_arena_take(&arena, 32));
    assert_null(hp_arena_take(&arena, 1));
}

/* A cap that is no multiple of the chunk is not exceeded by the last one. */
static void test_cap_between_chunks(void **state) {
    (void)state;
    struct hp_arena arena;
    uint64_t before = hp_pages_total();
    hp_arena_init(&arena, CHUNK, 2 * CHUNK - 1);
    assert_non_null(hp_arena_take(&arena, CHUNK));
    assert_null(hp_arena_take(&arena, CHUNK));
    assert_int_equal(hp_pages_total() - before, CHUNK);
}

static void test_what_does_not_fit_takes_nothing(void **state) {
    (void)state;
    struct hp_arena arena;
    uint64_t before = hp_pages_total();
    hp_arena_init(&arena, CHUNK, 2 * CHUNK);
    assert_null(hp_arena_take(&arena, CHUNK + 1));
    assert_int_equal(hp_pages_total(), before);
    const char *first = hp_arena_take(&arena, 16);
    assert_null(hp_arena_take(&arena, CHUNK + 1));
    assert_ptr_equal(hp_arena_take(&arena, 16), first + 16);
}

static unsigned pages_present(void *at, size_t pages) {
    unsigned char vector[64];
    unsigned present = 0;
    assert_int_equal(mincore(at, pages * PAGE, vector), 0);
    for (size_t i = 0; i < pages; i++) {
        present += vector[i] & 1U;
    }
    return present;
}

/* What a dump uses must be there when memory is out; what a table may use must not cost before it does. */
static void test_pages(void **state) {
    (void)state;
    size_t before = hp_pages_total();
    char *present = hp_pages_map_present(31 * PAGE + 1);
    char *sparse = hp_pages_map(32 * PAGE);
    assert_non_null(present);
    assert_non_null(sparse);
    assert_int_equal(hp_pages_total() - before, 64 * PAGE);
    assert_int_equal((uintptr_t)present % PAGE, 0);
    assert_int_equal(pages_present(present, 32), 32);
    assert_int_equal(pages_present(sparse, 32), 0);
    assert_true(is_zero(sparse, PAGE));
    assert_int_equal(pages_present(sparse, 32), 1);
}

/* Who locks a process's memory makes every page present that may be used; and those that are opened later. */
static void test_a_row_costs_what_is_reached(void **state) {
    (void)state;
    enum { PAGES = 40, STEP = 16 };
    struct hp_row row;
    assert_true(hp_row_map(&row, PAGES * PAGE));
    assert_true(hp_row_reach(&row, 1));
    (void)syscall(SYS_mlock, row.start, PAGES * PAGE); /* some can't be; AddressSanitizer makes mlock() do nothing */
    assert_int_equal(pages_present(row.start, PAGES), STEP);
    assert_true(hp_row_reach(&row, STEP * PAGE));
    assert_int_equal(pages_present(row.start, PAGES), STEP);
    assert_true(hp_row_reach(&row, PAGES * PAGE));
    assert_true(is_zero(row.start, PAGES * PAGE));
    memset(row.start, 0xa5, PAGES * PAGE);
    assert_false(hp_row_reach(&row, PAGES * PAGE + 1));
    assert_true(hp_row_reach(&row, PAGES * PAGE));
    assert_false(hp_row_map(&row, SIZE_MAX / 2));
}

static void test_no_address_space(void **state) {
    (void)state;
    struct hp_arena arena;
    size_t before = hp_pages_total();
    assert_null(hp_pages_map(SIZE_MAX / 2));
    hp_arena_init(&arena, SIZE_MAX / 2 & ~(size_t)(PAGE - 1), SIZE_MAX / 2);
    assert_null(hp_arena_take(&arena, 16));
    assert_int_equal(hp_pages_total(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(test_cap_is_exact),
        cmocka_unit_test(test_cap_between_chunks),
        cmocka_unit_test(test_what_does_not_fit_takes_nothing),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_a_row_costs_what_is_reached),
        cmocka_unit_test(test_no_address_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
