/*
 * What live samples cost in memory: holds the given amount in objects of 64 bytes and prints the anonymous resident
 * memory of the process in KiB.
 *
 *   live_heap MIB
 */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 64 };

int main(int argc, char **argv) {
    size_t count = ((size_t)(argc > 1 ? atoi(argv[1]) : 100) << 20) / SIZE;
    void **last = NULL;
    for (size_t i = 0; i < count; i++) {
        void **object = malloc(SIZE);
        if (object == NULL) {
            return 1;
        }
        *object = (void *)last;
        last = object;
    }
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        long kib = 0;
        if (sscanf(line, "RssAnon: %ld", &kib) == 1) {
            printf("%ld\n", kib);
        }
    }
    return last == NULL;
}
