/* capture/capture: one whole dump under a new name each time, or one line that says why not. P8, P15, G16,
 * G17. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/sys.h"
#include "heapprof/bookkeeping/snapshot.h"
#include "heapprof/capture/capture.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/faked_identity.h"
#include "tests/unit/read_profile.h"
#include "tests/unit/scratch.h"

#define START_NS (INT64_C(1700000000) * 1000000000) /* 2023-11-14 22:13:20 UTC */
#define NAME(seq)                                                                                            \
    "heapprof.svc.host.7."                                                                                   \
    "20231114T221320000." seq ".limit80.pb.gz"

static char folder[4096];
static char spare[4096];
static char service_text[256]; /* as the environment has it */
static uint8_t file[1 << 20];

static const struct hp_capture_facts facts = {.reason = "limit80",
                                              .usage = 900,
                                              .limit = 1000,
                                              .source = "a cgroup",
                                              .threshold = 800,
                                              .allocator_allocated = 600,
                                              .allocator_resident = 700,
                                              .samples_lost = 1,
                                              .bytes_lost = 2,
                                              .stacks_truncated = 3};

static uint32_t no_module(uintptr_t pc) {
    (void)pc;
    return 0;
}

static int make_tables(void **state) {
    (void)state;
    const struct hp_module program = {.start = 0x400000, .end = 0x500000, .path = "/bin/svc"};
    const struct hp_stack_trace trace = {.depth = 1, .pcs = {0x1234}};
    bool ready = hp_module_table_init() && hp_frame_table_init(1 << 20, no_module) &&
                 hp_stack_table_init(1 << 20) && hp_module_table_add(&program) == 1;
    hp_stack_table_add(hp_stack_table_find(&trace), 5 * 65536, 50);
    return ready ? 0 : -1;
}

static void configure(const char *where, const char *service, uint32_t keep) {
    (void)snprintf(folder, sizeof folder, "%s", scratch_path(where));
    (void)snprintf(service_text, sizeof service_text, "%s", service);
    service = service_text;
    struct hp_capture_config config = {
        .folder = folder, .service = service, .keep = keep, .budget = 1 << 20, .period = 4096};
    hp_capture_init(&config);
}

static int setup(void **state) {
    fake_wall_clock(START_NS);
    fake_host("host", 7);
    int rc = scratch_make(state);
    configure("dumps", "svc", 10);
    return rc;
}

static void check_profile(size_t bytes) {
    Profile *p = read_profile(file, bytes);
    assert_non_null(p);
    assert_sound(p);
    assert_int_equal(p->n_sample, 1);
    assert_int_equal(p->sample[0]->value[0], 5);
    assert_int_equal(p->sample[0]->value[3], 50);
    assert_int_equal(p->period, 4096);
    assert_int_equal(p->time_nanos, START_NS);
    heapprof__pprof__profile__free_unpacked(p, NULL);
}

/* The first test: the numbers of a process begin at 1 and only ever rise. */
static void test_names_and_numbers(void **state) {
    (void)state;
    char list[1024];
    assert_true(hp_capture_prepare());
    assert_true(hp_capture_to_folder(&facts)); /* makes the folder */
    assert_true(hp_capture_to_folder(&facts)); /* in the same moment */
    assert_int_equal(scratch_list("dumps", list, sizeof list), 2);
    assert_string_equal(list, NAME("1") "\n" NAME("2") "\n");
    check_profile(scratch_read("dumps/" NAME("1"), file, sizeof file));
    check_profile(scratch_read("dumps/" NAME("2"), file, sizeof file));
}

/* P8: the names are there already, from a process with all the same marks: their bytes stay, ours go
 * elsewhere. */
static void test_p8_taken_names_are_passed_by(void **state) {
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    scratch_write("dumps/" NAME("3"), "his", 3, 10);
    scratch_write("dumps/." NAME("4") ".tmp", "his too", 7, 10);
    assert_true(hp_capture_to_folder(&facts));
    assert_int_equal(scratch_read("dumps/" NAME("3"), file, sizeof file), 3);
    assert_int_equal(scratch_read("dumps/." NAME("4") ".tmp", file, sizeof file), 7);
    assert_true(scratch_has("dumps/" NAME("4")));
    assert_int_equal(scratch_list("dumps", NULL, 0), 3);
}

static void test_comments(void **state) {
    (void)state;
    static const char *const expected[][2] = {
        {"service", "svc"},
        {"host", "host"},
        {"pid", "7"},
        {"process start", "20231114T221320000"},
        {"reason", "limit80"},
        {"usage", "900"},
        {"limit", "1000"},
        {"limit source", "a cgroup"},
        {"threshold", "800"},
        {"jemalloc allocated", "600"},
        {"jemalloc resident", "700"},
        {"samples lost", "1"},
        {"bytes lost", "2"},
        {"stacks truncated", "3"},
    };
    assert_int_equal(hp_capture_to_path(&facts, scratch_path("file")), 0);
    Profile *p = read_profile(file, scratch_read("file", file, sizeof file));
    for (size_t i = 0; i < ROWS(expected); i++) {
        const char *value = comment_of(p, expected[i][0]);
        if (value == NULL || strcmp(value, expected[i][1]) != 0) {
            fail_msg("%s: %s", expected[i][0], value);
        }
    }
    assert_non_null(comment_of(p, "heapprof"));
    assert_true(strtoull(comment_of(p, "heapprof mapped"), NULL, 10) > 0);
    heapprof__pprof__profile__free_unpacked(p, NULL);
}

/* What is not known is not said: no "limit: 18446744073709551615". A source that is no text is repaired. */
static void test_unknown_facts(void **state) {
    (void)state;
    struct hp_capture_facts little = {.reason = "request", .limit = UINT64_MAX};
    assert_int_equal(hp_capture_to_path(&little, scratch_path("file")), 0);
    Profile *p = read_profile(file, scratch_read("file", file, sizeof file));
    static const char *const absent[] = {"usage", "limit", "limit source", "threshold", "jemalloc allocated"};
    for (size_t i = 0; i < ROWS(absent); i++) {
        assert_null(comment_of(p, absent[i]));
    }
    heapprof__pprof__profile__free_unpacked(p, NULL);

    char source[1000];
    memset(source, 'x', sizeof source - 1);
    source[sizeof source - 1] = '\0';
    source[3] = '\xff';
    little.limit = 1;
    little.source = source;
    assert_int_equal(hp_capture_to_path(&little, scratch_path("file")), 0);
    p = read_profile(file, scratch_read("file", file, sizeof file));
    assert_sound(p);
    assert_memory_equal(comment_of(p, "limit source"), "xxx?xxx", 7);
    heapprof__pprof__profile__free_unpacked(p, NULL);
}

/* Whatever a service is called, its dump lies in the folder, under a name that the rotation knows again. */
static void test_hostile_service_names(void **state) {
    (void)state;
    static const char *const names[] = {"../../outside",  "a.b.c", "",         ".", "/",
                                        "x\n\xff\x1b[0m", "%s%n",  "svc.other"};
    char longest[65];
    memset(longest, 'L', 64);
    longest[64] = '\0';
    for (size_t i = 0; i <= ROWS(names); i++) {
        char list[1024];
        configure("dumps", i < ROWS(names) ? names[i] : longest, 1);
        assert_true(hp_capture_to_folder(&facts));
        assert_true(hp_capture_to_folder(&facts)); /* the first one is found and goes */
        assert_int_equal(scratch_list("dumps", list, sizeof list), 1);
        assert_null(strchr(list, '/'));
        assert_memory_equal(list, "heapprof.", 9);
        *strchr(list, '\n') = '\0';
        char path[6000];
        (void)snprintf(path, sizeof path, "%s/%s", folder, list);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(scratch_list("", NULL, 0), 1); /* nothing beside the folder */
}

/* P15: a sawtooth across the threshold, 200 times: never more than `keep`, the last one always there. */
static void test_p15_no_flood(void **state) {
    (void)state;
    configure("dumps", "svc", 5);
    for (int i = 0; i < 200; i++) {
        fake_wall_clock(-1); /* file times are real */
        assert_true(hp_capture_to_folder(&facts));
        assert_true(scratch_list("dumps", NULL, 0) <= 5);
    }
    assert_int_equal(scratch_list("dumps", NULL, 0), 5);
}

/* From now on the kernel kills this process at `call`. */
static bool die_at(unsigned call) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {ROWS(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static unsigned deadly_call;

static int body_killed_at_call(void) {
    return die_at(deadly_call) ? hp_capture_to_folder(&facts) : CHILD_SKIP;
}

static void check_all_in_folder(void) {
    char list[4096];
    char path[6000];
    (void)scratch_list("dumps", list, sizeof list);
    for (const char *name = strtok(list, "\n"); name != NULL; name = strtok(NULL, "\n")) {
        (void)snprintf(path, sizeof path, "dumps/%s", name);
        check_profile(scratch_read(path, file, sizeof file));
    }
}

/* A whole dump does not wait for its name while the folder is read, old ones go, or the disk writes: a kill then
 * leaves it there. */
static void test_kill_behind_the_last_byte(void **state) {
    (void)state;
    static const unsigned calls[] = {SYS_getdents64, SYS_unlinkat, SYS_fsync};
    configure("dumps", "svc", 1);
    for (size_t i = 0; i < ROWS(calls); i++) {
        struct child_end end;
        char before[4096];
        char after[4096];
        assert_true(hp_capture_to_folder(&facts)); /* the one that has to go */
        (void)scratch_list("dumps", before, sizeof before);
        deadly_call = calls[i];
        child_run(body_killed_at_call, &end);
        if (end.status == CHILD_SKIP) {
            skip();
        }
        assert_int_equal(end.signal, SIGSYS);
        assert_int_equal(scratch_list("dumps", after, sizeof after), deadly_call == SYS_fsync ? 1 : 2);
        assert_string_not_equal(before, after);
        check_all_in_folder();
    }
    assert_true(hp_capture_to_folder(&facts)); /* makes room for what the last ones left, too */
    assert_int_equal(scratch_list("dumps", NULL, 0), 1);
}

static void test_to_descriptor(void **state) {
    (void)state;
    int fd = memfd_create("dump", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(hp_capture_to_fd(&facts, fd), 0);
    off_t bytes = lseek(fd, 0, SEEK_END);
    assert_int_equal(pread(fd, file, sizeof file, 0), bytes);
    check_profile((size_t)bytes);
    (void)close(fd);
    assert_int_equal(hp_capture_to_fd(&facts, fd), EBADF);
    assert_int_equal(hp_capture_to_fd(&facts, -1), EBADF);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(hp_capture_to_fd(&facts, full), ENOSPC);
    assert_int_equal(fcntl(full, F_GETFD), FD_CLOEXEC); /* still open */
    (void)close(full);
}

static void test_to_path(void **state) {
    (void)state;
    scratch_write("file", "old", 3, 0);
    assert_int_equal(hp_capture_to_path(&facts, scratch_path("file")), 0);
    check_profile(scratch_read("file", file, sizeof file));
    assert_int_equal(hp_capture_to_path(&facts, ""), EISDIR);
    assert_int_equal(hp_capture_to_path(&facts, "/proc/heapprof/file"), ENOENT);
    assert_int_equal(scratch_list("", NULL, 0), 1);
}

/* G16: said once a cause, said again when it comes back after a success. */
static int body_one_line_a_cause(void) {
    scratch_write("in-the-way", "x", 1, 0);
    configure("in-the-way", "svc", 10);
    for (int i = 0; i < 5; i++) {
        CHILD_CHECK(!hp_capture_to_folder(&facts));
    }
    (void)unlink(scratch_path("in-the-way"));
    CHILD_CHECK(hp_capture_to_folder(&facts));
    (void)rename(scratch_path("in-the-way"), scratch_path("away"));
    scratch_write("in-the-way", "x", 1, 0);
    for (int i = 0; i < 5; i++) {
        CHILD_CHECK(!hp_capture_to_folder(&facts));
    }
    return 0;
}

static void test_g16_one_line_a_cause(void **state) {
    (void)state;
    struct child_end end;
    char expected[9000];
    child_run(body_one_line_a_cause, &end);
    assert_int_equal(end.status, 0);
    const char *where = scratch_path("in-the-way");
    (void)snprintf(expected, sizeof expected,
                   "heapprof: no dump could be written to %s: Not a directory\n"
                   "heapprof: no dump could be written to %s: Not a directory\n",
                   where, where);
    assert_string_equal(end.said, expected);
}

/* G16: where the folder can't be written, the dump goes to the spare one, and one line says both. */
static int body_spare_folder(void) {
    scratch_write("in-the-way", "x", 1, 0);
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("in-the-way"));
    (void)snprintf(spare, sizeof spare, "%s", scratch_path("spare"));
    struct hp_capture_config config = {
        .folder = folder, .spare = spare, .service = "svc", .keep = 2, .budget = 1 << 20, .period = 4096};
    hp_capture_init(&config);
    for (int i = 0; i < 5; i++) {
        CHILD_CHECK(hp_capture_to_folder(&facts));
    }
    CHILD_CHECK(scratch_list("spare", NULL, 0) == 2); /* the rules hold there, too */
    return 0;
}

static void test_g16_spare_folder(void **state) {
    (void)state;
    struct child_end end;
    char expected[9000];
    child_run(body_spare_folder, &end);
    assert_int_equal(end.status, 0);
    (void)snprintf(expected, sizeof expected, "heapprof: no dump could be written to %s: Not a directory; it went to %s\n",
                   scratch_path("in-the-way"), scratch_path("spare"));
    assert_string_equal(end.said, expected);
}

/* Others' dumps in the folder, `count` of them, written `age_s` seconds ago. */
static void write_others(unsigned count, long age_s) {
    (void)mkdir(folder, 0700);
    for (unsigned i = 0; i < count; i++) {
        char name[256];
        (void)snprintf(name, sizeof name, "dumps/heapprof.svc.host.%u.20231114T221300000.1.limit80.pb.gz", 100 + i);
        scratch_write(name, "x", 1, age_s);
    }
}

/* A restart loop: the folder is full of the last minute's dumps of others, so an early one is left out. */
static void test_restart_loop_makes_no_early_dumps(void **state) {
    (void)state;
    struct hp_capture_facts early = facts;
    early.is_early = true;
    fake_wall_clock(-1);
    write_others(10, 5);
    assert_true(hp_capture_to_folder(&early)); /* none is owed */
    assert_int_equal(scratch_list("dumps", NULL, 0), 10);
    assert_false(scratch_has("dumps/" NAME("1")));
    assert_true(hp_capture_to_folder(&facts)); /* the last threshold's always is */
    assert_int_equal(scratch_list("dumps", NULL, 0), 10);
    write_others(10, 100); /* the loop is over */
    assert_true(hp_capture_to_folder(&early));
    char list[4096];
    assert_int_equal(scratch_list("dumps", list, sizeof list), 10);
    assert_non_null(strstr(list, "heapprof.svc.host.7."));
}

/* Another process holds the folder: an early dump waits for its turn, but not for long; the last one does not. */
static void test_turns_are_bounded(void **state) {
    (void)state;
    struct hp_capture_facts early = facts;
    early.is_early = true;
    assert_int_equal(mkdir(folder, 0700), 0);
    int theirs = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(theirs, LOCK_EX), 0);
    int64_t start = hp_clock_ns();
    assert_true(hp_capture_to_folder(&early));
    int64_t waited = hp_clock_ns() - start;
    assert_true(hp_capture_to_folder(&facts));
    (void)close(theirs);
    assert_true(waited >= 30 * INT64_C(1000000)); /* it did wait */
    assert_true(waited < 2 * INT64_C(1000000000));
    assert_int_equal(scratch_list("dumps", NULL, 0), 2);
}

/* A disk that stands still for the threads that are told so, or fails. */
static __thread bool has_slow_disk;
static _Atomic bool disk_goes_on;
static _Atomic int waiting_for_disk;
static int disk_failures;

int __real_hp_sys_fsync(int fd);
int __wrap_hp_sys_fsync(int fd);
int __wrap_hp_sys_fsync(int fd) {
    if (disk_failures > 0) {
        disk_failures--;
        errno = EIO;
        return -1;
    }
    waiting_for_disk += has_slow_disk;
    while (has_slow_disk && !disk_goes_on) {
        hp_sys_sleep(1000000);
    }
    return __real_hp_sys_fsync(fd);
}

static void *dump_to_slow_disk(void *how) {
    has_slow_disk = true;
    bool done = how == NULL ? hp_capture_to_folder(&facts) : hp_capture_to_path(&facts, how) == 0;
    return done ? how : &has_slow_disk;
}

/* A dump on demand waits for a disk: one at the last threshold does not wait for that. */
static void test_no_dump_waits_for_the_disk_of_another(void **state) {
    (void)state;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", scratch_path("file"));
    void *const ways[] = {NULL, path};
    for (size_t i = 0; i < ROWS(ways); i++) {
        pthread_t thread;
        void *ended = NULL;
        disk_goes_on = false;
        waiting_for_disk = 0;
        assert_int_equal(pthread_create(&thread, NULL, dump_to_slow_disk, ways[i]), 0);
        while (waiting_for_disk == 0) {
            hp_sys_sleep(1000000);
        }
        bool done = hp_capture_to_folder(&facts);
        disk_goes_on = true;
        assert_int_equal(pthread_join(thread, &ended), 0);
        assert_true(done);
        assert_ptr_equal(ended, ways[i]);
    }
    check_all_in_folder();
    assert_int_equal(scratch_list("dumps", NULL, 0), 3);
}

static void *dump_hurried(void *mistake) {
    struct hp_capture_facts hurried = facts;
    hurried.is_hurried = true;
    int64_t start = hp_clock_ns();
    bool done = hp_capture_to_folder(&hurried);
    return !done && hp_clock_ns() - start < INT64_C(5000000000) ? NULL : mistake;
}

/* Another dump hangs: the thread that stands at the gate gives its own up, long before others would. */
static void test_a_hurried_dump_is_given_up(void **state) {
    (void)state;
    pthread_t thread;
    void *ended = folder;
    hp_capture_fork_prepare(); /* holds the lock as a dump does */
    assert_int_equal(pthread_create(&thread, NULL, dump_hurried, folder), 0);
    assert_int_equal(pthread_join(thread, &ended), 0);
    hp_capture_fork_parent();
    assert_null(ended);
}

/* What the disk does not take is no dump: it goes to the spare folder, and is counted there alone. */
static void test_disk_that_fails(void **state) {
    (void)state;
    struct hp_capture_history before;
    struct hp_capture_history after;
    configure("dumps", "svc", 10);
    (void)snprintf(spare, sizeof spare, "%s", scratch_path("spare"));
    struct hp_capture_config config = *hp_capture_settings();
    config.spare = spare;
    hp_capture_init(&config);
    hp_capture_history(&before);
    disk_failures = 1;
    assert_true(hp_capture_to_folder(&facts));
    hp_capture_history(&after);
    assert_int_equal(scratch_list("dumps", NULL, 0), 0);
    assert_int_equal(scratch_list("spare", NULL, 0), 1);
    assert_int_equal(after.written, before.written + 1);
    assert_int_equal(after.failed, before.failed);
    assert_non_null(strstr(after.last_path, "/spare/"));
    disk_failures = 1;
    assert_int_equal(hp_capture_to_path(&facts, scratch_path("file")), EIO);
    assert_false(scratch_has("file"));
    hp_capture_history(&after);
    assert_int_equal(after.written, before.written + 1);
    assert_int_equal(after.failed, before.failed + 1);
}

/* G18: a forked child is a process of its own: numbers from 1, its own pid and start, and no lock is held. */
static int body_child_dumps(void) {
    fake_host("host", 8);
    fake_wall_clock(START_NS + 5000000);
    hp_capture_fork_child();
    CHILD_CHECK(hp_capture_prepare());
    CHILD_CHECK(hp_capture_to_folder(&facts));
    CHILD_CHECK(hp_capture_to_path(&facts, scratch_path("file")) == 0);
    CHILD_CHECK(scratch_has("dumps/heapprof.svc.host.8.20231114T221320005.1.limit80.pb.gz"));
    return 0;
}

static void test_g18_forked_child(void **state) {
    (void)state;
    (void)snprintf(service_text, sizeof service_text, "nginx: master process"); /* as setproctitle() does */
    hp_capture_fork_prepare();
    child_must_succeed(body_child_dumps);
    hp_capture_fork_parent();
    assert_true(hp_capture_to_folder(&facts));
    assert_int_equal(scratch_list("dumps", NULL, 0), 2);
}

static int teardown(void **state) {
    fake_wall_clock(-1);
    fake_host(NULL, 0);
    return scratch_remove(state);
}

#define CAPTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CAPTURE_TEST(test_names_and_numbers), /* these two in this order: they know the numbers */
        CAPTURE_TEST(test_p8_taken_names_are_passed_by),
        CAPTURE_TEST(test_comments),
        CAPTURE_TEST(test_unknown_facts),
        CAPTURE_TEST(test_hostile_service_names),
        CAPTURE_TEST(test_p15_no_flood),
        CAPTURE_TEST(test_kill_behind_the_last_byte),
        CAPTURE_TEST(test_to_descriptor),
        CAPTURE_TEST(test_to_path),
        CAPTURE_TEST(test_g16_one_line_a_cause),
        CAPTURE_TEST(test_g16_spare_folder),
        CAPTURE_TEST(test_restart_loop_makes_no_early_dumps),
        CAPTURE_TEST(test_turns_are_bounded),
        CAPTURE_TEST(test_no_dump_waits_for_the_disk_of_another),
        CAPTURE_TEST(test_disk_that_fails),
        CAPTURE_TEST(test_a_hurried_dump_is_given_up),
        CAPTURE_TEST(test_g18_forked_child),
    };
    return cmocka_run_group_tests(tests, make_tables, NULL);
}
