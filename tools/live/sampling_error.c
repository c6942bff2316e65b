#include "tools/live/sampling_error.h"

#include <math.h>

struct hp_sampling_error hp_sampling_error_of(const struct hp_profile *profile, size_t objects,
                                              size_t bytes) {
    double period = profile->period > 0 ? (double)profile->period : 1;
    double samples = 0, variance = 0, total = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        double size = fabs((double)profile->samples[i].values[bytes]);
        double count = fabs((double)profile->samples[i].values[objects]);
        if (size == 0)
            continue;
        /* Counts are whole numbers in the file: less than half an object is none. */
        double mean = count >= 1 ? size / count : size;
        double p = period > 1 ? -expm1(-(mean + 1) / period) : 1;
        samples += size / mean * p;
        variance += size * mean * (1 - p) / p;
        total += size;
    }
    return (struct hp_sampling_error){samples, total > 0 ? sqrt(variance) / total : 0};
}
