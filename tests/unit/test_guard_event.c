/* guard/event: the kernel's events wake the guard, in cgroups made for it; skipped where none can be made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard/event.h"
#include "guard/thread.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/sys.h"

#define MIB (UINT64_C(1) << 20)
#define MS INT64_C(1000000)

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

enum { SKIPPED = 77 };

static char group[512];
static struct guard_watch watch;
static _Atomic uint32_t wakes;
static _Atomic int turns;      /* of the listening thread */
static _Atomic int64_t sleeps; /* how long it asks for, ns */
static _Atomic uint32_t generation;
static _Atomic int handled; /* signals that a handler of the application has seen */

static void sleep_ms(int64_t ms) {
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};
    (void)nanosleep(&ts, NULL);
}

static bool comes(int wanted, int64_t ms) {
    int64_t deadline = hp_clock_ns() + ms * MS;
    while (turns < wanted && hp_clock_ns() < deadline) {
        sleep_ms(1);
    }
    return turns >= wanted;
}

/* The guard's thread in short. */
static void *listener(void *unused) {
    (void)unused;
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (!guard_thread_leave_descriptors()) {
        _exit(SKIPPED);
    }
    guard_event_begin();
    for (;;) {
        uint32_t seen = atomic_load(&wakes);
        watch.generation = generation;
        guard_event_follow(&watch);
        turns++;
        guard_event_sleep(&wakes, seen, sleeps);
    }
    return NULL;
}

static void listen_for(int64_t sleep_ns) {
    pthread_t thread;
    sleeps = sleep_ns;
    generation = 1;
    CHECK(pthread_create(&thread, NULL, listener, NULL) == 0);
    CHECK(comes(1, 10000));
    sleep_ms(50);
    CHECK(turns == 1);
}

static void wake(void) {
    atomic_fetch_add(&wakes, 1);
    guard_event_wake(&wakes);
}

static void write_file(const char *file, const char *text) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", group, file);
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static void watch_group(enum guard_pair_kind kind, uint64_t threshold) {
    struct guard_cgroup *cgroup = &watch.limits.cgroup;
    CHECK(strlen(group) < sizeof cgroup->path);
    (void)strcpy(cgroup->path, group);
    cgroup->version = kind == GUARD_PAIR_V1 ? 1 : 2;
    cgroup->levels = 1;
    cgroup->length[0] = (uint16_t)strlen(group);
    watch.at[0].pair = (struct guard_pair){.kind = kind, .limit = threshold};
    watch.at[0].policy =
        (struct guard_policy){.limit = threshold, .kills = true, .count = 1, .at = {threshold}};
    watch.count = 1;
}

/* A neighbour in the group that touches `mib` and stays. */
static pid_t start_neighbour(uint64_t mib) {
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        char pid[16];
        (void)snprintf(pid, sizeof pid, "%d", getpid());
        write_file("cgroup.procs", pid);
        char *pages = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (uint64_t i = 0; pages != MAP_FAILED && i < mib * MIB; i += 4096) {
            pages[i] = 1;
        }
        (void)pause();
    }
    return child;
}

static void stop_neighbour(pid_t child) {
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
}

static void on_signal(int number) {
    (void)number;
    handled++;
}

static void v1_thresholds_wake(void) {
    watch_group(GUARD_PAIR_V1, 32 * MIB);
    listen_for(30000 * MS);
    stop_neighbour(start_neighbour(8));
    sleep_ms(100);
    CHECK(turns == 1);
    pid_t child = start_neighbour(64);
    CHECK(comes(2, 15000)); /* on the way up */
    sleep_ms(100);
    int before = turns;
    stop_neighbour(child);
    CHECK(comes(before + 1, 15000)); /* and down */
    sleep_ms(100);
    before = turns;
    watch.at[0].policy.at[0] = 16 * MIB; /* another limit: followed at the next turn */
    generation = 2;
    wake();
    CHECK(comes(before + 1, 15000));
    sleep_ms(50);
    before = turns;
    child = start_neighbour(24);
    CHECK(comes(before + 1, 15000));
    stop_neighbour(child);
}

static void wakes_reach_a_thread_that_polls(void) {
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGURG, &action, NULL) == 0);
    watch_group(GUARD_PAIR_V1, 32 * MIB);
    listen_for(30000 * MS);
    for (int i = 1; i <= 200; i++) {
        wake();
        CHECK(comes(1 + i, 15000));
    }
    CHECK(handled == 0);         /* the application's handler is never run by it, … */
    action.sa_handler = SIG_IGN; /* … nor needed */
    CHECK(sigaction(SIGURG, &action, NULL) == 0);
    sleep_ms(20);
    wake();
    CHECK(comes(202, 15000));
    sleeps = -1; /* for ever: by the futex */
    wake();
    CHECK(comes(203, 15000));
    sleep_ms(50);
    CHECK(turns == 203);
    wake();
    CHECK(comes(204, 15000));
}

/* A usage that swings about a threshold fires thousands of times. */
static void a_flood_of_events_is_held_back(void) {
    watch_group(GUARD_PAIR_V1, 8 * MIB);
    listen_for(30000 * MS);
    int64_t start = hp_clock_ns();
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        char pid[16];
        (void)snprintf(pid, sizeof pid, "%d", getpid());
        write_file("cgroup.procs", pid);
        char *pages = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (;;) {
            for (uint64_t i = 0; i < 16 * MIB; i += 4096) {
                pages[i] = 1;
            }
            (void)madvise(pages, 16 * MIB, MADV_DONTNEED);
        }
    }
    sleep_ms(1000);
    stop_neighbour(child);
    int64_t ms = (hp_clock_ns() - start) / MS;
    CHECK(turns > 2 && turns <= 3 + ms / 20);
}

static void a_group_that_is_gone_is_dropped(void) {
    watch_group(GUARD_PAIR_V1, 32 * MIB);
    listen_for(30000 * MS);
    CHECK(rmdir(group) == 0);
    sleep_ms(300);
    int before = turns;
    CHECK(before <= 3); /* no busy loop over a dead descriptor */
    wake();
    CHECK(comes(before + 1, 15000));
}

/* cgroup.events is notified as memory.events is, and is there whatever controller the group has. */
static void v2_events_wake(void) {
    char path[600];
    char real[600];
    (void)snprintf(real, sizeof real, "%s/cgroup.events", group);
    (void)snprintf(group, sizeof group, "/tmp/guard_event.XXXXXX");
    CHECK(mkdtemp(group) != NULL);
    (void)snprintf(path, sizeof path, "%s/memory.events", group);
    CHECK(symlink(real, path) == 0);
    (void)strcpy(strrchr(real, '/'), "/cgroup.procs");
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", group);
    CHECK(symlink(real, path) == 0);
    watch_group(GUARD_PAIR_V2_MAX, 32 * MIB);
    listen_for(30000 * MS);
    pid_t child = start_neighbour(1); /* populated */
    CHECK(comes(2, 15000));
    sleep_ms(100);
    int before = turns;
    CHECK(before == 2); /* acknowledged */
    stop_neighbour(child);
    CHECK(comes(before + 1, 15000));
}

/* The real ones, where the memory controller is on v2 (tests/survival/v2.py has such a kernel): a neighbour comes to the
 * limit, and is killed for it. */
static void v2_memory_events_wake(void) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/memory.events", group);
    if (access(path, F_OK) != 0) {
        _exit(SKIPPED);
    }
    write_file("memory.max", "16777216");
    watch_group(GUARD_PAIR_V2_MAX, 16 * MIB);
    listen_for(120000 * MS);
    pid_t child = start_neighbour(4);
    sleep_ms(500);
    CHECK(turns == 1);
    stop_neighbour(child);
    child = start_neighbour(64);
    CHECK(comes(2, 30000));
    CHECK(waitpid(child, NULL, 0) == child);
}

/* -- Pressure -- */

/* A neighbour in the group that reads more of a file than its memory holds, again and again. */
static pid_t start_thrashing(const char *limited, const char *file) {
    enum { BYTES = 64 << 20 };
    pid_t child = fork();
    if (child != 0) {
        return child;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    char pid[16];
    (void)snprintf(pid, sizeof pid, "%d", getpid());
    write_file("cgroup.procs", pid);
    (void)strcpy(group, limited);
    write_file("cgroup.procs", pid);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    const volatile char *pages = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    for (;;) {
        for (size_t i = 0; i < BYTES; i += 4096) {
            (void)pages[i];
        }
    }
}

static char limited[512]; /* the cgroup that limits memory: `group` itself, or one of v1 */

static void pressure_wakes(void) {
    char file[] = "/tmp/guard_event.XXXXXX";
    int fd = mkstemp(file);
    CHECK(fd >= 0 && ftruncate(fd, 64 << 20) == 0);
    (void)close(fd);
    watch_group(GUARD_PAIR_V2_MAX, 32 * MIB);
    listen_for(60000 * MS);
    sleep_ms(300);
    CHECK(turns == 1);
    pid_t child = start_thrashing(limited, file);
    bool has_come = comes(3, 30000);
    stop_neighbour(child);
    (void)unlink(file);
    CHECK(has_come);
}

/* What is asked for, of a file that takes it; and where there is none, or not for us, nothing. */
static void pressure_is_asked_for_where_it_may_be(void) {
    char path[600];
    char text[64] = "";
    (void)snprintf(group, sizeof group, "/tmp/guard_event.XXXXXX");
    CHECK(mkdtemp(group) != NULL);
    (void)snprintf(path, sizeof path, "%s/memory.pressure", group);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    watch_group(GUARD_PAIR_V2_MAX, 32 * MIB);
    listen_for(30000 * MS);
    CHECK(read(fd, text, sizeof text) == 18 && memcmp(text, "some 20000 500000", 18) == 0);
    CHECK(ftruncate(fd, 0) == 0 && fchmod(fd, 0400) == 0);
    int before = turns;
    if (geteuid() == 0) { /* it may write anywhere */
        CHECK(mkdir(path, 0700) != 0 && unlink(path) == 0 && mkdir(path, 0700) == 0);
    }
    generation = 2;
    wake();
    CHECK(comes(before + 1, 15000));
    sleep_ms(50);
    before = turns;
    CHECK(before == 2);
    wake(); /* by the futex: nothing is listened to */
    CHECK(comes(before + 1, 15000));
    (void)rmdir(path);
    (void)unlink(path);
    (void)rmdir(group);
}

static int run(void (*scenario)(void)) {
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(100);
        scenario();
        _exit(0);
    }
    int status = -1;
    (void)waitpid(child, &status, 0);
    return status;
}

/* Where this process's group of a hierarchy is, going by the usual mount points. */
static bool find_own_group(const char *controller, const char *mount, char *path, size_t cap) {
    char line[600];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *name = strchr(line, ':');
        char *own = name == NULL ? NULL : strchr(name + 1, ':');
        if (own != NULL && strncmp(name + 1, controller, strlen(controller)) == 0 &&
            name + 1 + strlen(controller) == own) {
            own[strcspn(own, "\n")] = '\0';
            (void)snprintf(path, cap, "%s%s", mount, own + 1);
            found = access(path, F_OK) == 0;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static bool make_group(const char *controller, const char *mount) {
    char own[400];
    if (!find_own_group(controller, mount, own, sizeof own)) {
        return false;
    }
    (void)snprintf(group, sizeof group, "%s/guard_event.%d", own, getpid());
    return mkdir(group, 0755) == 0;
}

static void remove_group(void) {
    for (int i = 0; rmdir(group) != 0 && i < 100; i++) {
        sleep_ms(10);
    }
}

static void run_in_group(const char *controller, const char *mount, void (*scenario)(void)) {
    if (!make_group(controller, mount)) {
        (void)printf("SKIP: no cgroup can be made in %s\n", mount);
        skip();
    }
    int status = run(scenario);
    remove_group();
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        skip();
    }
    assert_int_equal(status, 0);
}

static void test_v1_thresholds_wake(void **state) {
    (void)state;
    run_in_group("memory", "/sys/fs/cgroup/memory", v1_thresholds_wake);
}

static void test_wakes_reach_a_thread_that_polls(void **state) {
    (void)state;
    run_in_group("memory", "/sys/fs/cgroup/memory", wakes_reach_a_thread_that_polls);
}

static void test_a_flood_of_events_is_held_back(void **state) {
    (void)state;
    run_in_group("memory", "/sys/fs/cgroup/memory", a_flood_of_events_is_held_back);
}

static void test_a_group_that_is_gone_is_dropped(void **state) {
    (void)state;
    run_in_group("memory", "/sys/fs/cgroup/memory", a_group_that_is_gone_is_dropped);
}

static void run_in_v2_group(void (*scenario)(void)) {
    bool is_hybrid = access("/sys/fs/cgroup/unified", F_OK) == 0;
    run_in_group("", is_hybrid ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup", scenario);
}

static void test_v2_events_wake(void **state) {
    (void)state;
    run_in_v2_group(v2_events_wake);
}

static void test_v2_memory_events_wake(void **state) {
    (void)state;
    run_in_v2_group(v2_memory_events_wake);
}

static void test_pressure_is_asked_for_where_it_may_be(void **state) {
    (void)state;
    int status = run(pressure_is_asked_for_where_it_may_be);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        skip();
    }
    assert_int_equal(status, 0);
}

/* On a hybrid host the memory is limited in one hierarchy, and the pressure told in the other. */
static void test_pressure_wakes(void **state) {
    (void)state;
    char own[400];
    char path[600];
    bool is_v1 = find_own_group("memory", "/sys/fs/cgroup/memory", own, sizeof own);
    bool made = make_group("", access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup");
    (void)snprintf(path, sizeof path, "%s/memory.pressure", group);
    if (!made || access(path, W_OK) != 0) {
        (void)printf("SKIP: no memory.pressure that may be written\n");
        skip();
    }
    (void)snprintf(limited, sizeof limited, is_v1 ? "%s/guard_event.%d" : "%s", is_v1 ? own : group, getpid());
    (void)snprintf(path, sizeof path, "%s/%s", limited, is_v1 ? "memory.limit_in_bytes" : "memory.max");
    int fd = !is_v1 || mkdir(limited, 0755) == 0 ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    bool is_limited = fd >= 0 && write(fd, "16777216", 8) == 8;
    (void)close(fd);
    int status = is_limited ? run(pressure_wakes) : -1;
    remove_group();
    (void)strcpy(group, limited);
    remove_group();
    if (!is_limited) {
        (void)printf("SKIP: no cgroup with a limit can be made\n");
        skip();
    }
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1_thresholds_wake),
        cmocka_unit_test(test_wakes_reach_a_thread_that_polls),
        cmocka_unit_test(test_a_flood_of_events_is_held_back),
        cmocka_unit_test(test_a_group_that_is_gone_is_dropped),
        cmocka_unit_test(test_v2_events_wake),
        cmocka_unit_test(test_v2_memory_events_wake),
        cmocka_unit_test(test_pressure_is_asked_for_where_it_may_be),
        cmocka_unit_test(test_pressure_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
