/*
 * The session store: who is logged in, at most `max_count` of them; the one idle for longest goes first.
 * Thread-safe.
 */
#ifndef EDGE_SESSIONS_H
#define EDGE_SESSIONS_H

#include "table.h"
#include "text.h"

#include <pthread.h>
#include <sys/queue.h>

enum { SESSION_ID_SIZE = 33, SESSION_RECENT = 16, SESSION_PATH_SIZE = 64 };

struct session;
TAILQ_HEAD(session_order, session);

struct sessions {
    pthread_mutex_t lock;
    struct table by_id;
    struct session_order order; /* most recently used first */
    size_t max_count;
    uint64_t random;
};

void sessions_init(struct sessions *sessions, size_t max_count, uint64_t seed);
void sessions_fini(struct sessions *sessions);

/* Logs a user in: a new session, whose id is written to `id`. False: out of memory. */
bool session_create(struct sessions *sessions, struct slice user, char id[SESSION_ID_SIZE]);

/* Notes that the session visited `path` and appends its visits to `out` as a JSON array, newest first. False:
 * no such session. */
bool session_visit(struct sessions *sessions, struct slice id, struct slice path, struct text *out);

#endif
