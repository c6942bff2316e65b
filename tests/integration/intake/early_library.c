/* A library whose constructor runs first and allocates; its destructor runs last and frees. */
#include <stdlib.h>
#include <string.h>

const char *early_library_text(void);

static char *text;

__attribute__((constructor(101))) static void begin(void) {
    text = calloc(1, 100);
    if (text == NULL) {
        abort();
    }
    text = realloc(strcpy(text, "early library"), 8000);
    for (int i = 0; i < 100; i++) {
        free(malloc((size_t)i * 100));
    }
}

__attribute__((destructor(101))) static void end(void) {
    free(realloc(text, 10));
}

const char *early_library_text(void) {
    return text;
}
