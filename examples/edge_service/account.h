/*
 * The service's own, exact book of live heap bytes: each part enters what it asked malloc for and strikes
 * out what it frees. It allocates nothing and may be used from any thread.
 */
#ifndef EDGE_ACCOUNT_H
#define EDGE_ACCOUNT_H

#include <stddef.h>
#include <stdio.h>

enum account {
    ACCOUNT_METRICS,
    ACCOUNT_CACHE,
    ACCOUNT_SESSIONS,
    ACCOUNT_CONNECTIONS,
    ACCOUNT_SCRATCH, /* responses being written */
    ACCOUNT_COUNT
};

void account_add(enum account account, size_t bytes);
void account_remove(enum account account, size_t bytes);

/* The live bytes of all accounts together. */
size_t account_total(void);

/* One line: "exact: total=BYTES metrics=BYTES cache=BYTES … metrics_share=66.0%". */
void account_print(FILE *out);

#endif
