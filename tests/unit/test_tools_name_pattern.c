/* tools/name_pattern: what matches, what is not understood, and that no pattern is slow. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/profile/name_pattern.h"
#include "tests/unit/cmocka_first.h"

static void matches_whole_names(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"malloc", "malloc", true},
        {"malloc", "xmalloc", false},
        {"malloc", "mallocx", false},
        {"malloc|calloc", "calloc", true},
        {"malloc|calloc", "malloccalloc", false},
        {"je_.*", "je_", true},
        {"je_.*", "je_malloc_default", true},
        {"operator new(\\[\\])?", "operator new", true},
        {"operator new(\\[\\])?", "operator new[]", true},
        {"operator new(\\[\\])?", "operator new[", false},
        {"(?:a|b)+c", "ababc", true},
        {"(a|b)+c", "c", false},
        {"a*b?", "", true},
        {"a*b?", "aaab", true},
        {"a*b?", "aaabb", false},
        {"(a*)*", "aaaa", true},
        {"(a*)*b", "aaaa", false},
        {"(|x)y", "y", true},
        {"[a-c_]+", "a_c", true},
        {"[a-c_]+", "d", false},
        {"[^a-c]", "d", true},
        {"[^a-c]", "b", false},
        {"[]a]+", "a]", true},
        {"[a-]+", "a-a", true},
        {"\\w+::\\d", "std::1", true},
        {"^malloc$", "malloc", true},
        {"a^b", "ab", false},
        {"a$|b", "a", true},
        {".*?x", "aax", true},
        {"std::.*", "std::vector<int>::push_back", true},
        {"s..n", "s\xc3\xb6n", true},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_name_pattern *pattern = hp_name_pattern_new(rows[i].pattern);
        if (pattern == NULL || hp_name_pattern_matches(pattern, rows[i].name) != rows[i].matches)
            fail_msg("%s on %s", rows[i].pattern, rows[i].name);
        hp_name_pattern_free(pattern);
    }
}

static void refuses_what_it_does_not_know(void **state) {
    (void)state;
    static const char *const patterns[] = {"(",     ")",        "a)",    "(a",          "[",  "[a",  "*",
                                           "a**",   "+a",       "a{2}",  "{",           "\\", "\\1", "\\b",
                                           "(?i)a", "(?P<n>a)", "[z-a]", "[[:alpha:]]", "[\\"};
    for (size_t i = 0; i < ROWS(patterns); i++) {
        struct hp_name_pattern *pattern = hp_name_pattern_new(patterns[i]);
        if (pattern != NULL)
            fail_msg("%s was understood", patterns[i]);
    }
}

static void bounds_depth_and_length(void **state) {
    (void)state;
    static char text[6000];
    memset(text, '(', 5000);
    assert_null(hp_name_pattern_new(text));
    memset(text, 'a', 4097);
    text[4097] = '\0';
    assert_null(hp_name_pattern_new(text));
    text[4096] = '\0';
    struct hp_name_pattern *pattern = hp_name_pattern_new(text);
    assert_non_null(pattern);
    hp_name_pattern_free(pattern);
}

/* (a?){n}a{n}: exponential for a matcher that goes back. */
static void is_never_exponential(void **state) {
    (void)state;
    static char text[1000], name[1000];
    for (int i = 0; i < 200; i++)
        strcat(text, "a?");
    for (int i = 0; i < 200; i++)
        strcat(text, "a");
    memset(name, 'a', 200);
    struct hp_name_pattern *pattern = hp_name_pattern_new(text);
    assert_non_null(pattern);
    clock_t start = clock();
    assert_true(hp_name_pattern_matches(pattern, name));
    assert_true(clock() - start < CLOCKS_PER_SEC);
    hp_name_pattern_free(pattern);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_whole_names),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(bounds_depth_and_length),
        cmocka_unit_test(is_never_exponential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
