/*
 * The metrics registry: how often and how fast requests were answered, by their labels. Thread-safe.
 *
 * THE FAULT of this service lives here. Somebody once added the path with its id, the client and the trace
 * to the labels; the bill of the metrics store exploded, so exporting was switched off ("exporting" below).
 * Recording was not: every request still makes a label set, which nobody reads and nothing removes.
 */
#ifndef EDGE_METRICS_H
#define EDGE_METRICS_H

#include "table.h"
#include "text.h"

#include <pthread.h>

struct metrics {
    pthread_mutex_t lock;
    struct table series; /* struct label_set */
    bool recording;      /* off: metrics_observe() does nothing */
    bool exporting;      /* off: metrics_export() gives nothing; recording goes on */
};

struct metrics_event { /* one answered request */
    struct slice method, path, client, trace, agent;
    const char *route; /* "/articles/:id" */
    int status;
    bool cached;
    double seconds;
};

void metrics_init(struct metrics *metrics, bool recording, bool exporting);
void metrics_fini(struct metrics *metrics);

/* Counts the request in the series of its labels; dropped if memory is out. */
void metrics_observe(struct metrics *metrics, const struct metrics_event *event);

/* Writes some series as Prometheus text. False, and nothing written, when exporting is off. */
bool metrics_export(struct metrics *metrics, struct text *out);

#endif
