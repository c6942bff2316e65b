/* CHECK(condition): else the program says which and ends with 1. */
#ifndef INTEGRATION_CHECK_H
#define INTEGRATION_CHECK_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static inline int is_aligned(const void *p, size_t alignment) {
    return ((uintptr_t)p & (alignment - 1)) == 0;
}

#endif
