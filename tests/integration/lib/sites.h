/*
 * Allocation sites that a test program counts itself.
 *
 * A site is a function in a section of its own, so that the program can tell where it begins and ends:
 *
 *     SITE_FUNCTION(leaky) void *leaky(size_t n) { void *p = malloc(n); site_add(&site_leaky, n); return p; }
 *
 * after SITE(leaky); in front. site_print_all() writes what has been counted, a line a site:
 *
 *     site NAME START END  alloc_objects alloc_bytes inuse_objects inuse_bytes  and the four's variances
 *
 * The variance is that of an estimate by sampling with mean distance R (bytes: SITES_PERIOD, else
 * HEAPPROF_SAMPLE): an object of s bytes is sampled with p = 1 - exp(-(s + 1) / R) and then counts 1/p times,
 * so an estimated sum of x has the variance x^2 (1 - p) / p for each object.
 */
#ifndef INTEGRATION_SITES_H
#define INTEGRATION_SITES_H

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct site {
    const char *name;
    const char *start;
    const char *end;
    double sum[4];
    double variance[4];
};

static struct site *all_sites[64];
static unsigned all_sites_count;
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef __cplusplus
#define SITE_LINKAGE extern "C"
#else
#define SITE_LINKAGE extern
#endif

#define SITE(site_name)                                                                                      \
    SITE_LINKAGE __attribute__((visibility("hidden"))) const char __start_code_##site_name[];                \
    SITE_LINKAGE __attribute__((visibility("hidden"))) const char __stop_code_##site_name[];                 \
    static struct site site_##site_name = {                                                                  \
        #site_name, __start_code_##site_name, __stop_code_##site_name, {0, 0, 0, 0}, {0, 0, 0, 0}};          \
    __attribute__((constructor)) static void register_site_##site_name(void) {                               \
        all_sites[all_sites_count++] = &site_##site_name;                                                    \
    }                                                                                                        \
    struct site_needs_semicolon

#define SITE_FUNCTION(site_name) static __attribute__((noinline, section("code_" #site_name)))

static inline double site_period(void) {
    const char *text = getenv("SITES_PERIOD");
    text = text == NULL ? getenv("HEAPPROF_SAMPLE") : text;
    return text == NULL ? 1 : strtod(text, NULL);
}

/* Counts `objects` (1 or -1, or 0 for a change of size) of `bytes`; `asked` is what was allocated. */
static inline void site_count(struct site *site, double objects, double bytes, double asked, int first) {
    static double period;
    pthread_mutex_lock(&sites_lock);
    period = period == 0 ? site_period() : period;
    double p = period <= 1 ? 1 : -expm1(-(asked + 1) / period);
    double sign = objects < 0 || bytes < 0 ? -1 : 1;
    for (int i = first; i < 4; i += 2) {
        site->sum[i] += objects;
        site->sum[i + 1] += bytes;
        site->variance[i] += objects * (1 - p) / p;
        site->variance[i + 1] += sign * bytes * bytes * (1 - p) / p;
    }
    pthread_mutex_unlock(&sites_lock);
}

static inline void site_add(struct site *site, size_t bytes) {
    site_count(site, 1, (double)bytes, (double)bytes, 0);
}

static inline void site_remove(struct site *site, size_t bytes) {
    site_count(site, -1, -(double)bytes, (double)bytes, 2);
}

static inline void site_print_all(FILE *file) {
    for (unsigned i = 0; i < all_sites_count; i++) {
        const struct site *s = all_sites[i];
        fprintf(file, "site %s %lx %lx", s->name, (unsigned long)(uintptr_t)s->start,
                (unsigned long)(uintptr_t)s->end);
        for (int k = 0; k < 4; k++) {
            fprintf(file, " %.0f", s->sum[k]);
        }
        for (int k = 0; k < 4; k++) {
            fprintf(file, " %.6g", s->variance[k]);
        }
        fputc('\n', file);
    }
}

#endif
