/*
 * Connections and the worker threads that serve them. One thread, the load's, takes idle connections, writes
 * a request into them and submits them; a worker answers and the connection is idle again.
 */
#ifndef EDGE_SERVER_H
#define EDGE_SERVER_H

#include "handlers.h"

#include <sys/queue.h>

enum { SERVER_MAX_THREADS = 64, SERVER_CONNECTIONS = 64, CONNECTION_BUFFER = 8192 };

struct connection {
    STAILQ_ENTRY(connection) link; /* in one of the server's queues */
    unsigned number;
    char *input, *output; /* CONNECTION_BUFFER bytes each; owned */
    size_t input_length, output_length;
};

STAILQ_HEAD(connection_list, connection);

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct connection_list list;
    bool closed;
};

struct server {
    struct service *service;
    struct connection connections[SERVER_CONNECTIONS];
    struct queue idle, waiting;
    pthread_t threads[SERVER_MAX_THREADS];
    unsigned thread_count;
};

/* Starts at most SERVER_MAX_THREADS workers. The service must outlive the server. False: out of memory or
 * threads; server_stop() cleans up in this case too. */
bool server_start(struct server *server, struct service *service, unsigned threads);

/* An idle connection; waits for one. */
struct connection *server_take(struct server *server);

/* Hands a connection with a request in `input` to the workers. */
void server_submit(struct server *server, struct connection *connection);

/* Lets the workers finish what was submitted, ends them and frees the connections. */
void server_stop(struct server *server);

#endif
