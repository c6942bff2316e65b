/* guard/status: what the guard says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/wait.h>

#include "guard/status.h"
#include "heapprof/base/clock.h"
#include "tests/unit/guard_scene.h"
#include "tests/unit/guard_tree.h"

static struct guard_status status;

static void tells_what_it_watches(void) {
    CHECK(begins_at(95));
    CHECK(guard_status_read(&status));
    CHECK(status.is_watching && status.left_out == 0);
    CHECK(status.reading.usage == 95 * MIB && status.reading.limit == 128 * MIB);
    CHECK(strcmp(status.reading.source, "cgroup v2 " LEAF) == 0);
    CHECK(status.peak == 95 * MIB);
    CHECK(status.count >= 1);
    const struct guard_status_limit *limit = &status.limits[0];
    CHECK(strcmp(limit->source, "cgroup v2 " LEAF) == 0 && limit->kills);
    CHECK(limit->limit == 128 * MIB && limit->usage == 95 * MIB);
    CHECK(limit->count == 3);
    static const unsigned percents[] = {80, 90, 95};
    for (unsigned i = 0; i < 3; i++) {
        const struct guard_status_threshold *threshold = &limit->thresholds[i];
        CHECK(threshold->percent == percents[i] &&
              threshold->bytes == 128 * MIB / 100 * percents[i] + 28 * percents[i] / 100);
        CHECK(threshold->is_armed && threshold->fired == 0 && threshold->last_ns == 0);
    }
}

static void tells_when_thresholds_fired(void) {
    int64_t before = hp_clock_wall_ns();
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    sleep_ms(50);
    set_usage(104); /* 81.25 % */
    CHECK(comes(&seen.dumps, 1, 3000));
    CHECK(guard_status_read(&status));
    const struct guard_status_threshold *first = &status.limits[0].thresholds[0];
    CHECK(first->fired == 1 && !first->is_armed && first->last_usage == 104 * MIB);
    CHECK(first->last_ns >= before && first->last_ns <= hp_clock_wall_ns());
    CHECK(status.limits[0].thresholds[1].fired == 0 && status.limits[0].thresholds[1].is_armed);
    set_usage(60); /* armed again */
    sleep_ms(1500);
    CHECK(guard_status_read(&status) && first->is_armed && first->fired == 1);
    set_usage(127); /* all three at once */
    CHECK(comes(&seen.dumps, 2, 3000));
    CHECK(guard_status_read(&status));
    CHECK(first->fired == 2 && first->last_usage == 127 * MIB);
    CHECK(status.limits[0].thresholds[2].fired == 1 &&
          status.limits[0].thresholds[2].last_usage == 127 * MIB);
    CHECK(status.peak == 127 * MIB);
}

/* Readings far apart in number, not in time: a second at 95 MiB, then one at 100. */
static void tells_percentiles(void) {
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    sleep_ms(2000);
    set_usage(100);
    look_for(500);
    CHECK(guard_status_read(&status));
    CHECK(status.watched_ns > (uint64_t)(2000 * MS) && status.watched_ns < (uint64_t)(20000 * MS));
    CHECK(status.p50 >= 94 * MIB && status.p50 <= 97 * MIB);
    CHECK(status.p999 >= 98 * MIB && status.p999 <= 100 * MIB);
    CHECK(status.p50 <= status.p90 && status.p90 <= status.p99 && status.p99 <= status.p999 &&
          status.p999 <= status.peak);
}

static void tells_what_an_application_set(void) {
    CHECK(begins_at(20));
    guard_tree_statm(30 * MIB, 100 * MIB, 50 * MIB);
    guard_set_limit(64 * MIB);
    CHECK(guard_status_read(&status));
    CHECK(status.count == 2 && status.reading.limit == 64 * MIB); /* 34 MiB of room, and 108 */
    CHECK(status.limits[0].limit == 64 * MIB && status.limits[1].limit == 128 * MIB);
    CHECK(status.resident == 30 * MIB);
}

static void tells_of_nothing(void) {
    set("HEAPPROF_LIMIT", "off");
    guard_tree_statm(30 * MIB, 100 * MIB, 50 * MIB);
    (void)begins_at(20);
    CHECK(guard_status_read(&status));
    CHECK(!status.is_watching && status.count == 0 && status.watched_ns == 0);
    CHECK(status.reading.limit == UINT64_MAX && status.resident == 30 * MIB);
}

/* A child's story is its own. */
static void begins_anew_in_a_child(void) {
    CHECK(begins_at(95));
    guard_start();
    CHECK(comes(&seen.begun, 1, 2000));
    set_usage(127);
    CHECK(comes(&seen.dumps, 1, 3000));
    guard_fork_prepare();
    pid_t pid = fork();
    if (pid == 0) {
        guard_fork_child();
        set_usage(50);
        CHECK(guard_status_read(&status));
        CHECK(status.peak == 50 * MIB && status.watched_ns == 0 && status.limits[0].thresholds[2].fired == 0);
        _exit(0);
    }
    guard_fork_parent();
    int end = 0;
    CHECK(waitpid(pid, &end, 0) == pid && end == 0);
    CHECK(guard_status_read(&status) && status.peak == 127 * MIB &&
          status.limits[0].thresholds[2].fired == 1);
}

static void is_nothing_before_the_start(void) {
    CHECK(!guard_status_read(&status));
}

SCENARIO(tells_what_it_watches)
SCENARIO(tells_when_thresholds_fired)
SCENARIO(tells_percentiles)
SCENARIO(tells_what_an_application_set)
SCENARIO(tells_of_nothing)
SCENARIO(begins_anew_in_a_child)
SCENARIO(is_nothing_before_the_start)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(tells_what_it_watches),
        TEST(tells_when_thresholds_fired),
        TEST(tells_percentiles),
        TEST(tells_what_an_application_set),
        TEST(tells_of_nothing),
        TEST(begins_anew_in_a_child),
        TEST(is_nothing_before_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
