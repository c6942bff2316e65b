#include "metrics.h"

#include "labelset.h"

#include <stdio.h>

enum { EXPORT_BYTES = 4096 };

void metrics_init(struct metrics *metrics, bool recording, bool exporting) {
    *metrics = (struct metrics){
        .series = {.account = ACCOUNT_METRICS}, .recording = recording, .exporting = exporting};
    pthread_mutex_init(&metrics->lock, NULL);
}

void metrics_fini(struct metrics *metrics) {
    labelset_clear(&metrics->series);
    pthread_mutex_destroy(&metrics->lock);
}

static void series_add(struct label_set *set, double seconds) {
    int bucket = 0;
    for (double bound = 1e-6; bucket < SERIES_BUCKETS - 1 && seconds > bound; bound *= 2)
        bucket++;
    set->buckets[bucket]++;
    set->count++;
    set->seconds += seconds;
}

__attribute__((noinline)) void metrics_observe(struct metrics *metrics, const struct metrics_event *event) {
    if (!metrics->recording)
        return;
    char status[16];
    snprintf(status, sizeof status, "%d", event->status);
    const struct label labels[] = {
        {"method", event->method},
        {"route", slice_of(event->route)},
        {"path", event->path},
        {"status", slice_of(status)},
        {"cache", slice_of(event->cached ? "hit" : "miss")},
        {"client", event->client},
        {"trace", event->trace},
        {"agent", event->agent},
    };
    pthread_mutex_lock(&metrics->lock);
    struct label_set *set = labelset_intern(&metrics->series, labels, sizeof labels / sizeof labels[0]);
    if (set)
        series_add(set, event->seconds);
    pthread_mutex_unlock(&metrics->lock);
}

static void export_series(const struct label_set *set, struct text *out) {
    text_put(out, slice_of("edge_requests_total{"));
    for (size_t i = 0; i < set->label_count; i++) {
        text_printf(out, "%s%s=\"", i ? "," : "", set->labels[i].name);
        text_put(out, set->labels[i].value);
        text_put(out, slice_of("\""));
    }
    text_printf(out, "} %llu\n", (unsigned long long)set->count);
}

bool metrics_export(struct metrics *metrics, struct text *out) {
    if (!metrics->exporting)
        return false;
    pthread_mutex_lock(&metrics->lock);
    text_printf(out, "edge_series %zu\n", metrics->series.count);
    for (size_t i = 0; i < metrics->series.slot_count && out->length < EXPORT_BYTES; i++) {
        if (metrics->series.slots[i])
            export_series((const struct label_set *)metrics->series.slots[i], out);
    }
    pthread_mutex_unlock(&metrics->lock);
    return true;
}
