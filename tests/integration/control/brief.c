/* brief KILOBYTES: allocates so much, waits for a socket of its own, and returns from main. */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
    CHECK(argc == 2);
    char path[4096];
    struct stat st;
    for (int i = 0; i < atoi(argv[1]); i++) {
        CHECK(memset(malloc(1024), 1, 1024) != NULL);
    }
    snprintf(path, sizeof path, "%s/heapprof-%u/%d.sock", getenv("XDG_RUNTIME_DIR"), geteuid(),
             (int)getpid());
    for (int i = 0; i < 1000; i++) {
        struct timespec ts = {.tv_nsec = 10000000};
        CHECK(memset(malloc(1024), 1, 1024) != NULL);
        if (stat(path, &st) == 0) {
            return 0;
        }
        nanosleep(&ts, NULL);
    }
    return 1;
}
