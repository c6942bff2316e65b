#include "tools/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *need(void *memory) {
    if (memory == NULL) {
        fputs("heapprof: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

void *hp_memory_new(size_t count, size_t size) {
    return need(calloc(count > 0 ? count : 1, size));
}

void *hp_memory_grow(void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return array;
    *capacity = *capacity == 0 ? 16 : *capacity * 2;
    return need(reallocarray(array, *capacity, size));
}

char *hp_memory_format(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return need(length >= 0 ? text : NULL);
}
