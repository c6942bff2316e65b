/*
 * A gzip stream whose memory is mapped and touched beforehand: writing one allocates nothing.
 */
#ifndef HP_PPROF_GZIP_STREAM_H
#define HP_PPROF_GZIP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes `bytes` of compressed data; returns 0, or -1 to give up the stream. */
typedef int hp_gzip_output(void *context, const void *data, size_t bytes);

/* The one stream; opaque. One writer at a time (the capture lock). */
struct hp_gzip;

/* Maps the stream's memory; later calls return the same, touched anew. NULL when there is none. */
struct hp_gzip *hp_gzip_prepare(void);

/* Begins a gzip file whose bytes go to `output`. */
void hp_gzip_begin(struct hp_gzip *stream, hp_gzip_output *output, void *context);

/* Room for `bytes` (at most HP_GZIP_STAGING) of plain data, to be filled by the caller before the next call.
 * What was in the room before is compressed first if it must be. */
uint8_t *hp_gzip_room(struct hp_gzip *stream, size_t bytes);

/* Ends the file. 0, or -1 when the output or zlib has failed at any time since begin. */
int hp_gzip_end(struct hp_gzip *stream);

enum { HP_GZIP_STAGING = 32 << 10 };

#endif
