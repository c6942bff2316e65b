/*
 * The public functions from a linked program, one after the other. Ends with 0 when each does what heapprof.h says;
 * writes the dumps DIR/path.pb.gz and DIR/fd.pb.gz for api.sh to read.
 *
 *   api DIR
 */
#include <heapprof/heapprof.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "api.c:%d: %s (errno %d)\n", __LINE__, #condition, errno);                       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

enum { BLOCKS = 60, MIB = 1 << 20 };

static void *cache[BLOCKS];
static volatile unsigned callbacks;
static char source_in_callback[256];

static void *volatile latest; /* no tail calls: the sites' names must be on the stack */

__attribute__((noinline)) static void *seen_site(size_t bytes) {
    latest = malloc(bytes);
    return latest;
}

__attribute__((noinline)) static void *paused_site(size_t bytes) {
    latest = malloc(bytes);
    return latest;
}

static void drop_cache(const struct heapprof_memory *memory, uint64_t threshold, void *context) {
    CHECK(threshold > 0 && threshold <= memory->limit && context == cache); /* it may be foreseen: usage is below */
    memcpy(source_in_callback, memory->source, sizeof source_in_callback);
    for (int i = 0; i < BLOCKS; i++) {
        free(cache[i]);
        cache[i] = NULL;
    }
    callbacks++;
}

static void pause_leaves_a_thread_out(void) {
    void *volatile kept[3];
    kept[0] = seen_site(1000);
    heapprof_resume(); /* one too many: nothing */
    heapprof_pause();
    heapprof_pause();
    kept[1] = paused_site(2000);
    free(kept[0]); /* still counts */
    heapprof_resume();
    kept[1] = paused_site(2000);
    heapprof_resume();
    kept[2] = seen_site(3000);
    (void)kept[2];
}

static void pressure_frees_memory(void) {
    static void *more[BLOCKS];
    struct heapprof_memory before;
    struct heapprof_memory after;
    CHECK(heapprof_on_pressure(drop_cache, cache) == 0);
    heapprof_set_limit(100 * (uint64_t)MIB);
    for (int i = 0; i < BLOCKS; i++) {
        cache[i] = malloc(MIB);
        memset(cache[i], 1, MIB);
        usleep(5000); /* faster growth is foreseen to pass the limit while a dump is written */
    }
    CHECK(callbacks == 0);
    CHECK(heapprof_read_memory(&before));
    CHECK(before.limit == 100 * (uint64_t)MIB && before.usage >= 60 * (uint64_t)MIB);
    for (int i = 0; i < BLOCKS && callbacks == 0; i++) {
        more[i] = malloc(MIB);
        memset(more[i], 1, MIB);
        usleep(20000);
    }
    for (int i = 0; i < 100 && callbacks == 0; i++) {
        usleep(20000);
    }
    CHECK(callbacks > 0);
    usleep(300000);
    CHECK(heapprof_read_memory(&after));
    CHECK(after.usage + 50 * (uint64_t)MIB < before.usage + 25 * (uint64_t)MIB); /* the cache is gone, for good */
    CHECK(strcmp(source_in_callback, after.source) == 0);
    for (int i = 0; i < BLOCKS; i++) {
        free(more[i]);
    }
}

int main(int argc, char **argv) {
    char path[4096];
    CHECK(argc == 2);
    CHECK(strcmp(heapprof_version(), API_VERSION) == 0);
    CHECK(heapprof_is_active());
    pause_leaves_a_thread_out();

    snprintf(path, sizeof path, "%s/path.pb.gz", argv[1]);
    CHECK(heapprof_dump(path) == 0);
    CHECK(heapprof_dump("/proc/nowhere/x.pb.gz") == ENOENT);
    snprintf(path, sizeof path, "%s/fd.pb.gz", argv[1]);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && heapprof_dump_fd(fd) == 0 && close(fd) == 0);
    CHECK(heapprof_dump_fd(-1) == EBADF);

    pressure_frees_memory();
    for (int i = 1; i < 8; i++) {
        CHECK(heapprof_on_pressure(drop_cache, cache) == 0);
    }
    CHECK(heapprof_on_pressure(drop_cache, cache) == ENOSPC);
    return 0;
}
