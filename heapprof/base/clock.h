/* Time, without a lock and without an allocation. */
#ifndef HP_BASE_CLOCK_H
#define HP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds on a clock that never jumps; only differences mean anything. */
static inline int64_t hp_clock_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Nanoseconds since the Unix epoch. */
static inline int64_t hp_clock_wall_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#endif
