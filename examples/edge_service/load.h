/*
 * The internal load: simulated clients, one a connection, that log in, read a few pages with the cookie they
 * were given, and make room for the next client. The same seed gives the same requests. One thread uses it.
 */
#ifndef EDGE_LOAD_H
#define EDGE_LOAD_H

#include "slice.h"

#include <stdint.h>

enum { LOAD_CLIENTS = 64, LOAD_COOKIE_SIZE = 40 };

struct load_client {
    uint32_t number;
    unsigned requests_left;
    char cookie[LOAD_COOKIE_SIZE]; /* empty before the login was answered */
};

struct load {
    uint64_t random;
    uint64_t requests; /* made so far */
    uint32_t clients_seen;
    struct load_client clients[LOAD_CLIENTS];
};

void load_init(struct load *load, uint64_t seed);

/*
 * The next request of the client on connection `connection` (below LOAD_CLIENTS), who has just been given
 * `response` (empty at first). Writes its text to `out`; gives its bytes.
 */
size_t load_next(struct load *load, unsigned connection, struct slice response, char *out, size_t capacity);

#endif
