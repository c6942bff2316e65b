/*
 * One line that says what is wrong. A function that can fail takes one, fills it and returns false
 * or NULL; main.c prints it after "heapprof: ". The text names no file: the caller knows which.
 */
#ifndef HP_TOOLS_ERROR_H
#define HP_TOOLS_ERROR_H

#include <stdbool.h>

struct hp_error {
    char text[512]; /* always terminated; "" while nothing failed */
};

/* Fills `error` (may be NULL) as printf does, cut to fit. Always returns false. */
bool hp_error_set(struct hp_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
