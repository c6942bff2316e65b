/*
 * Allocates before any constructor has run (preinit_array), in constructors of all priorities, here and in a
 * library that comes before heapprof (early_library.c); frees it all in main, and once more at the very end.
 */
#include "check.h"

const char *early_library_text(void);

static char *before_constructors;
static char *first_of_all;
static char *last_of_all;

static char *text_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    if (copy == NULL) {
        abort();
    }
    return strcpy(copy, text);
}

static void preinit(int argc, char **argv, char **environment) {
    (void)argc;
    (void)argv;
    (void)environment;
    before_constructors = text_of("preinit");
    free(realloc(calloc(100, 10), 5000));
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit_entry)(int, char **,
                                                                                    char **) = preinit;

__attribute__((constructor(101))) static void first(void) {
    first_of_all = text_of("first");
}

__attribute__((constructor)) static void last(void) {
    last_of_all = text_of("last");
}

__attribute__((destructor(101))) static void at_the_very_end(void) {
    char *text = text_of("end");
    for (size_t n = 10; n < 100000; n *= 2) {
        text = realloc(text, n);
        if (text == NULL || strcmp(text, "end") != 0) {
            abort();
        }
    }
    free(text);
}

int main(void) {
    CHECK(strcmp(before_constructors, "preinit") == 0);
    CHECK(strcmp(first_of_all, "first") == 0);
    CHECK(strcmp(last_of_all, "last") == 0);
    CHECK(strcmp(early_library_text(), "early library") == 0);
    before_constructors = realloc(before_constructors, 10000);
    CHECK(strcmp(before_constructors, "preinit") == 0);
    free(before_constructors);
    free(first_of_all);
    free(last_of_all);
    return 0;
}
