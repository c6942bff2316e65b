#include "tools/base/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/base/text.h"

enum { WIDTH = 79 };

static bool is_shown;

void hp_progress_show(const char *format, ...) {
    if (isatty(STDERR_FILENO) == 0)
        return;
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    char *fitted = hp_text_fit(text, WIDTH);
    fprintf(stderr, "\r\033[K%s", fitted);
    fflush(stderr);
    is_shown = true;
    free(fitted);
    free(text);
}

void hp_progress_clear(void) {
    if (is_shown)
        fputs("\r\033[K", stderr);
    is_shown = false;
}
