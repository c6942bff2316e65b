#include "tools/base/gzip_writer.h"

#include <string.h>

/*
 * Level 1 as Go's own profiles have it: a profile is a row of small numbers that repeat, which the higher
 * levels hardly make smaller, and compressing is most of the time that writing one takes.
 */
enum { LEVEL = 1, WINDOW_OF_GZIP = 15 + 16, MEMORY_LEVEL = 8 };

void hp_gzip_writer_begin(struct hp_gzip_writer *writer, struct hp_output *output, struct hp_error *error) {
    writer->stream = (z_stream){0};
    writer->output = output;
    writer->error = error;
    writer->waiting = 0;
    writer->failed = deflateInit2(&writer->stream, LEVEL, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY_LEVEL,
                                  Z_DEFAULT_STRATEGY) != Z_OK;
    if (writer->failed)
        hp_error_set(error, "there is no memory to compress it");
}

/* Compresses what waits and writes what comes out. */
static void run(struct hp_gzip_writer *writer, int flush) {
    z_stream *stream = &writer->stream;
    stream->next_in = writer->plain;
    stream->avail_in = (uInt)writer->waiting;
    do {
        stream->next_out = writer->packed;
        stream->avail_out = sizeof writer->packed;
        deflate(stream, flush);
        size_t size = sizeof writer->packed - stream->avail_out;
        writer->failed = !hp_output_write(writer->output, writer->packed, size, writer->error);
    } while (!writer->failed && stream->avail_out == 0);
    writer->waiting = 0;
}

void hp_gzip_writer_put(struct hp_gzip_writer *writer, const void *data, size_t size) {
    const uint8_t *at = data;
    while (size > 0 && !writer->failed) {
        size_t room = sizeof writer->plain - writer->waiting, part = size < room ? size : room;
        memcpy(writer->plain + writer->waiting, at, part);
        writer->waiting += part;
        if (part == room)
            run(writer, Z_NO_FLUSH);
        at += part;
        size -= part;
    }
}

bool hp_gzip_writer_end(struct hp_gzip_writer *writer) {
    if (!writer->failed)
        run(writer, Z_FINISH);
    deflateEnd(&writer->stream);
    return !writer->failed;
}
