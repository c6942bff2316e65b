/* The service behind the wire: answers one request. */
#ifndef EDGE_HANDLERS_H
#define EDGE_HANDLERS_H

#include "cache.h"
#include "metrics.h"
#include "sessions.h"

struct service {
    struct metrics metrics;
    struct cache cache;
    struct sessions sessions;
};

/*
 * Reads the request in `input`, writes the response to `output` and counts it. Always writes a response;
 * gives its bytes. Safe from any thread.
 */
size_t handle_request(struct service *service, struct slice input, char *output, size_t capacity);

#endif
