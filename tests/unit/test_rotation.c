/* capture/rotation: which dumps stay, by rule and in a real folder. P15, G17, G18. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heapprof/base/rng.h"
#include "heapprof/capture/rotation.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/scratch.h"

/* files: their sizes, the oldest first; stays: a letter for each, '+' or '-'. All by hand. */
static const struct {
    const char *what;
    const char *files;
    uint32_t keep;
    uint64_t budget;
    const char *stays;
} rows[] = {
    {"none", "", 10, 100, ""},
    {"one", "5", 10, 100, "+"},
    {"all fit to the last byte", "40 30 30", 3, 100, "+++"},
    {"one too many: the oldest", "9 10 9", 2, 100, "-++"},
    {"one too many: not the largest", "10 9 9", 2, 100, "+-+"},
    {"a byte too many: the oldest", "40 31 30", 3, 100, "+-+"},
    {"several go, the oldest first", "1 2 9 3 4 5 6", 4, 100, "--+-+++"},
    {"the newest is the largest", "1 2 3 9", 2, 100, "--++"},
    {"count 1: the newest", "9 1", 1, 100, "-+"},
    {"count 1, and it is the largest", "1 9", 1, 100, "-+"},
    {"count 1 of one", "9", 1, 100, "+"},
    {"count 0 is 1", "9 1", 0, 100, "-+"},
    {"a budget below the newest: it alone", "1 1 200", 10, 100, "--+"},
    {"no budget: the newest alone", "1 9 2", 10, 0, "--+"},
    {"empty files cost none", "0 0 0 5", 10, 5, "++++"},
    {"the newest and the largest, to the byte", "1 60 1 40", 10, 100, "-+-+"},
    {"the largest does not fit beside the newest: the others need not go for it", "90 5 6 7 20", 10, 100,
     "-++++"},
    {"the largest alone is over the budget", "5 200 6 7", 10, 100, "+-++"},
    {"nor does the second largest lose its place for it", "5 200 60 40 7", 10, 100, "--+-+"},
    {"bytes beyond 64 bits' half", "9223372036854775807 9223372036854775807", 10, UINT64_MAX, "++"},
};

static uint32_t list_files(const char *sizes, struct hp_rotation_file *files) {
    uint32_t n = 0;
    char *end = NULL;
    for (const char *p = sizes; *p != '\0'; p = end) {
        files[n] = (struct hp_rotation_file){.bytes = strtoull(p, &end, 10), .written_ns = n, .goes = 1};
        (void)snprintf(files[n].name, sizeof files[n].name, "f%u", n);
        n++;
    }
    return n;
}

/* The folder's order is no order: forwards, backwards and rotated give the same. */
static void test_decide(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct hp_rotation_file sorted[16];
        uint32_t n = list_files(rows[i].files, sorted);
        for (uint32_t shift = 0; shift < n + 1; shift++) {
            struct hp_rotation_file files[16];
            for (uint32_t k = 0; k < n; k++) {
                files[k] = shift < n ? sorted[(k + shift) % n] : sorted[n - 1 - k];
            }
            hp_rotation_decide(files, n, rows[i].keep, rows[i].budget);
            char stays[17] = "";
            for (uint32_t k = 0; k < n; k++) {
                stays[files[k].written_ns] = files[k].goes != 0 ? '-' : '+';
            }
            if (strcmp(stays, rows[i].stays) != 0) {
                fail_msg("%s: %s, expected %s (shift %u)", rows[i].what, stays, rows[i].stays, shift);
            }
        }
    }
}

/* Written in the same moment: the later name is the newer, whatever their order in the folder. */
static void test_same_moment(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct hp_rotation_file files[2] = {{.name = "s.1", .bytes = 5}, {.name = "s.2", .bytes = 5}};
        if (swap) {
            struct hp_rotation_file first = files[0];
            files[0] = files[1];
            files[1] = first;
        }
        hp_rotation_decide(files, 2, 1, 100);
        assert_int_equal(files[0].goes, !swap);
        assert_int_equal(files[1].goes, swap);
    }
}

/* What must hold for any folder: the newest stays; both budgets hold, or it is alone; the largest that can
 * stay does; and the youngest of those that go could not have stayed with all that did. */
static void test_invariants(void **state) {
    (void)state;
    uint64_t random = 15;
    for (int round = 0; round < 20000; round++) {
        struct hp_rotation_file files[12];
        uint32_t n = 1 + (uint32_t)(hp_rng_next(&random) % 12);
        uint32_t keep = (uint32_t)(hp_rng_next(&random) % 12);
        uint64_t budget = hp_rng_next(&random) % 1000;
        for (uint32_t i = 0; i < n; i++) {
            files[i] = (struct hp_rotation_file){.bytes = hp_rng_next(&random) % 300, .written_ns = i};
        }
        hp_rotation_decide(files, n, keep, budget);
        uint32_t kept = 0;
        uint64_t bytes = 0;
        uint64_t largest = 0; /* of those that fit beside the newest */
        uint64_t largest_kept = 0;
        uint32_t last_gone = n;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t size = files[i].bytes;
            largest = (i == n - 1 || size + files[n - 1].bytes <= budget) && size > largest ? size : largest;
            largest_kept = files[i].goes == 0 && size > largest_kept ? size : largest_kept;
            kept += files[i].goes == 0;
            bytes += files[i].goes == 0 ? size : 0;
            last_gone = files[i].goes != 0 ? i : last_gone;
        }
        assert_int_equal(files[n - 1].goes, 0);
        assert_true(kept == 1 || (kept <= keep && bytes <= budget));
        assert_true(keep < 2 || largest_kept == largest);
        assert_true(last_gone == n || kept + 1 > keep || bytes + files[last_gone].bytes > budget);
    }
}

static const char *dump_name(char *name, size_t cap, const char *host, unsigned restart, unsigned seq) {
    (void)snprintf(name, cap, "heapprof.svc.%s.1.20261201T141355%03u.%u.limit80.pb.gz", host, restart, seq);
    return name;
}

static void apply(const char *folder, uint32_t keep, uint64_t budget, const char *own) {
    struct hp_rotation_scope ours = {.folder = scratch_path(folder), .service = "svc", .owner = geteuid()};
    hp_rotation_apply(&ours, keep, budget, own);
}

/* G17: two containers, pid 1 in both, one volume, 20 restarts with 3 dumps each; the budgets hold each time.
 */
static void test_g17_shared_volume(void **state) {
    (void)state;
    char name[256];
    char last[256] = "";
    assert_true(hp_rotation_prepare());
    for (unsigned restart = 0; restart < 20; restart++) {
        for (unsigned seq = 1; seq <= 6; seq++) {
            long age = 10000 - (long)(restart * 10 + seq);
            scratch_write(dump_name(name, sizeof name, seq % 2 == 0 ? "one" : "two", restart, seq),
                          "0123456789", 10, age);
            apply("", 10, 1000, NULL);
            assert_true(scratch_list("", NULL, 0) <= 10);
            assert_true(scratch_has(name));
            strcpy(last, name);
        }
    }
    assert_int_equal(scratch_list("", NULL, 0), 10);
    apply("", 10, 35, NULL); /* a smaller budget: three files of 10 */
    assert_int_equal(scratch_list("", NULL, 0), 3);
    assert_true(scratch_has(last));
}

/* files: "process/size …", the oldest first. What a process said last outlives what others said before (G18). */
static const struct {
    const char *what;
    const char *files;
    uint32_t keep;
    const char *stays;
} worker_rows[] = {
    {"one process: the oldest goes", "1/5 1/5 1/5", 2, "-++"},
    {"the only one of another stays", "1/5 2/5 2/5 2/5", 2, "+--+"},
    {"each process's newest", "1/5 1/5 2/5 2/5 3/5 3/5", 3, "-+-+-+"},
    {"the oldest of those with a newer one first", "1/5 1/5 2/5 2/5 3/5 3/5", 5, "-+++++"},
    {"more processes than places: the oldest process's", "1/5 2/5 3/5 3/5", 2, "-+-+"},
    {"the largest stays, though there is a newer one", "1/9 1/5 2/5 3/5", 3, "+-++"},
};

static void test_newest_of_each_process(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(worker_rows); i++) {
        struct hp_rotation_file files[16] = {0};
        uint32_t n = 0;
        char *end = NULL;
        for (const char *p = worker_rows[i].files; *p != '\0'; p = end) {
            unsigned pid = (unsigned)strtoul(p, &end, 10);
            files[n] = (struct hp_rotation_file){.bytes = strtoul(end + 1, &end, 10), .written_ns = n};
            (void)snprintf(files[n].name, sizeof files[n].name,
                           "heapprof.svc.h.%u.20261201T141355123.%u.limit95.pb.gz", pid, n + 1);
            n++;
        }
        hp_rotation_decide(files, n, worker_rows[i].keep, 1000);
        for (uint32_t k = 0; k < n; k++) {
            if ((files[k].goes == 0) != (worker_rows[i].stays[k] == '+')) {
                fail_msg("%s: file %u", worker_rows[i].what, k);
            }
        }
    }
}

/* A clock that was set back, or another host's: the dump that was just made stays, by whatever time it has. */
static void test_own_is_the_newest(void **state) {
    (void)state;
    char name[256];
    char own[256];
    assert_true(hp_rotation_prepare());
    for (unsigned seq = 1; seq <= 4; seq++) {
        scratch_write(dump_name(name, sizeof name, "h", 0, seq), "0123456789", 10, -1000 - (long)seq);
    }
    scratch_write(dump_name(own, sizeof own, "h", 0, 5), "01234", 5, 1000);
    for (uint32_t keep = 4; keep > 0; keep--) {
        apply("", keep, 1000, own);
        assert_int_equal(scratch_list("", NULL, 0), keep);
        assert_true(scratch_has(own));
    }
}

/* Four processes have each put a dump into a folder that was full, and make room at the same time. */
enum { MAKERS = 4 };
static unsigned maker;

static int body_make_room(void) {
    char name[256];
    scratch_write(dump_name(name, sizeof name, "new", 0, maker), "0123456789", 10, 0);
    apply("", 10, 1000, name);
    return 0;
}

static void test_g17_room_is_made_by_all(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        char name[256];
        pid_t makers[MAKERS];
        for (unsigned seq = 1; seq <= 10; seq++) {
            scratch_write(dump_name(name, sizeof name, "h", 0, seq), "0123456789", 10, 100 - (long)seq);
        }
        for (maker = 0; maker < MAKERS; maker++) {
            makers[maker] = fork();
            if (makers[maker] == 0) {
                _exit(body_make_room());
            }
        }
        for (unsigned i = 0; i < MAKERS; i++) {
            assert_int_equal(waitpid(makers[i], NULL, 0), makers[i]);
        }
        assert_int_equal(scratch_list("", NULL, 0), 10);
        for (unsigned i = 0; i < MAKERS; i++) {
            assert_true(scratch_has(dump_name(name, sizeof name, "new", 0, i)));
            assert_int_equal(unlink(scratch_path(name)), 0);
        }
    }
}

/* Nothing but our own service's finished dumps is touched, and what a killed process left half done. */
static void test_leaves_the_rest_alone(void **state) {
    (void)state;
    static const struct {
        const char *name;
        long age_s;
        bool stays;
    } files[] = {
        {"heapprof.svc.h.1.20261201T141355123.1.limit80.pb.gz", 5000, false},
        {"heapprof.svc.h.1.20261201T141355123.2.limit90.pb.gz", 4000, true},
        {"heapprof.other.h.1.20261201T141355123.1.limit80.pb.gz", 9000, true},
        {"heapprof.svc-2.h.1.20261201T141355123.1.limit80.pb.gz", 9000, true},
        {"heapprof.svc.mine.pb.gz", 9000, true},
        {"core.1", 9000, true},
        {".heapprof.svc.h.1.20261201T141355123.3.limit95.pb.gz.tmp", 700, false},
        {".heapprof.svc.h.1.20261201T141355123.4.limit95.pb.gz.tmp", 300,
         true}, /* somebody may be writing it */
        {".heapprof.other.h.1.20261201T141355123.3.limit95.pb.gz.tmp", 9000, true},
    };
    for (size_t i = 0; i < ROWS(files); i++) {
        scratch_write(files[i].name, "x", 1, files[i].age_s);
    }
    const char *folder = "heapprof.svc.h.1.20261201T141355123.5.limit95.pb.gz";
    const char *link = "heapprof.svc.h.1.20261201T141355123.6.limit95.pb.gz";
    assert_int_equal(mkdir(scratch_path(folder), 0700), 0);
    assert_int_equal(symlink("core.1", scratch_path(link)), 0);
    apply("", 1, 1000, NULL);
    for (size_t i = 0; i < ROWS(files); i++) {
        if (scratch_has(files[i].name) != files[i].stays) {
            fail_msg("%s", files[i].name);
        }
    }
    assert_true(scratch_has(folder));
    assert_true(scratch_has(link));
}

/* In a folder like /tmp: what others have put there under names of ours, all newer and larger than ours, is not deleted,
 * and drives out none of ours; nor does it keep an early dump from being made. */
static void test_files_of_others(void **state) {
    (void)state;
    char name[256];
    enum { THEIRS = 5, OURS = 4, KEEP = 3 };
    if (geteuid() != 0) {
        skip();
    }
    for (unsigned i = 0; i < THEIRS; i++) {
        scratch_write(dump_name(name, sizeof name, "theirs", 0, i), "0123456789", 10, -100000);
        assert_int_equal(chown(scratch_path(name), 65534, 65534), 0);
    }
    static const char stale[] = ".heapprof.svc.theirs.1.20261201T141355123.3.limit95.pb.gz.tmp";
    scratch_write(stale, "x", 1, 9000);
    assert_int_equal(chown(scratch_path(stale), 65534, 65534), 0);
    for (unsigned i = 0; i < OURS; i++) {
        scratch_write(dump_name(name, sizeof name, "ours", 0, i), "x", 1, 100 - (long)i);
    }
    struct hp_rotation_scope ours = {.folder = scratch_path(""), .service = "svc", .owner = 0};
    assert_int_equal(hp_rotation_count_recent(&ours, "x", 0), OURS);
    apply("", KEEP, 20, NULL);
    assert_int_equal(scratch_list("", NULL, 0), THEIRS + 1 + KEEP);
    assert_false(scratch_has(dump_name(name, sizeof name, "ours", 0, 0)));
    assert_true(scratch_has(stale));
}

/* More dumps than the memory holds, and more names than one read of the folder gives; then it is right again.
 */
static void test_very_full_folder(void **state) {
    (void)state;
    char name[256];
    enum { FILES = HP_ROTATION_FILES_MAX + 500 };
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "heapprof.svc.h.1.20261201T141355%03u.%u.limit80.pb.gz", i % 1000,
                       i);
        scratch_write(name, "x", 1, FILES - (long)i);
    }
    apply("", 10, 1000, NULL);
    apply("", 10, 1000, NULL);
    assert_int_equal(scratch_list("", NULL, 0), 10);
    assert_true(scratch_has(name)); /* the newest */
}

static void test_missing_folder(void **state) {
    (void)state;
    apply("none", 1, 1, NULL);
    assert_int_equal(scratch_list("", NULL, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decide),
        cmocka_unit_test(test_same_moment),
        cmocka_unit_test(test_invariants),
        cmocka_unit_test(test_newest_of_each_process),
        cmocka_unit_test_setup_teardown(test_own_is_the_newest, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_g17_room_is_made_by_all, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_g17_shared_volume, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_leaves_the_rest_alone, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_files_of_others, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_very_full_folder, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(test_missing_folder, scratch_make, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
