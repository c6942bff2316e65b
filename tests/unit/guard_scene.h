/*
 * A guard in a child process, with a fake host over a fake tree (guard_tree.h): the guard is one a process. A
 * scenario fails by ending the child with a status, having said why.
 */
#ifndef TESTS_GUARD_SCENE_H
#define TESTS_GUARD_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "guard/guard.h"
#include "heapprof/options.h"

#define MIB (UINT64_C(1) << 20)
#define MS INT64_C(1000000)
#define LEAF "/sys/fs/cgroup/a"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

/* -- The host: what it has seen, and how it is to behave. -- */

enum { DUMPS_MAX = 64 };

struct guard_seen {
    _Atomic int begun;
    _Atomic int thread_id; /* of the guard's */
    _Atomic int pressures;
    _Atomic int purges;
    _Atomic int dumps; /* how many entries of `crossings` are whole */
    _Atomic int requests;
    struct guard_crossing crossings[DUMPS_MAX];
    _Atomic int dump_ms;     /* how long one takes */
    _Atomic int failing;     /* how many more fail */
    _Atomic int pressure_ms; /* how long the application's callback takes */
    _Atomic int purge_ms;
    _Atomic int request_ms;
    _Atomic bool purge_refuses; /* memory is refused to the guard's own work */
    _Atomic uint64_t usage_after_purge;
    _Atomic uint64_t usage_after_pressure;
    _Atomic long dumping_thread;
};

extern struct guard_seen seen;
extern struct guard_host host;
extern struct hp_options options;

/* -- Helpers -- */

void sleep_ms(int64_t ms);

/* The cgroup's usage. */
void set_usage(uint64_t mib);

/* A v2 cgroup of 128 MiB that uses 20; and the guard with it. */
void begin(void);
bool begins(void);
/* The same at another usage. From 95 to 104 MiB, the first threshold, is not so fast that the last is
 * foreseen. */
bool begins_at(uint64_t mib);

/* Waits until *count is `wanted`, at most `ms`. */
bool comes(const _Atomic int *count, int wanted, int64_t ms);

/* How long guard_check() takes, at a time when it is not held back by a reading just made. */
int64_t ms_of_check(uint64_t pending);

/* Looks as often as a thread that allocates, for `ms`. */
void look_for(int64_t ms);

void set(const char *variable, const char *text);

/* Runs it in a child with the default options. Returns the child's status. */
int run(void (*scenario)(void));

/* For cmocka: an empty tree. */
int set_up(void **state);
int tear_down(void **state);

#define SCENARIO(name)                                                                                       \
    static void test_##name(void **state) {                                                                  \
        (void)state;                                                                                         \
        assert_int_equal(run(name), 0);                                                                      \
    }

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

#endif
