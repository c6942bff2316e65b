#include "account.h"

#include <stdatomic.h>

static const char *const names[ACCOUNT_COUNT] = {"metrics", "cache", "sessions", "connections", "scratch"};
static atomic_size_t live[ACCOUNT_COUNT];

void account_add(enum account account, size_t bytes) {
    atomic_fetch_add_explicit(&live[account], bytes, memory_order_relaxed);
}

void account_remove(enum account account, size_t bytes) {
    atomic_fetch_sub_explicit(&live[account], bytes, memory_order_relaxed);
}

size_t account_total(void) {
    size_t total = 0;
    for (int i = 0; i < ACCOUNT_COUNT; i++)
        total += atomic_load_explicit(&live[i], memory_order_relaxed);
    return total;
}

void account_print(FILE *out) {
    size_t bytes[ACCOUNT_COUNT];
    size_t total = 0;
    for (int i = 0; i < ACCOUNT_COUNT; i++) {
        bytes[i] = atomic_load_explicit(&live[i], memory_order_relaxed);
        total += bytes[i];
    }
    char line[256];
    int length = snprintf(line, sizeof line, "exact: total=%zu", total);
    for (int i = 0; i < ACCOUNT_COUNT; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %s=%zu", names[i], bytes[i]);
    double share = total > 0 ? 100.0 * (double)bytes[ACCOUNT_METRICS] / (double)total : 0;
    fprintf(out, "%s metrics_share=%.1f%%\n", line, share);
}
