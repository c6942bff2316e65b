/* Prints what jemalloc was configured to: "narenas N dirty_decay_ms N". */
#include "check.h"
#include "weak_api.h"

int main(void) {
    unsigned arenas = 0;
    size_t length = sizeof arenas;
    CHECK(mallctl("opt.narenas", &arenas, &length, NULL, 0) == 0);
    long decay = 0;
    length = sizeof decay;
    CHECK(mallctl("opt.dirty_decay_ms", &decay, &length, NULL, 0) == 0);
    free(malloc(1000));
    printf("narenas %u dirty_decay_ms %ld\n", arenas, decay);
    return 0;
}
