/* A gzip stream into an output. */
#ifndef HP_TOOLS_GZIP_WRITER_H
#define HP_TOOLS_GZIP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "tools/base/error.h"
#include "tools/base/output_file.h"

struct hp_gzip_writer {
    z_stream stream;
    struct hp_output *output;
    struct hp_error *error; /* of the first failure; what is written after one is dropped */
    bool failed;
    size_t waiting; /* bytes in `plain`: zlib is slow at a few bytes a time */
    uint8_t plain[64 * 1024], packed[64 * 1024];
};

/* Begins the stream; `output` and `error` are the caller's and stay until the end. */
void hp_gzip_writer_begin(struct hp_gzip_writer *writer, struct hp_output *output, struct hp_error *error);

void hp_gzip_writer_put(struct hp_gzip_writer *writer, const void *data, size_t size);

/* Ends the stream, which is needed whatever happened. False: `error` is set. The output stays open. */
bool hp_gzip_writer_end(struct hp_gzip_writer *writer);

#endif
