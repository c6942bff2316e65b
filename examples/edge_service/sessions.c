#include "sessions.h"

#include "render.h"

#include <stdio.h>
#include <stdlib.h>

struct session {
    struct table_node node;
    TAILQ_ENTRY(session) order;
    char id[SESSION_ID_SIZE];
    char recent[SESSION_RECENT][SESSION_PATH_SIZE]; /* a ring of the last paths */
    size_t visits;
    char *preferences; /* JSON; owned */
    size_t preferences_size;
};

void sessions_init(struct sessions *sessions, size_t max_count, uint64_t seed) {
    *sessions =
        (struct sessions){.by_id = {.account = ACCOUNT_SESSIONS}, .max_count = max_count, .random = seed};
    pthread_mutex_init(&sessions->lock, NULL);
    TAILQ_INIT(&sessions->order);
}

static void session_end(struct sessions *sessions, struct session *session) {
    table_remove(&sessions->by_id, &session->node);
    TAILQ_REMOVE(&sessions->order, session, order);
    account_remove(ACCOUNT_SESSIONS, sizeof(*session) + session->preferences_size);
    free(session->preferences);
    free(session);
}

void sessions_fini(struct sessions *sessions) {
    struct session *session;
    while ((session = TAILQ_FIRST(&sessions->order)))
        session_end(sessions, session);
    table_fini(&sessions->by_id, NULL);
    pthread_mutex_destroy(&sessions->lock);
}

/* Loads the user's preferences, as a document of the user store would hold them. */
static char *preferences_load(struct slice user, size_t *size) {
    struct text document = {0};
    render_preferences(&document, user);
    char *copy = document.failed ? NULL : malloc(document.length);
    if (copy)
        memcpy(copy, document.at, document.length);
    *size = document.length;
    text_fini(&document);
    return copy;
}

static struct session *session_new(struct slice user) {
    struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->preferences = preferences_load(user, &session->preferences_size);
    if (!session->preferences) {
        free(session);
        return NULL;
    }
    return session;
}

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Names the session and puts it in the store; the lock is held. */
static bool session_insert(struct sessions *sessions, struct session *session) {
    unsigned long long high = next_random(&sessions->random), low = next_random(&sessions->random);
    snprintf(session->id, sizeof session->id, "%016llx%016llx", high, low);
    if (!table_insert(&sessions->by_id, &session->node, table_hash(0, session->id, SESSION_ID_SIZE - 1)))
        return false;
    TAILQ_INSERT_HEAD(&sessions->order, session, order);
    account_add(ACCOUNT_SESSIONS, sizeof(*session) + session->preferences_size);
    if (sessions->by_id.count > sessions->max_count)
        session_end(sessions, TAILQ_LAST(&sessions->order, session_order));
    return true;
}

bool session_create(struct sessions *sessions, struct slice user, char id[SESSION_ID_SIZE]) {
    struct session *session = session_new(user);
    if (!session)
        return false;
    pthread_mutex_lock(&sessions->lock);
    bool kept = session_insert(sessions, session);
    if (kept)
        memcpy(id, session->id, SESSION_ID_SIZE);
    pthread_mutex_unlock(&sessions->lock);
    if (!kept) {
        free(session->preferences);
        free(session);
    }
    return kept;
}

static struct session *find(const struct sessions *sessions, struct slice id) {
    struct table_node *node = table_find(&sessions->by_id, table_hash(0, id.at, id.length));
    while (node && !slice_equal(slice_of(((struct session *)node)->id), id))
        node = table_find_next(node);
    return (struct session *)node;
}

static void write_recent(const struct session *session, struct text *out) {
    size_t count = session->visits < SESSION_RECENT ? session->visits : SESSION_RECENT;
    text_put(out, slice_of("["));
    for (size_t i = 1; i <= count; i++) {
        text_put(out, slice_of(i > 1 ? "," : ""));
        render_json_string(out, slice_of(session->recent[(session->visits - i) % SESSION_RECENT]));
    }
    text_put(out, slice_of("]"));
}

bool session_visit(struct sessions *sessions, struct slice id, struct slice path, struct text *out) {
    pthread_mutex_lock(&sessions->lock);
    struct session *session = find(sessions, id);
    if (session) {
        TAILQ_REMOVE(&sessions->order, session, order);
        TAILQ_INSERT_HEAD(&sessions->order, session, order);
        char *slot = session->recent[session->visits++ % SESSION_RECENT];
        snprintf(slot, SESSION_PATH_SIZE, "%.*s", (int)path.length, path.at);
        write_recent(session, out);
    }
    pthread_mutex_unlock(&sessions->lock);
    return session != NULL;
}
