/*
 * Writes a snapshot as a pprof profile.
 *
 * Each sample, location and mapping is packed by protobuf-c as a Profile message that holds it alone; a
 * protobuf parser merges concatenated messages, so the parts together are one Profile and nothing of the
 * whole is ever held in memory. What the file says, field by field, follows Go's heap profiles; see
 * profile.proto and docs/profile.md.
 */
#ifndef HP_PPROF_PROFILE_WRITER_H
#define HP_PPROF_PROFILE_WRITER_H

#include <stdint.h>

#include "heapprof/bookkeeping/snapshot.h"
#include "heapprof/pprof/gzip_stream.h"

/* What a profile says beside its samples. */
struct hp_profile_facts {
    int64_t time_ns;  /* since the Unix epoch */
    uint64_t period;  /* mean bytes between samples */
    const char *const *comments;
    uint32_t comment_count;
};

/* Writes the profile into `stream` between its begin and end. Allocates nothing; the stack it needs is below
 * 8 KiB. One writer at a time. Failures are the stream's. */
void hp_profile_write(struct hp_gzip *stream, struct hp_snapshot *snapshot, const struct hp_profile_facts *facts);

#endif
