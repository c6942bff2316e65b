/*
 * A baseline, not ours: what services do today. Preloaded with jemalloc (prof:true), its thread looks at the
 * cgroup's usage each 100 ms and calls prof.dump once at 80, 90 and 95 % of the limit.
 *
 * SURVIVAL_SHARED is the file that the witness keeps the usage in (survival.h), no older than what reading
 * the cgroup's own file would give; SURVIVAL_PREFIX is where dumps go. A forked child gets a poller of its
 * own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "survival.h"

int mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t new_bytes);

static const unsigned percents[] = {80, 90, 95};
enum { PERCENTS = sizeof percents / sizeof percents[0] };

static const struct survival_shared *map_shared(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *shared = mmap(NULL, sizeof(struct survival_shared), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return shared == MAP_FAILED ? NULL : shared;
}

static void *poll_usage(void *unused) {
    char path[4096];
    const char *prefix = getenv("SURVIVAL_PREFIX");
    const struct survival_shared *shared = map_shared(getenv("SURVIVAL_SHARED"));
    unsigned next = 0;
    while (shared != NULL && next < PERCENTS) {
        unsigned reached = next;
        uint64_t now = atomic_load(&shared->usage);
        while (reached < PERCENTS && now >= atomic_load(&shared->limit) / 100 * percents[reached]) {
            reached++;
        }
        if (reached > next) {
            const char *name = path;
            next = reached;
            snprintf(path, sizeof path, "%s.%d.%u.heap", prefix, (int)getpid(), next);
            mallctl("prof.dump", NULL, NULL, &name, sizeof name);
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return unused;
}

static void start(void) {
    pthread_t thread;
    if (getenv("SURVIVAL_SHARED") != NULL && pthread_create(&thread, NULL, poll_usage, NULL) == 0) {
        pthread_detach(thread);
    }
}

__attribute__((constructor)) static void init(void) {
    start();
    pthread_atfork(NULL, NULL, start);
}
