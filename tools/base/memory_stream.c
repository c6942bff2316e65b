#include "tools/base/memory_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { FIRST_CAPACITY = 64 * 1024 };

static bool grow(struct hp_memory_stream *memory, size_t wanted) {
    size_t capacity = memory->capacity > 0 ? memory->capacity : FIRST_CAPACITY;
    while (capacity < wanted)
        capacity *= 2;
    char *data = realloc(memory->data, capacity);
    if (data == NULL)
        return false;
    memory->data = data;
    memory->capacity = capacity;
    return true;
}

/* 0 is how fopencookie is told of an error. */
static ssize_t add(void *cookie, const char *data, size_t size) {
    struct hp_memory_stream *memory = cookie;
    if (size > memory->most - memory->size) {
        errno = EFBIG;
        return 0;
    }
    if (memory->size + size > memory->capacity && !grow(memory, memory->size + size))
        return 0;
    memcpy(memory->data + memory->size, data, size);
    memory->size += size;
    return (ssize_t)size;
}

FILE *hp_memory_stream_open(struct hp_memory_stream *memory, size_t most) {
    *memory = (struct hp_memory_stream){.most = most};
    return fopencookie(memory, "w", (cookie_io_functions_t){.write = add});
}
