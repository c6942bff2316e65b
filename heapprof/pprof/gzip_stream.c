#include "heapprof/pprof/gzip_stream.h"

#include <zlib.h>

#include "heapprof/base/arena.h"

/*
 * zlib's state for deflate with this window and memory level is (1 << (WINDOW + 2)) + (1 << (LEVEL + 9))
 * bytes and a few KiB (zconf.h). A profile's redundancy is near (addresses, small numbers), so the 32 KiB
 * window of the default buys next to nothing here.
 */
enum { WINDOW_BITS = 13, GZIP_WRAPPER = 16, MEMORY_LEVEL = 7, ZLIB_BYTES = 128 << 10, OUTPUT_BYTES = 16 << 10 };

struct hp_gzip {
    z_stream z;
    hp_gzip_output *output;
    void *context;
    bool failed;
    size_t staged;
    size_t zlib_used;
    uint8_t staging[HP_GZIP_STAGING];
    uint8_t compressed[OUTPUT_BYTES];
    uint8_t zlib_memory[ZLIB_BYTES] __attribute__((aligned(16)));
};

static void *take(void *opaque, unsigned items, unsigned size) {
    struct hp_gzip *s = opaque;
    size_t bytes = ((size_t)items * size + 15) & ~(size_t)15;
    if (bytes > sizeof s->zlib_memory - s->zlib_used) {
        return NULL;
    }
    void *taken = s->zlib_memory + s->zlib_used;
    s->zlib_used += bytes;
    return taken;
}

static void give_back(void *opaque, void *memory) {
    (void)opaque; /* the stream is reset, never ended */
    (void)memory;
}

struct hp_gzip *hp_gzip_prepare(void) {
    static struct hp_gzip *prepared;
    if (prepared != NULL) {
        hp_pages_touch(prepared, sizeof *prepared);
        return prepared;
    }
    struct hp_gzip *s = hp_pages_map_present(sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->z.zalloc = take;
    s->z.zfree = give_back;
    s->z.opaque = s;
    int level = Z_BEST_SPEED;
    if (deflateInit2(&s->z, level, Z_DEFLATED, WINDOW_BITS + GZIP_WRAPPER, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        return NULL;
    }
    prepared = s;
    return s;
}

void hp_gzip_begin(struct hp_gzip *stream, hp_gzip_output *output, void *context) {
    stream->output = output;
    stream->context = context;
    stream->staged = 0;
    stream->failed = deflateReset(&stream->z) != Z_OK;
}

/* Runs zlib until it has taken all input and, at the end, given all output. */
static void compress_staged(struct hp_gzip *s, int flush) {
    s->z.next_in = s->staging;
    s->z.avail_in = (unsigned)s->staged;
    s->staged = 0;
    int rc = Z_OK;
    do {
        s->z.next_out = s->compressed;
        s->z.avail_out = sizeof s->compressed;
        rc = deflate(&s->z, flush);
        size_t bytes = sizeof s->compressed - s->z.avail_out;
        s->failed = rc == Z_STREAM_ERROR || (bytes > 0 && s->output(s->context, s->compressed, bytes) != 0);
    } while (!s->failed && (s->z.avail_in > 0 || s->z.avail_out == 0 || (flush == Z_FINISH && rc != Z_STREAM_END)));
}

uint8_t *hp_gzip_room(struct hp_gzip *stream, size_t bytes) {
    if (stream->staged + bytes > sizeof stream->staging) {
        if (stream->failed) {
            stream->staged = 0; /* nothing of it will be seen */
        } else {
            compress_staged(stream, Z_NO_FLUSH);
        }
    }
    uint8_t *room = stream->staging + stream->staged;
    stream->staged += bytes;
    return room;
}

int hp_gzip_end(struct hp_gzip *stream) {
    if (!stream->failed) {
        compress_staged(stream, Z_FINISH);
    }
    return stream->failed ? -1 : 0;
}
