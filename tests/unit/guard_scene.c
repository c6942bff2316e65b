#include "tests/unit/guard_scene.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/sys.h"
#include "tests/unit/guard_tree.h"

struct guard_seen seen;

void set_usage(uint64_t mib) {
    guard_tree_number(LEAF "/memory.current", mib * MIB);
}

void sleep_ms(int64_t ms) {
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};
    (void)nanosleep(&ts, NULL);
}

static void host_begin(void) {
    seen.thread_id = hp_sys_gettid();
    seen.begun++;
}

static void host_pressure(const struct guard_crossing *crossing) {
    seen.pressures++;
    CHECK(crossing->threshold != 0);
    CHECK(hp_sys_gettid() != seen.thread_id);
    guard_check(100 * MIB); /* as its allocations do; leads nowhere */
    guard_out_of_memory(1);
    sleep_ms(seen.pressure_ms);
    if (seen.usage_after_pressure != 0) {
        set_usage(seen.usage_after_pressure);
    }
}

static void host_purge(void) {
    seen.purges++;
    sleep_ms(seen.purge_ms);
    if (seen.purge_refuses) {
        guard_out_of_memory(MIB);
        guard_check(100 * MIB);
    }
    if (seen.usage_after_purge != 0) {
        set_usage(seen.usage_after_purge);
    }
}

static bool host_dump(const struct guard_crossing *crossing) {
    sleep_ms(seen.dump_ms);
    errno = EIO; /* as any that went through files */
    if (seen.failing > 0) {
        seen.failing--;
        return false;
    }
    seen.dumping_thread = (long)pthread_self();
    seen.crossings[seen.dumps % DUMPS_MAX] = *crossing;
    seen.dumps++;
    return true;
}

static void host_requested(void) {
    seen.requests++;
    sleep_ms(seen.request_ms);
}

struct guard_host host = {.thread_begin = host_begin,
                          .pressure = host_pressure,
                          .purge = host_purge,
                          .dump = host_dump,
                          .requested = host_requested};
struct hp_options options;

void begin(void) {
    guard_tree_v2("a");
    guard_tree_write(LEAF "/memory.max", "134217728\n");
    guard_tree_write(LEAF "/memory.stat", "inactive_file 0\nactive_file 0\n");
    set_usage(20);
}

bool begins_at(uint64_t mib) {
    begin();
    set_usage(mib);
    guard_expect_pressure();
    return guard_init(&options, &host);
}

bool begins(void) {
    return begins_at(20);
}

bool comes(const _Atomic int *count, int wanted, int64_t ms) {
    int64_t deadline = hp_clock_ns() + ms * MS;
    while (*count < wanted && hp_clock_ns() < deadline) {
        sleep_ms(1);
    }
    return *count == wanted;
}

int64_t ms_of_check(uint64_t pending) {
    sleep_ms(1);
    int64_t start = hp_clock_ns();
    guard_check(pending);
    return (hp_clock_ns() - start) / MS;
}

void set(const char *variable, const char *text) {
    const char *complaint = NULL;
    CHECK(hp_options_set(&options, variable, text, &complaint) == 0);
}

void look_for(int64_t ms) {
    int64_t end = hp_clock_ns() + ms * MS;
    while (hp_clock_ns() < end) {
        guard_check(0);
        sleep_ms(1);
    }
}

int run(void (*scenario)(void)) {
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(60);
        hp_options_default(&options);
        scenario();
        _exit(0);
    }
    int status = -1;
    (void)waitpid(child, &status, 0);
    return status;
}

int set_up(void **state) {
    (void)state;
    guard_tree_make();
    return 0;
}

int tear_down(void **state) {
    (void)state;
    guard_tree_remove();
    return 0;
}
