/* A process that does nothing: what its start costs is measured from outside. With an argument it says how
 * many threads it has. */
#include "bench.h"

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        printf("threads=%ld\n", bench_procfs("/proc/self/status", "\nThreads:"));
    }
    return 0;
}
