#include "heapprof/base/no_malloc.h"

#ifdef HP_TEST_NO_MALLOC

#include <stdlib.h>

#include "heapprof/base/log.h"

static __thread int forbidden __attribute__((tls_model("initial-exec")));

void hp_no_malloc_begin(void) {
    forbidden++;
}

void hp_no_malloc_end(void) {
    forbidden--;
}

void hp_no_malloc_check(void) {
    if (forbidden > 0) {
        hp_log(HP_LOG_ERROR, "malloc on the dump path");
        abort();
    }
}

#else

typedef int hp_no_malloc_is_empty; /* ISO C wants a translation unit to declare something */

#endif
