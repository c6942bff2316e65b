/* A stream into memory that ends at a bound: what a hostile profile makes of itself must not fill the
 * machine. */
#ifndef HP_TOOLS_MEMORY_STREAM_H
#define HP_TOOLS_MEMORY_STREAM_H

#include <stddef.h>
#include <stdio.h>

struct hp_memory_stream {
    char *data; /* malloc'ed; not terminated; the caller frees it once the stream is closed */
    size_t size, capacity, most;
};

/*
 * A stream that adds to `memory`, which must outlive it, at most `most` bytes: a write beyond fails, and
 * ferror tells. The caller closes it. NULL without memory.
 */
FILE *hp_memory_stream_open(struct hp_memory_stream *memory, size_t most);

#endif
