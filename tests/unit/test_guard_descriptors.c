/*
 * The guard's descriptors and the application's: neither ever meets the other's. Each scenario runs in a
 * child with a guard whose dumps are real files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"
#include "tests/unit/guard_scene.h"
#include "tests/unit/guard_tree.h"

enum { FILES = 64 };

static char folder[] = "/tmp/guard_descriptors.XXXXXX";
static _Atomic int files; /* that dumps have written */
static int of_application;
static _Atomic bool callback_could_write;

static void path_of(const char *name, int number, char *path, size_t cap) {
    (void)snprintf(path, cap, "%s/%s%d", folder, name, number);
}

/* Opens three at a time: more than a dump and its folder. */
static bool dump_to_file(const struct guard_crossing *crossing) {
    char path[64];
    path_of("dump", files, path, sizeof path);
    int in = hp_sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    int again = hp_sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    int fd = hp_sys_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    bool done = in >= 0 && again >= 0 && fd >= 0 && hp_sys_write(fd, "dump", 4) == 4 && hp_sys_fsync(fd) == 0;
    (void)hp_sys_close(fd);
    (void)hp_sys_close(again);
    (void)hp_sys_close(in);
    seen.crossings[0] = *crossing;
    files += done;
    return done;
}

static bool begins_with_files(void) {
    host.dump = dump_to_file;
    CHECK(begins());
    guard_start();
    return comes(&seen.begun, 1, 5000);
}

static off_t size_of(const char *name, int number) {
    char path[64];
    struct stat st;
    path_of(name, number, path, sizeof path);
    return stat(path, &st) == 0 ? st.st_size : -1;
}

static void with_no_descriptor_left_a_dump_is_written(void) {
    CHECK(begins_with_files());
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while (dup(1) >= 0) {
    }
    CHECK(errno == EMFILE);
    CHECK(open("/dev/null", O_RDONLY) < 0 && errno == EMFILE);
    guard_out_of_memory(1);
    CHECK(files == 1 && size_of("dump", 0) == 4);
    CHECK(seen.crossings[0].reading.usage == 20 * MIB); /* was read, too */
}

static void with_three_numbers_in_all_a_dump_is_written(void) {
    struct rlimit limit = {.rlim_cur = 3, .rlim_max = 3};
    begin();
    host.dump = dump_to_file;
    CHECK(guard_init(&options, &host));
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    guard_start();
    CHECK(comes(&seen.begun, 1, 5000));
    guard_out_of_memory(1);
    CHECK(files == 1 && size_of("dump", 0) == 4);
}

/* As daemons do; the numbers are then the application's own files. */
static void an_application_that_closes_and_reopens_everything(void) {
    CHECK(begins_with_files());
    for (int round = 0; round < 3; round++) {
        for (int fd = 0; fd < 256; fd++) {
            (void)close(fd);
        }
        for (int i = 0; i < FILES; i++) {
            char path[64];
            path_of("own", i, path, sizeof path);
            if (open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) != i) {
                _exit(2); /* a number was taken: by whom? */
            }
        }
        guard_request(); /* wakes */
        sleep_ms(5);
        guard_out_of_memory(1);
        sleep_ms(5);
        for (int i = 0; i < FILES; i++) {
            if (size_of("own", i) != 0 || lseek(i, 0, SEEK_CUR) != 0 || write(i, "x", 1) != 1) {
                _exit(3);
            }
        }
    }
    if (files != 2 || size_of("dump", 0) != 4 || size_of("dump", 1) != 4) {
        _exit(4); /* two at once is what the budget has */
    }
}

/* Whether `text` comes within five seconds; NULL: the end of the file. Sanitizers say things of their own. */
static bool has_text(int fd, const char *text) {
    static char said[16384];
    size_t len = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, 5000) == 1) {
        ssize_t n = read(fd, said + len, sizeof said - 1 - len);
        if (n <= 0) {
            return text == NULL;
        }
        len += (size_t)n;
        said[len] = '\0';
        if (text != NULL && strstr(said, text) != NULL) {
            return true;
        }
    }
    return false;
}

/* The guard's thread says this within a second or so. */
static void change_limit(const char *bytes) {
    guard_tree_write("/sys/fs/cgroup/a/memory.max", bytes);
}

static void lines_go_where_standard_error_is_now(void) {
    hp_log_set_level(HP_LOG_INFO);
    int null = open("/dev/null", O_RDWR);
    CHECK(begins_with_files());
    for (int round = 0; round < 3; round++) {
        int ends[2];
        int rc = round == 1 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends); /* as journald's */
        CHECK(rc == 0 && dup2(ends[1], 2) == 2 && close(ends[1]) == 0);
        change_limit(round % 2 == 0 ? "120000000\n" : "134217728\n");
        if (!has_text(ends[0], "heapprof: the limits have changed")) {
            _exit(5 + round);
        }
        (void)dup2(null, 2);
        if (!has_text(ends[0], NULL)) { /* the end: nobody has a copy */
            _exit(8 + round);
        }
        (void)close(ends[0]);
    }
    (void)close(2);
    change_limit("110000000\n"); /* a line that is lost */
    sleep_ms(1500);
}

/* A launcher reads its daemon's standard error until the end, which is when the daemon lets go of it. */
static void a_launcher_is_not_held_up(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t daemon = fork();
    if (daemon == 0) {
        CHECK(dup2(ends[1], 2) == 2 && close(ends[0]) == 0 && close(ends[1]) == 0);
        CHECK(begins_with_files());
        guard_out_of_memory(1);
        int null = open("/dev/null", O_RDWR);
        (void)dup2(null, 2);
        sleep_ms(20000);
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    CHECK(has_text(ends[0], NULL));
    int status = 0;
    CHECK(waitpid(daemon, &status, WNOHANG) == 0); /* and it lives on */
    CHECK(kill(daemon, SIGKILL) == 0 && waitpid(daemon, &status, 0) == daemon);
}

static void write_in_callback(const struct guard_crossing *crossing) {
    (void)crossing;
    callback_could_write = write(of_application, "x", 1) == 1;
    pid_t child = fork(); /* has what its parent has */
    if (child == 0) {
        _exit(write(of_application, "y", 1) == 1 ? 0 : 1);
    }
    int status = -1;
    callback_could_write = waitpid(child, &status, 0) == child && status == 0 && callback_could_write;
    seen.pressures++;
}

static void callbacks_have_the_applications_descriptors(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    of_application = ends[1];
    host.pressure = write_in_callback;
    CHECK(begins_with_files());
    set_usage(127);
    CHECK(comes(&seen.pressures, 1, 5000));
    CHECK(callback_could_write);
    CHECK(has_text(ends[0], "x"));
}

/* As the seccomp filters of container runtimes, or an old kernel: these calls fail. */
static void deny(const int *calls, unsigned count) {
    struct sock_filter code[2 * 8 + 2];
    unsigned n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void without_leave_the_table_is_shared(void) {
    static const int calls[] = {SYS_close_range};
    deny(calls, 1);
    hp_log_set_level(HP_LOG_INFO);
    CHECK(begins_with_files());
    int ends[2];
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    change_limit("120000000\n");
    if (!has_text(ends[0], "heapprof: the limits have changed")) {
        _exit(5);
    }
    guard_out_of_memory(1);
    if (files != 1) {
        _exit(6);
    }
}

static void lines_are_written_without_leave_to_copy(void) {
    static const int calls[] = {SYS_pidfd_getfd};
    deny(calls, 1);
    hp_log_set_level(HP_LOG_INFO);
    CHECK(begins_with_files());
    int ends[2];
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    change_limit("120000000\n");
    if (!has_text(ends[0], "heapprof: the limits have changed")) {
        _exit(5);
    }
    char path[64];
    path_of("log", 0, path, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT, 0600); /* not for appending: what is there must stay */
    if (write(file, "before\n", 7) != 7 || dup2(file, 2) != 2) {
        _exit(6);
    }
    change_limit("134217728\n");
    sleep_ms(2000);
    char start[8] = "";
    int again = open(path, O_RDONLY);
    if (size_of("log", 0) <= 7 || read(again, start, 7) != 7 || strcmp(start, "before\n") != 0) {
        _exit(7);
    }
}

SCENARIO(with_no_descriptor_left_a_dump_is_written)
SCENARIO(with_three_numbers_in_all_a_dump_is_written)
SCENARIO(an_application_that_closes_and_reopens_everything)
SCENARIO(lines_go_where_standard_error_is_now)
SCENARIO(a_launcher_is_not_held_up)
SCENARIO(callbacks_have_the_applications_descriptors)
SCENARIO(without_leave_the_table_is_shared)
SCENARIO(lines_are_written_without_leave_to_copy)

static int set_up_folder(void **state) {
    (void)memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return mkdtemp(folder) != NULL ? set_up(state) : -1;
}

static int tear_down_folder(void **state) {
    static const char *const names[] = {"dump", "own", "log"};
    for (int i = 0; i < 3 * FILES; i++) {
        char path[64];
        path_of(names[i % 3], i / 3, path, sizeof path);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    return tear_down(state);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up_folder, tear_down_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(with_no_descriptor_left_a_dump_is_written),
        TEST(with_three_numbers_in_all_a_dump_is_written),
        TEST(an_application_that_closes_and_reopens_everything),
        TEST(lines_go_where_standard_error_is_now),
        TEST(a_launcher_is_not_held_up),
        TEST(callbacks_have_the_applications_descriptors),
        TEST(without_leave_the_table_is_shared),
        TEST(lines_are_written_without_leave_to_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
