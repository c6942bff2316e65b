#include "server.h"

#include <stdlib.h>

static void queue_init(struct queue *queue) {
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    STAILQ_INIT(&queue->list);
    queue->closed = false;
}

static void queue_fini(struct queue *queue) {
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

static void queue_push(struct queue *queue, struct connection *connection) {
    pthread_mutex_lock(&queue->lock);
    STAILQ_INSERT_TAIL(&queue->list, connection, link);
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* Waits for a connection; NULL once the queue is closed and empty. */
static struct connection *queue_pop(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (STAILQ_EMPTY(&queue->list) && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->lock);
    struct connection *connection = STAILQ_FIRST(&queue->list);
    if (connection)
        STAILQ_REMOVE_HEAD(&queue->list, link);
    pthread_mutex_unlock(&queue->lock);
    return connection;
}

static void queue_close(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static bool connection_open(struct connection *connection, unsigned number) {
    connection->number = number;
    connection->input = malloc(CONNECTION_BUFFER);
    connection->output = malloc(CONNECTION_BUFFER);
    if (!connection->input || !connection->output) {
        free(connection->input);
        free(connection->output);
        connection->input = connection->output = NULL;
        return false;
    }
    account_add(ACCOUNT_CONNECTIONS, 2 * CONNECTION_BUFFER);
    return true;
}

static void connection_close(struct connection *connection) {
    if (!connection->input)
        return;
    account_remove(ACCOUNT_CONNECTIONS, 2 * CONNECTION_BUFFER);
    free(connection->input);
    free(connection->output);
}

__attribute__((noinline)) static void *worker_loop(void *argument) {
    struct server *server = argument;
    struct connection *connection;
    while ((connection = queue_pop(&server->waiting))) {
        struct slice input = {connection->input, connection->input_length};
        connection->output_length =
            handle_request(server->service, input, connection->output, CONNECTION_BUFFER);
        queue_push(&server->idle, connection);
    }
    return NULL;
}

bool server_start(struct server *server, struct service *service, unsigned threads) {
    *server = (struct server){.service = service};
    queue_init(&server->idle);
    queue_init(&server->waiting);
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        if (!connection_open(&server->connections[i], i))
            return false;
        queue_push(&server->idle, &server->connections[i]);
    }
    while (server->thread_count < threads) {
        if (pthread_create(&server->threads[server->thread_count], NULL, worker_loop, server) != 0)
            return false;
        server->thread_count++;
    }
    return true;
}

struct connection *server_take(struct server *server) {
    return queue_pop(&server->idle);
}

void server_submit(struct server *server, struct connection *connection) {
    queue_push(&server->waiting, connection);
}

void server_stop(struct server *server) {
    queue_close(&server->waiting);
    for (unsigned i = 0; i < server->thread_count; i++)
        pthread_join(server->threads[i], NULL);
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++)
        connection_close(&server->connections[i]);
    queue_fini(&server->idle);
    queue_fini(&server->waiting);
}
