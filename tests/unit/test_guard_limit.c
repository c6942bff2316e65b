/* guard/limit and the usage sources: what is watched, over fake trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/limit.h"
#include "tests/unit/guard_tree.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define V1_NONE 9223372036854771712U
#define V2 "/sys/fs/cgroup"
#define V1 "/sys/fs/cgroup/memory"

static struct guard_limits limits;
static struct guard_scratch scratch;
static struct guard_limit_wish wish;
static struct guard_use uses[GUARD_PAIRS_MAX];

static int set_up(void **state) {
    (void)state;
    limits = (struct guard_limits){.ram = UINT64_MAX};
    wish = (struct guard_limit_wish){.setting = {HP_LIMIT_AUTO, 0}};
    memset(uses, 0, sizeof uses);
    guard_tree_make();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    guard_tree_remove();
    return 0;
}

static bool resolve(void) {
    bool all = guard_limits_find(&limits, &scratch);
    return guard_limits_read(&limits, &wish, &scratch) && all;
}

static bool read_usages(uint64_t floor) {
    uint64_t floors[GUARD_PAIRS_MAX];
    for (unsigned i = 0; i < GUARD_PAIRS_MAX; i++) {
        floors[i] = floor;
    }
    return guard_limits_usage(&limits, floors, &scratch, uses);
}

/* The pairs as "name limit" lines. */
static void expect(const char *pairs) {
    char text[2048] = "";
    for (unsigned i = 0; i < limits.count; i++) {
        char name[256];
        size_t len = strlen(text);
        guard_pair_name(&limits, &limits.pairs[i], name, sizeof name);
        (void)snprintf(text + len, sizeof text - len, "%s=%lu\n", name,
                       (unsigned long)(limits.pairs[i].limit / MIB));
    }
    assert_string_equal(text, pairs);
}

static void v2_level(const char *folder, uint64_t current, const char *max, const char *high) {
    char path[256];
    (void)snprintf(path, sizeof path, V2 "%s/memory.max", folder);
    guard_tree_write(path, max);
    (void)snprintf(path, sizeof path, V2 "%s/memory.high", folder);
    guard_tree_write(path, high);
    (void)snprintf(path, sizeof path, V2 "%s/memory.current", folder);
    guard_tree_number(path, current);
    (void)snprintf(path, sizeof path, V2 "%s/memory.stat", folder);
    guard_tree_write(path, "anon 1\nfile 2\n");
}

static void v1_level(const char *folder, uint64_t usage, uint64_t limit, uint64_t hierarchical) {
    char path[256];
    char text[256];
    (void)snprintf(path, sizeof path, V1 "%s/memory.limit_in_bytes", folder);
    guard_tree_number(path, limit);
    (void)snprintf(path, sizeof path, V1 "%s/memory.usage_in_bytes", folder);
    guard_tree_number(path, usage);
    (void)snprintf(path, sizeof path, V1 "%s/memory.stat", folder);
    (void)snprintf(text, sizeof text, "cache 1\nhierarchical_memory_limit %lu\ntotal_cache 1\n",
                   (unsigned long)hierarchical);
    guard_tree_write(path, text);
}

static void test_v2_leaf(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", 100 * MIB, "134217728\n", "max\n");
    assert_true(resolve()); /* the root has no memory.max: no failure */
    expect("cgroup v2 " V2 "/a=128\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 100 * MIB);
}

static void test_G5_parent_limit_with_parent_usage(void **state) {
    (void)state;
    guard_tree_v2("pod/leaf");
    v2_level("/pod/leaf", 100 * MIB, "max\n", "max\n");
    v2_level("/pod", 700 * MIB, "1073741824\n", "max\n");
    assert_true(resolve());
    expect("cgroup v2 " V2 "/pod=1024\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 700 * MIB);
}

static void test_v2_every_level_is_watched(void **state) {
    (void)state;
    guard_tree_v2("pod/leaf");
    v2_level("/pod/leaf", 10 * MIB, "134217728", "max");
    v2_level("/pod", 1000 * MIB, "1073741824", "max");
    assert_true(resolve());
    expect("cgroup v2 " V2 "/pod/leaf=128\ncgroup v2 " V2 "/pod=1024\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 10 * MIB);
    assert_int_equal(uses[1].usage, 1000 * MIB);
}

static void test_v2_high_warns_only(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", MIB, "134217728", "104857600");
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=128\nmemory.high of cgroup v2 " V2 "/a=100\n");
    assert_true(guard_pair_kills(&limits.pairs[0]));
    assert_false(guard_pair_kills(&limits.pairs[1]));
    v2_level("/a", MIB, "134217728", "134217728");
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=128\n");
}

static void test_v2_only_high_leaves_the_machine(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", MIB, "max", "104857600");
    assert_true(resolve());
    expect("memory.high of cgroup v2 " V2 "/a=100\nthe machine's memory=16384\n");
}

static void test_G6_v1_sentinel_and_hierarchical(void **state) {
    (void)state;
    guard_tree_v1("a");
    v1_level("/a", 50 * MIB, V1_NONE, 256 * MIB); /* a limit of an ancestor that the mount does not show */
    v1_level("", 60 * MIB, V1_NONE, 256 * MIB);
    assert_true(resolve());
    expect("a parent of cgroup v1 " V1 "=256\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 60 * MIB); /* of the highest folder that is seen */
}

static void test_G6_v1_sentinels_mean_the_machine(void **state) {
    (void)state;
    const uint64_t none[] = {V1_NONE, INT64_MAX, UINT64_MAX, 9223372036854710272U, 64 * GIB};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        guard_tree_v1("a");
        v1_level("/a", 50 * MIB, none[i], none[i]);
        v1_level("", 50 * MIB, none[i], none[i]);
        assert_true(resolve());
        expect("the machine's memory=16384\n");
    }
}

static void test_v1_seen_ancestor_is_watched_itself(void **state) {
    (void)state;
    guard_tree_v1("pod/leaf");
    v1_level("/pod/leaf", 50 * MIB, V1_NONE, 256 * MIB);
    v1_level("/pod", 200 * MIB, 256 * MIB, 256 * MIB);
    v1_level("", 300 * MIB, V1_NONE, V1_NONE);
    assert_true(resolve());
    expect("cgroup v1 " V1 "/pod=256\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 200 * MIB);
}

static void test_G7_hybrid_uses_v1(void **state) {
    (void)state;
    guard_tree_v1("x");
    guard_tree_write("/proc/self/cgroup", "4:memory:/x\n0::/\n");
    guard_tree_write("/proc/self/mountinfo", "32 22 0:29 / " V1 " rw - cgroup cgroup rw,memory\n"
                                             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    v1_level("/x", MIB, 128 * MIB, 128 * MIB);
    v1_level("", MIB, V1_NONE, V1_NONE);
    guard_tree_write("/sys/fs/cgroup/unified/memory.max", "1000\n");
    assert_true(resolve());
    expect("cgroup v1 " V1 "/x=128\n");
}

static void test_namespace_above_the_mount(void **state) {
    (void)state;
    guard_tree_write("/proc/self/cgroup", "0::/\n");
    guard_tree_write("/proc/self/mountinfo", "30 22 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    v2_level("", 5 * MIB, "268435456", "max");
    assert_true(resolve());
    expect("cgroup v2 " V2 "=256\n");
}

static void test_G4_explicit_limits(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", 100 * MIB, "1073741824", "max");
    guard_tree_statm(30 * MIB, 500 * MIB, 100 * MIB);
    wish.setting = (hp_option_limit){HP_LIMIT_BYTES, 128 * MIB};
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=1024\nHEAPPROF_LIMIT=128\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[1].usage, 30 * MIB);

    wish.setting = (hp_option_limit){HP_LIMIT_PERCENT, 50};
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=1024\nHEAPPROF_LIMIT=512\n");

    wish.set = 64 * MIB;
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=1024\nthe limit set by the application=64\n");

    wish = (struct guard_limit_wish){.setting = {HP_LIMIT_OFF, 0}};
    assert_true(resolve());
    expect("");
}

static void test_G4_percent_of_the_machine(void **state) {
    (void)state;
    wish.setting = (hp_option_limit){HP_LIMIT_PERCENT, 25};
    guard_tree_v2("a");
    assert_true(resolve());
    expect("HEAPPROF_LIMIT=4096\n");
}

static void test_swap_counts(void **state) {
    (void)state;
    guard_tree_v2("a");
    guard_tree_write("/proc/meminfo", "MemTotal: 16777216 kB\nSwapTotal: 4194304 kB\n");
    guard_tree_write(
        "/proc/self/status",
        "Name:\tx\nVmSize:\t  500000 kB\nVmRSS:\t   30720 kB\nVmData:\t 1 kB\nVmSwap:\t   10240 kB\n");
    assert_true(resolve());
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 40 * MIB);
}

static void test_swap_limit_of_a_cgroup_v2(void **state) {
    (void)state;
    guard_tree_write("/proc/meminfo", "MemTotal: 16777216 kB\nSwapTotal: 4194304 kB\n");
    guard_tree_v2("a");
    v2_level("/a", 120 * MIB, "134217728", "max");
    guard_tree_write(V2 "/a/memory.swap.max", "67108864\n");
    guard_tree_number(V2 "/a/memory.swap.current", 30 * MIB);
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=128\nmemory and swap of cgroup v2 " V2 "/a=192\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 120 * MIB);
    assert_int_equal(uses[1].usage, 150 * MIB);
    guard_tree_write(V2 "/a/memory.swap.max", "max\n");
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=128\n");
    guard_tree_write(V2 "/a/memory.swap.max", "0\n"); /* none: memory.max is all there is */
    assert_true(resolve());
    expect("cgroup v2 " V2 "/a=128\n");
}

static void test_swap_limit_of_a_cgroup_v1(void **state) {
    (void)state;
    guard_tree_write("/proc/meminfo", "MemTotal: 16777216 kB\nSwapTotal: 4194304 kB\n");
    guard_tree_v1("a");
    v1_level("/a", 100 * MIB, 128 * MIB, 128 * MIB);
    v1_level("", 100 * MIB, V1_NONE, V1_NONE);
    guard_tree_number(V1 "/a/memory.memsw.limit_in_bytes", 160 * MIB);
    guard_tree_number(V1 "/a/memory.memsw.usage_in_bytes", 150 * MIB);
    guard_tree_number(V1 "/memory.memsw.limit_in_bytes", V1_NONE);
    assert_true(resolve());
    expect("cgroup v1 " V1 "/a=128\nmemory and swap of cgroup v1 " V1 "/a=160\n");
    assert_true(read_usages(0));
    assert_int_equal(uses[1].usage, 150 * MIB);
}

static void test_untouched_memory(void **state) {
    (void)state;
    struct guard_process usage;
    guard_tree_write("/proc/self/statm", "90 50 20 1 0 70 0\n"); /* of 70 pages of data 50 - 20 are there */
    assert_int_equal(guard_process_usage(false, &scratch, &usage), 0);
    assert_int_equal(usage.untouched, 40 * (uint64_t)sysconf(_SC_PAGESIZE));
    guard_tree_write("/proc/self/status",
                     "VmSize: 90 kB\nVmRSS: 50 kB\nRssAnon: 30 kB\nVmData: 70 kB\nVmSwap: 5 kB\n");
    assert_int_equal(guard_process_usage(true, &scratch, &usage), 0);
    assert_int_equal(usage.untouched, 35 * 1024);
}

static void test_rlimits(void **state) {
    (void)state;
    struct rlimit as;
    struct rlimit data;
    assert_int_equal(getrlimit(RLIMIT_AS, &as), 0);
    assert_int_equal(getrlimit(RLIMIT_DATA, &data), 0);
    struct rlimit low = {.rlim_cur = UINT64_C(1) << 46, .rlim_max = as.rlim_max}; /* room for a sanitizer */
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    low.rlim_max = data.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_DATA, &low), 0);
    guard_tree_v2("a");
    guard_tree_write("/proc/self/status", "VmSize:\t 1024 kB\nVmRSS:\t 2048 kB\nVmData:\t 3072 kB\n");
    bool all = resolve() && read_usages(0);
    (void)setrlimit(RLIMIT_AS, &as);
    (void)setrlimit(RLIMIT_DATA, &data);
    assert_true(all);
    expect("the machine's memory=16384\nRLIMIT_AS=67108864\nRLIMIT_DATA=67108864\n");
    assert_int_equal(uses[0].usage, 2 * MIB);
    assert_int_equal(uses[1].usage, 1 * MIB);
    assert_int_equal(uses[2].usage, 3 * MIB);
}

static void test_G11_P17_clean_cache_does_not_count_v2(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", 128 * MIB, "134217728", "max");
    guard_tree_write(V2 "/a/memory.stat",
                     "anon 20971520\nfile 113246208\nshmem 4194304\nfile_mapped 0\nfile_dirty 1048576\n"
                     "file_writeback 1048576\ninactive_anon 0\nactive_anon 0\ninactive_file 62914560\n"
                     "active_file 41943040\n");
    assert_true(resolve());
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage,
                     (128 - 60 - 40 + 2) * MIB); /* active counts off too, dirty and shmem do not */
}

static void test_G11_P17_clean_cache_does_not_count_v1(void **state) {
    (void)state;
    guard_tree_v1("a");
    v1_level("/a", 128 * MIB, 128 * MIB, 128 * MIB);
    guard_tree_write(V1 "/a/memory.stat",
                     "inactive_file 1\nactive_file 1\ndirty 0\nhierarchical_memory_limit 134217728\n"
                     "total_dirty 1048576\ntotal_writeback 1048576\ntotal_inactive_file 62914560\n"
                     "total_active_file 41943040\n");
    assert_true(resolve());
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, (128 - 60 - 40 + 2) * MIB); /* with what is below the level */
}

static void test_stat_is_read_only_when_it_matters(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", 50 * MIB, "134217728", "max");
    assert_true(resolve());
    guard_tree_unlink(V2 "/a/memory.stat");
    assert_true(read_usages(51 * MIB));
    assert_int_equal(uses[0].usage, 50 * MIB);
    assert_false(read_usages(50 * MIB));
}

static void test_stat_larger_than_usage(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", 50 * MIB, "134217728", "max");
    guard_tree_write(V2 "/a/memory.stat", "inactive_file 62914560\nactive_file garbage\n");
    assert_true(resolve());
    assert_true(read_usages(0));
    assert_int_equal(uses[0].usage, 0);
}

static void test_vanished_files_change_nothing(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", 100 * MIB, "134217728", "max");
    assert_true(resolve());
    assert_true(read_usages(0));
    guard_tree_unlink(V2 "/a/memory.max");
    guard_tree_unlink(V2 "/a/memory.current");
    assert_false(resolve());
    expect("cgroup v2 " V2 "/a=128\n");
    assert_false(read_usages(0));
    assert_int_equal(uses[0].usage, 100 * MIB);
    guard_tree_unlink("/proc/self/cgroup");
    guard_tree_unlink("/proc/meminfo");
    assert_false(resolve());
    expect("cgroup v2 " V2 "/a=128\n");
    v2_level("/a", 110 * MIB, "67108864", "max"); /* and back */
    guard_tree_v2("a");
    assert_false(resolve()); /* meminfo is still away */
    expect("cgroup v2 " V2 "/a=64\n");
}

static void test_broken_files_change_nothing(void **state) {
    (void)state;
    const char *const broken[] = {"", "\n", "-1\n", "abc", "99999999999999999999999\n", " 5"};
    guard_tree_v2("a");
    v2_level("/a", 100 * MIB, "134217728", "max");
    assert_true(resolve());
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        guard_tree_write(V2 "/a/memory.max", broken[i]);
        assert_false(resolve());
        expect("cgroup v2 " V2 "/a=128\n");
    }
    guard_tree_write("/proc/self/statm", "12 x");
    wish.setting = (hp_option_limit){HP_LIMIT_BYTES, MIB};
    (void)resolve();
    assert_false(read_usages(0));
}

static void test_moved_to_another_cgroup(void **state) {
    (void)state;
    guard_tree_v2("a");
    v2_level("/a", 100 * MIB, "134217728", "max");
    v2_level("/b", 10 * MIB, "134217728", "max");
    assert_true(resolve());
    struct guard_pair before = limits.pairs[0];
    assert_true(resolve());
    assert_true(guard_pair_is_same(&before, &limits.pairs[0]));
    guard_tree_v2("b");
    assert_true(resolve());
    expect("cgroup v2 " V2 "/b=128\n");
    assert_false(guard_pair_is_same(&before, &limits.pairs[0]));
}

static void test_nothing_known_at_all(void **state) {
    (void)state;
    guard_tree_unlink("/proc/meminfo");
    assert_false(resolve());
    expect("");
    wish.setting = (hp_option_limit){HP_LIMIT_BYTES, 128 * MIB};
    (void)resolve();
    expect("HEAPPROF_LIMIT=128\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_v2_leaf),
        TEST(test_G5_parent_limit_with_parent_usage),
        TEST(test_v2_every_level_is_watched),
        TEST(test_v2_high_warns_only),
        TEST(test_v2_only_high_leaves_the_machine),
        TEST(test_G6_v1_sentinel_and_hierarchical),
        TEST(test_G6_v1_sentinels_mean_the_machine),
        TEST(test_v1_seen_ancestor_is_watched_itself),
        TEST(test_G7_hybrid_uses_v1),
        TEST(test_namespace_above_the_mount),
        TEST(test_G4_explicit_limits),
        TEST(test_G4_percent_of_the_machine),
        TEST(test_swap_counts),
        TEST(test_swap_limit_of_a_cgroup_v2),
        TEST(test_swap_limit_of_a_cgroup_v1),
        TEST(test_untouched_memory),
        TEST(test_rlimits),
        TEST(test_G11_P17_clean_cache_does_not_count_v2),
        TEST(test_G11_P17_clean_cache_does_not_count_v1),
        TEST(test_stat_is_read_only_when_it_matters),
        TEST(test_stat_larger_than_usage),
        TEST(test_vanished_files_change_nothing),
        TEST(test_broken_files_change_nothing),
        TEST(test_moved_to_another_cgroup),
        TEST(test_nothing_known_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
