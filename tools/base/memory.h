/*
 * Memory for what the tool builds itself. Out of it, the command ends with one line and status 1:
 * there is nothing to save. What hostile input can inflate lives in a pool instead.
 */
#ifndef HP_TOOLS_MEMORY_H
#define HP_TOOLS_MEMORY_H

#include <stddef.h>

/* `count` zeroed elements of `size` bytes; the caller frees them. Never NULL. */
void *hp_memory_new(size_t count, size_t size);

/*
 * Room for one more element at array[count]: the array itself, or a larger copy with *capacity
 * elements. Takes NULL with capacity 0. Never NULL.
 */
void *hp_memory_grow(void *array, size_t count, size_t *capacity, size_t size);

/* As asprintf does, but the string is the result. Never NULL; the caller frees it. */
char *hp_memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
