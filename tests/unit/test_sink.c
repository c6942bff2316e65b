/* capture/sink: a whole file under its name or nothing at all. P13, G16. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heapprof/capture/sink.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/scratch.h"

/* A file under its name, and durable. */
static int sink_commit(struct hp_sink *open_sink) {
    struct hp_settling open_file;
    if (hp_sink_publish(open_sink) != 0) {
        return -1;
    }
    hp_sink_detach(open_sink, &open_file);
    open_sink->error = hp_sink_settle(&open_file, true);
    return open_sink->error == 0 ? 0 : -1;
}

static struct hp_sink sink;

static void check_text(const char *name, const char *text) {
    char buffer[256];
    size_t n = scratch_read(name, buffer, sizeof buffer);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(buffer, text, n);
}

static int open_in(const char *folder, const char *name) {
    return hp_sink_open_file(&sink, scratch_path(folder), name);
}

/* Until it commits nothing is there of it: a process that is killed now leaves nothing behind. */
static void test_appears_whole(void **state) {
    (void)state;
    struct stat st;
    assert_int_equal(open_in("", "file"), 0);
    assert_int_equal(hp_sink_write(&sink, "abc", 3), 0);
    assert_int_equal(hp_sink_write(&sink, "", 0), 0);
    assert_int_equal(hp_sink_write(&sink, "defg", 4), 0);
    assert_int_equal(scratch_list("", NULL, 0), 0);
    assert_int_equal(sink_commit(&sink), 0);
    assert_int_equal(sink.bytes, 7);
    check_text("file", "abcdefg");
    assert_int_equal(scratch_list("", NULL, 0), 1);
    assert_int_equal(stat(scratch_path("file"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600); /* a heap's addresses and names are its owner's business */
    assert_int_equal(fcntl(sink.fd, F_GETFD), -1);
}

/* From now on the kernel answers `call` with an error, where `flag` is set in its argument (the first is 0). */
static bool refuse(unsigned call, unsigned argument, unsigned flag, unsigned error) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args) + argument * 8),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {ROWS(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum { NAMELESS = O_TMPFILE & ~O_DIRECTORY };

/* A file system without nameless files (NFS, FAT): a hidden name that no one takes for a dump, and then its own. */
static int body_no_nameless_files(void) {
    if (!refuse(SYS_openat, 2, NAMELESS, EOPNOTSUPP)) {
        return CHILD_SKIP;
    }
    CHILD_CHECK(open_in("new", "file") == 0);
    CHILD_CHECK(hp_sink_write(&sink, "abc", 3) == 0);
    CHILD_CHECK(scratch_has("new/.file.tmp") && !scratch_has("new/file"));
    CHILD_CHECK(sink_commit(&sink) == 0);
    CHILD_CHECK(scratch_has("new/file") && scratch_list("new", NULL, 0) == 1);
    CHILD_CHECK(open_in("new", "other") == 0);
    hp_sink_abort(&sink);
    CHILD_CHECK(scratch_list("new", NULL, 0) == 1);
    CHILD_CHECK(open_in("new", "file") == 0 && sink_commit(&sink) == -1 && sink.error == EEXIST);
    CHILD_CHECK(scratch_list("new", NULL, 0) == 1);
    return 0;
}

static void test_no_nameless_files(void **state) {
    (void)state;
    child_must_succeed(body_no_nameless_files);
    check_text("new/file", "abc");
}

/* One that lets them be made but not be given a name. */
static int body_no_links(void) {
    static char block[100000];
    char back[sizeof block];
    memset(block, 'z', sizeof block);
    if (!refuse(SYS_linkat, 4, AT_SYMLINK_FOLLOW | AT_EMPTY_PATH, EPERM)) {
        return CHILD_SKIP;
    }
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHILD_CHECK(open_in("", "file") == 0);
    CHILD_CHECK(hp_sink_write(&sink, block, sizeof block) == 0);
    CHILD_CHECK(scratch_list("", NULL, 0) == 0);
    CHILD_CHECK(sink_commit(&sink) == 0);
    CHILD_CHECK(scratch_read("file", back, sizeof back) == sizeof back);
    CHILD_CHECK(memcmp(back, block, sizeof back) == 0);
    CHILD_CHECK(scratch_list("", NULL, 0) == 1);
    CHILD_CHECK(open_in("", "file") == 0 && sink_commit(&sink) == -1 && sink.error == EEXIST);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHILD_CHECK(after == before + 1); /* no descriptor was left open */
    return 0;
}

static void test_no_links(void **state) {
    (void)state;
    child_must_succeed(body_no_links);
}

/* Killed in the middle: nothing is left. */
static int body_killed(void) {
    CHILD_CHECK(open_in("", "file") == 0);
    CHILD_CHECK(hp_sink_write(&sink, "abc", 3) == 0);
    (void)raise(SIGKILL);
    return 0;
}

static void test_a_kill_leaves_nothing(void **state) {
    (void)state;
    struct child_end end;
    child_run(body_killed, &end);
    assert_int_equal(end.signal, SIGKILL);
    assert_int_equal(scratch_list("", NULL, 0), 0);
}

/* The guard's thread has a table of descriptors of its own, where the same number may mean another file. */
static void *commit_in_own_table(void *done) {
    if (unshare(CLONE_FILES) == 0) {
        (void)close(0);
        (void)close(1);
        *(bool *)done = open_in("", "file") == 0 && hp_sink_write(&sink, "abc", 3) == 0 &&
                        scratch_list("", NULL, 0) == 0 && sink_commit(&sink) == 0;
    }
    return NULL;
}

static int body_descriptors_of_a_thread(void) {
    pthread_t thread;
    bool done = false;
    if (!refuse(SYS_linkat, 4, AT_EMPTY_PATH, ENOENT) || !refuse(SYS_sendfile, 3, ~0U, EIO)) {
        return CHILD_SKIP;
    }
    CHILD_CHECK(pthread_create(&thread, NULL, commit_in_own_table, &done) == 0);
    CHILD_CHECK(pthread_join(thread, NULL) == 0);
    CHILD_CHECK(done);
    return 0;
}

static void test_descriptors_of_a_thread(void **state) {
    (void)state;
    child_must_succeed(body_descriptors_of_a_thread);
    check_text("file", "abc");
}

static void test_abort_leaves_nothing(void **state) {
    (void)state;
    assert_int_equal(open_in("", "file"), 0);
    assert_int_equal(hp_sink_write(&sink, "abc", 3), 0);
    int fd = sink.fd;
    hp_sink_abort(&sink);
    assert_int_equal(scratch_list("", NULL, 0), 0);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    hp_sink_abort(&sink); /* twice does no harm */
}

static void test_makes_missing_folders(void **state) {
    (void)state;
    assert_int_equal(open_in("a/b//c", "file"), 0);
    assert_int_equal(sink_commit(&sink), 0);
    assert_true(scratch_has("a/b/c/file"));
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", scratch_path("d/e/file"));
    assert_int_equal(hp_sink_open_path(&sink, path), 0);
    assert_int_equal(sink_commit(&sink), 0);
    assert_true(scratch_has("d/e/file"));
}

/* What is in the way of a folder stays as it is. */
static void test_folder_can_not_be_made(void **state) {
    (void)state;
    scratch_write("a", "text", 4, 0);
    assert_int_equal(open_in("a", "file"), -1);
    assert_int_equal(sink.error, ENOTDIR);
    assert_int_equal(open_in("a/b", "file"), -1);
    assert_int_equal(sink.error, ENOTDIR);
    hp_sink_abort(&sink);
    check_text("a", "text");
    assert_int_equal(symlink("nowhere", scratch_path("dangling")), 0);
    assert_int_equal(open_in("dangling", "file"), -1);
    assert_int_equal(sink.error, ENOENT);
}

/* A dump never replaces a file, nor follows a link that somebody put in its place. */
static void test_name_is_taken(void **state) {
    (void)state;
    scratch_write("file", "old", 3, 0);
    scratch_write("victim", "safe", 4, 0);
    assert_int_equal(symlink(scratch_path("victim"), scratch_path("link")), 0);
    assert_int_equal(symlink(scratch_path("new"), scratch_path("dangling")), 0);
    static const char *const names[] = {"file", "link", "dangling"};
    for (size_t i = 0; i < ROWS(names); i++) {
        assert_int_equal(open_in("", names[i]), 0);
        assert_int_equal(hp_sink_write(&sink, "new", 3), 0);
        assert_int_equal(sink_commit(&sink), -1);
        assert_int_equal(sink.error, EEXIST);
    }
    check_text("file", "old");
    check_text("victim", "safe");
    assert_int_equal(scratch_list("", NULL, 0), 4); /* nothing more than what was there */
}

/* A link at the temporary name (its name can be guessed) is not written through, and not removed. */
static int body_temporary_name_is_taken(void) {
    if (!refuse(SYS_openat, 2, NAMELESS, EOPNOTSUPP)) {
        return CHILD_SKIP;
    }
    CHILD_CHECK(open_in("", "file") == -1 && sink.error == EEXIST);
    hp_sink_abort(&sink);
    return 0;
}

static void test_temporary_name_is_taken(void **state) {
    (void)state;
    scratch_write("victim", "safe", 4, 0);
    assert_int_equal(symlink(scratch_path("victim"), scratch_path(".file.tmp")), 0);
    child_must_succeed(body_temporary_name_is_taken);
    assert_true(scratch_has(".file.tmp"));
    check_text("victim", "safe");
}

/* The caller's own path is replaced, as whole as that: the old file is there until the new one is. */
static void test_path_is_replaced(void **state) {
    (void)state;
    scratch_write("file", "old", 3, 0);
    scratch_write(".file.tmp", "left by a killed process", 24, 0);
    assert_int_equal(hp_sink_open_path(&sink, scratch_path("file")), 0);
    assert_int_equal(hp_sink_write(&sink, "new!", 4), 0);
    check_text("file", "old");
    assert_int_equal(sink_commit(&sink), 0);
    check_text("file", "new!");
    assert_int_equal(scratch_list("", NULL, 0), 1);
}

static void test_path_replaces_links_themselves(void **state) {
    (void)state;
    scratch_write("victim", "safe", 4, 0);
    assert_int_equal(symlink(scratch_path("victim"), scratch_path("file")), 0);
    assert_int_equal(symlink(scratch_path("victim"), scratch_path(".file.tmp")), 0);
    assert_int_equal(hp_sink_open_path(&sink, scratch_path("file")), 0);
    assert_int_equal(hp_sink_write(&sink, "new", 3), 0);
    assert_int_equal(sink_commit(&sink), 0);
    check_text("victim", "safe");
    check_text("file", "new");
    assert_int_equal(scratch_list("", NULL, 0), 2);
}

/* A daemon's umask is often 0, or anything: the file is its owner's alone, and in a folder that we make nobody else can
 * delete it or put something in its place. */
static int body_umask(void) {
    static const mode_t masks[] = {0, 022, 077, 0777};
    struct stat st;
    char name[32];
    for (size_t i = 0; i < ROWS(masks); i++) {
        (void)snprintf(name, sizeof name, "mask%zu", i);
        (void)umask(masks[i]);
        CHILD_CHECK(open_in(masks[i] == 0777 ? "" : name, name) == 0);
        CHILD_CHECK(hp_sink_write(&sink, "abc", 3) == 0 && sink_commit(&sink) == 0);
        CHILD_CHECK(lstat(sink.path, &st) == 0 && (st.st_mode & 07777) == (0600 & ~masks[i]));
        CHILD_CHECK(masks[i] == 0777 || (lstat(scratch_path(name), &st) == 0 && (st.st_mode & 022) == 0));
    }
    return 0;
}

static void test_umask(void **state) {
    (void)state;
    child_must_succeed(body_umask);
}

/* What waits in the next names' places is no more than in the way: nothing is opened, so nothing is waited for (a FIFO)
 * or written to (a hard link). */
static void test_name_is_a_trap(void **state) {
    (void)state;
    scratch_write("victim", "safe", 4, 0);
    assert_int_equal(mkfifo(scratch_path("fifo"), 0666), 0);
    assert_int_equal(link(scratch_path("victim"), scratch_path("hard")), 0);
    assert_int_equal(mkdir(scratch_path("folder"), 0777), 0);
    static const char *const names[] = {"fifo", "hard", "folder"};
    for (size_t i = 0; i < ROWS(names); i++) {
        assert_int_equal(open_in("", names[i]), 0);
        assert_int_equal(hp_sink_write(&sink, "new", 3), 0);
        assert_int_equal(sink_commit(&sink), -1);
        assert_int_equal(sink.error, EEXIST);
    }
    check_text("victim", "safe");
    assert_int_equal(scratch_list("", NULL, 0), 4);
    assert_int_equal(open_in("fifo", "file"), -1); /* as the folder: not waited for either */
    assert_int_equal(sink.error, ENOTDIR);
}

static void test_path_in_the_current_folder(void **state) {
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scratch_path("")), 0);
    assert_int_equal(hp_sink_open_path(&sink, "bare"), 0);
    assert_int_equal(sink_commit(&sink), 0);
    assert_int_equal(chdir(before), 0);
    assert_true(scratch_has("bare"));
}

static void test_no_path(void **state) {
    (void)state;
    char path[5000];
    assert_int_equal(hp_sink_open_path(&sink, ""), -1);
    assert_int_equal(sink.error, EISDIR);
    (void)snprintf(path, sizeof path, "%s/", scratch_path(""));
    assert_int_equal(hp_sink_open_path(&sink, path), -1);
    assert_int_equal(sink.error, EISDIR);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    /* Around the buffer's end, for the name itself and for the temporary one's five bytes more. */
    for (size_t length = 4085; length < 4100; length++) {
        path[length] = '\0';
        assert_int_equal(hp_sink_open_path(&sink, path), -1);
        assert_int_equal(sink.error, ENAMETOOLONG);
        path[length] = 'x';
    }
    hp_sink_abort(&sink);
    /* A folder of that name: the rename fails, and nothing is left. */
    assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
    assert_int_equal(hp_sink_open_path(&sink, scratch_path("folder")), 0);
    assert_int_equal(sink_commit(&sink), -1);
    assert_int_equal(sink.error, EISDIR);
    assert_int_equal(scratch_list("", NULL, 0), 1);
}

/* The descriptor is the caller's: it gets the bytes and stays open, whatever comes. */
static void test_descriptor(void **state) {
    (void)state;
    char buffer[8];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    hp_sink_open_fd(&sink, ends[1]);
    assert_int_equal(hp_sink_write(&sink, "abc", 3), 0);
    assert_int_equal(sink_commit(&sink), 0);
    assert_int_equal(read(ends[0], buffer, sizeof buffer), 3);
    hp_sink_open_fd(&sink, ends[1]);
    hp_sink_abort(&sink);
    assert_int_equal(fcntl(ends[1], F_GETFD), 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    hp_sink_open_fd(&sink, ends[1]);
    assert_int_equal(hp_sink_write(&sink, "abc", 3), -1);
    assert_int_equal(sink.error, EBADF);
    assert_int_equal(sink_commit(&sink), -1);
}

/* The device that is always full. */
static void test_full_descriptor(void **state) {
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        skip();
    }
    hp_sink_open_fd(&sink, fd);
    assert_int_equal(hp_sink_write(&sink, "abc", 3), -1);
    assert_int_equal(sink.error, ENOSPC);
    assert_int_equal(hp_sink_write(&sink, "abc", 3), -1);
    assert_int_equal(sink.error, ENOSPC);
    (void)close(fd);
}

/* P13: the disk fills in the middle; the old dump is kept, of the new one nothing is left. */
static int fill_up(int expected_error) {
    static char block[4096];
    memset(block, 'z', sizeof block);
    CHILD_CHECK(open_in("disk", "file") == 0);
    int rc = 0;
    for (int i = 0; i < 100 && rc == 0; i++) {
        rc = hp_sink_write(&sink, block, sizeof block);
    }
    CHILD_CHECK(rc == -1 && sink.error == expected_error);
    CHILD_CHECK(sink.bytes > 0);
    CHILD_CHECK(sink_commit(&sink) == -1 && sink.error == expected_error);
    CHILD_CHECK(scratch_list("disk", NULL, 0) == 1 && scratch_has("disk/old"));
    return 0;
}

static int body_full_disk(void) {
    (void)mkdir(scratch_path("disk"), 0700);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", scratch_path("disk"), "tmpfs", 0, "size=64k") != 0) {
        return CHILD_SKIP;
    }
    scratch_write("disk/old", "old", 3, 0);
    return fill_up(ENOSPC);
}

static void test_p13_full_disk(void **state) {
    (void)state;
    child_must_succeed(body_full_disk);
}

/* The same for everyone, by a limit on a file's size. */
static int body_file_size_limit(void) {
    const struct rlimit limit = {50000, 50000};
    (void)mkdir(scratch_path("disk"), 0700);
    scratch_write("disk/old", "old", 3, 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    return fill_up(EFBIG);
}

static void test_file_size_limit(void **state) {
    (void)state;
    child_must_succeed(body_file_size_limit);
}

static int body_read_only_folder(void) {
    if (geteuid() == 0 && seteuid(65534) != 0) {
        return CHILD_SKIP;
    }
    CHILD_CHECK(open_in("locked", "file") == -1 && sink.error == EACCES);
    CHILD_CHECK(open_in("locked/below", "file") == -1 && sink.error == ENOENT);
    hp_sink_abort(&sink);
    return 0;
}

/* G16. Root may write anywhere, so it becomes nobody for this. */
static void test_g16_read_only_folder(void **state) {
    (void)state;
    assert_int_equal(mkdir(scratch_path("locked"), 0555), 0);
    assert_int_equal(chmod(scratch_path(""), 0755), 0);
    child_must_succeed(body_read_only_folder);
    assert_int_equal(scratch_list("locked", NULL, 0), 0);
}

static int body_no_descriptors(void) {
    const struct rlimit limit = {3, 3};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    while (dup(2) >= 0) {
    }
    CHILD_CHECK(open_in("", "file") == -1 && sink.error == EMFILE);
    hp_sink_abort(&sink);
    return 0;
}

static void test_g16_out_of_descriptors(void **state) {
    (void)state;
    child_must_succeed(body_no_descriptors);
    assert_int_equal(scratch_list("", NULL, 0), 0);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(test_appears_whole),
        IN_A_FOLDER(test_no_nameless_files),
        IN_A_FOLDER(test_no_links),
        IN_A_FOLDER(test_a_kill_leaves_nothing),
        IN_A_FOLDER(test_descriptors_of_a_thread),
        IN_A_FOLDER(test_abort_leaves_nothing),
        IN_A_FOLDER(test_makes_missing_folders),
        IN_A_FOLDER(test_folder_can_not_be_made),
        IN_A_FOLDER(test_name_is_taken),
        IN_A_FOLDER(test_temporary_name_is_taken),
        IN_A_FOLDER(test_path_is_replaced),
        IN_A_FOLDER(test_path_replaces_links_themselves),
        IN_A_FOLDER(test_umask),
        IN_A_FOLDER(test_name_is_a_trap),
        IN_A_FOLDER(test_path_in_the_current_folder),
        IN_A_FOLDER(test_no_path),
        IN_A_FOLDER(test_descriptor),
        IN_A_FOLDER(test_full_descriptor),
        IN_A_FOLDER(test_p13_full_disk),
        IN_A_FOLDER(test_file_size_limit),
        IN_A_FOLDER(test_g16_read_only_folder),
        IN_A_FOLDER(test_g16_out_of_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
