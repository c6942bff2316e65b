/*
 * control/control_socket, session and socket_folder, with a fake host: each test has a listener of its own in
 * a child process. The clients are plain sockets.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"
#include "heapprof/control/control_socket.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/scratch.h"

static const char state[] = "{\"heapprof\":\"test\"}";
enum { PROFILE_BYTES = 3 * 1000 * 1000 + 7, NOBODY = 65534 };

/* -- The host; by system calls, since ThreadSanitizer takes a number for the same file in all tables. -- */

static char scratch_folder[512];

static _Atomic int begun;
static _Atomic int profiles;
static _Atomic int disk_fails;
static _Atomic int write_fails;

static void begin(void) {
    begun++;
}

static size_t write_state(char *text, size_t cap) {
    (void)snprintf(text, cap, "%s", state);
    return sizeof state - 1;
}

static char profile_byte(size_t i) {
    return (char)(i * 7 + i / 251);
}

static int write_profile(int fd) {
    static const size_t step = 4096;
    char bytes[4096];
    profiles++;
    for (size_t at = 0; at < PROFILE_BYTES; at += step) {
        size_t n = PROFILE_BYTES - at < step ? PROFILE_BYTES - at : step;
        for (size_t i = 0; i < n; i++) {
            bytes[i] = profile_byte(at + i);
        }
        if (hp_sys_write(fd, bytes, n) != (ssize_t)n) {
            return errno;
        }
    }
    return write_fails != 0 ? write_fails : 0;
}

static int open_scratch(bool in_memory) {
    if (!in_memory && disk_fails != 0) {
        errno = EROFS;
        return -1;
    }
    return hp_sys_open(scratch_folder, O_TMPFILE | O_RDWR, 0600);
}

static const struct hp_control_host host = {.thread_begin = begin,
                                            .write_status = write_state,
                                            .write_profile = write_profile,
                                            .open_scratch = open_scratch};

static bool listens_in(const char *folder, bool is_common) {
    static char path[4096];
    (void)snprintf(path, sizeof path, "%s", folder);
    (void)snprintf(scratch_folder, sizeof scratch_folder, "%s", scratch_path(""));
    struct hp_control_config config = {.host = &host, .folders = {path}, .are_common = is_common};
    hp_log_set_level(HP_LOG_INFO);
    hp_control_init(&config);
    if (!hp_control_wants_start()) {
        return false;
    }
    hp_control_start();
    return !hp_control_wants_start();
}

/* A listener that found no folder has ended, and nobody has joined it: no leak. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "report_thread_leaks=0:die_after_fork=0";
}

/* -- Clients -- */

static void sleep_ms(long ms) {
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&ts, NULL);
}

static const char *own_name(void) {
    static char name[64];
    (void)snprintf(name, sizeof name, "%d.sock", (int)getpid());
    return name;
}

static bool exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static bool comes(const char *path) {
    for (int i = 0; i < 500 && !exists(path); i++) {
        sleep_ms(10);
    }
    return exists(path);
}

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path) {
        abort();
    }
    memcpy(address.sun_path, path, length);
    return address;
}

static int connect_to(const char *path) {
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static int connect_here(void) {
    return connect_to(scratch_path(own_name()));
}

static bool say(int fd, const char *text) {
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* All that comes until the end; how much. Closes. */
static size_t hear(int fd, char *bytes, size_t cap) {
    size_t length = 0;
    ssize_t n = 0;
    while (length < cap - 1 && (n = recv(fd, bytes + length, cap - 1 - length, 0)) > 0) {
        length += (size_t)n;
    }
    bytes[length] = '\0';
    (void)close(fd);
    return length;
}

static bool answers(int fd, const char *beginning) {
    char reply[512];
    (void)hear(fd, reply, sizeof reply);
    if (strncmp(reply, beginning, strlen(beginning)) != 0) {
        (void)fprintf(stderr, "the reply is: %s\n", reply);
        return false;
    }
    return true;
}

static bool works(void) {
    int fd = connect_here();
    return fd >= 0 && say(fd, "heapprof/1 status\n") &&
           answers(fd, "heapprof/1 ok 19\n{\"heapprof\":\"test\"}");
}

static unsigned entries(const char *path) {
    unsigned count = 0;
    DIR *folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count - 2;
}

/* -- What works -- */

static int answers_status(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false));
    CHILD_CHECK(comes(scratch_path(own_name())));
    struct stat st;
    CHILD_CHECK(lstat(scratch_path(own_name()), &st) == 0 && S_ISSOCK(st.st_mode) &&
                (st.st_mode & 0777) == 0600);
    for (int i = 0; i < 50; i++) {
        CHILD_CHECK(works());
    }
    CHILD_CHECK(scratch_list("", NULL, 0) == 1); /* nothing but the socket */
    hp_control_remove();
    CHILD_CHECK(!exists(scratch_path(own_name())));
    return 0;
}

static int answers_profile(void) {
    static char reply[PROFILE_BYTES + 100];
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    for (int i = 0; i < 3; i++) {
        disk_fails = i; /* then it is made in memory */
        int fd = connect_here();
        CHILD_CHECK(fd >= 0 && say(fd, "heapprof/1 profile\n"));
        size_t length = hear(fd, reply, sizeof reply);
        const char *line = "heapprof/1 ok 3000007\n";
        CHILD_CHECK(length == PROFILE_BYTES + strlen(line) && strncmp(reply, line, strlen(line)) == 0);
        for (size_t n = 0; n < PROFILE_BYTES; n++) {
            CHILD_CHECK(reply[strlen(line) + n] == profile_byte(n));
        }
    }
    write_fails = EBUSY;
    int fd = connect_here();
    CHILD_CHECK(say(fd, "heapprof/1 profile\n") && answers(fd, "heapprof/1 error failed another dump"));
    write_fails = ENOSPC;
    fd = connect_here();
    CHILD_CHECK(say(fd, "heapprof/1 profile\n") && answers(fd, "heapprof/1 error failed no profile"));
    return 0;
}

/* A request that comes byte by byte is one. */
static int takes_bits(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    int fd = connect_here();
    for (const char *p = "heapprof/1 status\n"; *p != '\0'; p++) {
        CHILD_CHECK(send(fd, p, 1, MSG_NOSIGNAL) == 1);
        sleep_ms(5);
    }
    CHILD_CHECK(answers(fd, "heapprof/1 ok 19\n"));
    return 0;
}

static int refuses_nonsense(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    static const struct {
        const char *request;
        const char *reply;
    } rows[] = {
        {"GET / HTTP/1.0\r\n\r\n", "heapprof/1 error malformed "},
        {"heapprof/2 status\n", "heapprof/1 error version this process speaks version 1"},
        {"heapprof/1 ../../etc/passwd\n", "heapprof/1 error unknown "},
        {"heapprof/1 profile /tmp/x\n", "heapprof/1 error unknown "},
        {"heapprof/1 status\nheapprof/1 status\n", "heapprof/1 error malformed "},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        int fd = connect_here();
        CHILD_CHECK(fd >= 0 && say(fd, rows[i].request) && answers(fd, rows[i].reply));
    }
    char long_line[5000];
    memset(long_line, 'x', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = '\0';
    int fd = connect_here();
    (void)say(fd, long_line);
    CHILD_CHECK(answers(fd, "heapprof/1 error malformed "));
    fd = connect_here();
    CHILD_CHECK(say(fd, "heapprof/1 sta") && shutdown(fd, SHUT_WR) == 0 &&
                answers(fd, "heapprof/1 error malformed "));
    fd = connect_here(); /* and one that says nothing gets nothing */
    CHILD_CHECK(shutdown(fd, SHUT_WR) == 0);
    char reply[16];
    CHILD_CHECK(hear(fd, reply, sizeof reply) == 0);
    CHILD_CHECK(works());
    CHILD_CHECK(profiles == 0);
    return 0;
}

/* -- The folder -- */

/* No socket comes there; the caller looks at what was said. */
static int says_no(const char *folder) {
    (void)listens_in(folder, false);
    for (int i = 0; i < 300 && begun == 0; i++) {
        sleep_ms(10);
    }
    sleep_ms(300);
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, own_name());
    CHILD_CHECK(!exists(path));
    return 0;
}

static int in_an_open_folder(void) {
    CHILD_CHECK(mkdir(scratch_path("open"), 0700) == 0 && chmod(scratch_path("open"), 0755) == 0);
    return says_no(scratch_path("open"));
}

static int in_a_world_writable_folder(void) {
    CHILD_CHECK(mkdir(scratch_path("open"), 0700) == 0 && chmod(scratch_path("open"), 0777) == 0);
    return says_no(scratch_path("open"));
}

static int in_a_symlink(void) {
    CHILD_CHECK(mkdir(scratch_path("real"), 0700) == 0 && symlink("real", scratch_path("link")) == 0);
    CHILD_CHECK(says_no(scratch_path("link")) == 0);
    CHILD_CHECK(entries(scratch_path("real")) == 0);
    return 0;
}

static int in_somebody_elses_folder(void) {
    if (geteuid() != 0) {
        return CHILD_SKIP;
    }
    CHILD_CHECK(mkdir(scratch_path("theirs"), 0700) == 0 &&
                chown(scratch_path("theirs"), NOBODY, NOBODY) == 0);
    return says_no(scratch_path("theirs"));
}

static int in_a_file(void) {
    scratch_write("file", "", 0, 0);
    return says_no(scratch_path("file"));
}

static int below_nothing(void) {
    return says_no(scratch_path("not/there"));
}

static void complains(int (*body)(void), const char *words) {
    struct child_end end;
    child_run(body, &end);
    if (end.status == CHILD_SKIP) {
        skip();
    }
    assert_int_equal(end.status, 0);
    assert_non_null(strstr(end.said, words));
    assert_non_null(strstr(end.said, "heapprof: no control socket: "));
    const char *first = strstr(end.said, "heapprof: ");
    assert_null(strstr(first + 1, "heapprof: ")); /* one line; a sanitizer may have its own */
}

static void test_unsafe_folders(void **unused) {
    (void)unused;
    complains(in_an_open_folder, "/open is open to others: its mode must be 0700");
    assert_int_equal(scratch_make(unused), 0);
    complains(in_a_world_writable_folder, "/open is open to others: its mode must be 0700");
    complains(in_a_symlink, "/link is no folder of its own (a symlink or a file)");
    complains(in_a_file, "/file is no folder of its own (a symlink or a file)");
    complains(below_nothing, "/not/there can't be used: No such file or directory");
    complains(in_somebody_elses_folder, "/theirs belongs to another user");
}

/* The folder is made, with its mode, whatever the umask; the socket, too. */
static int makes_its_folder(void) {
    struct stat st;
    (void)umask(0777);
    CHILD_CHECK(listens_in(scratch_path(""), true));
    char path[512];
    (void)snprintf(path, sizeof path, "%s/heapprof-%u/%s", scratch_path(""), geteuid(), own_name());
    CHILD_CHECK(comes(path));
    CHILD_CHECK(lstat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
    *strrchr(path, '/') = '\0';
    CHILD_CHECK(lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0700);
    return 0;
}

/* An address has room for 107 bytes. */
static int in_a_deep_folder(void) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s", scratch_path(""));
    for (int i = 0; i < 5; i++) {
        (void)strcat(path, "/a-name-of-forty-bytes-for-a-deep-folder_");
        CHILD_CHECK(mkdir(path, 0700) == 0);
    }
    CHILD_CHECK(listens_in(path, false));
    char whole[1100];
    (void)snprintf(whole, sizeof whole, "%s/%s", path, own_name());
    CHILD_CHECK(comes(whole));
    CHILD_CHECK(chdir(path) == 0);
    int fd = connect_to(own_name());
    CHILD_CHECK(fd >= 0 && say(fd, "heapprof/1 status\n") && answers(fd, "heapprof/1 ok 19\n"));
    CHILD_CHECK(entries(path) == 1);
    return 0;
}

/* -- Left-overs -- */

static int make_socket(const char *name, bool listens) {
    struct sockaddr_un address = address_of(scratch_path(name));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || (listens && listen(fd, 5) != 0)) {
        abort();
    }
    if (!listens) {
        (void)close(fd);
    }
    return fd;
}

/* The number of a process that is no more. */
static int dead_pid(void) {
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    (void)waitpid(pid, NULL, 0);
    return pid;
}

static int removes_left_overs(void) {
    char dead[32];
    char elsewhere[32];
    char alive[32];
    (void)snprintf(dead, sizeof dead, "%d.sock", dead_pid());
    (void)snprintf(elsewhere, sizeof elsewhere, "%d.2.sock", dead_pid()); /* in another pid namespace, say */
    (void)snprintf(alive, sizeof alive, "%d.sock", (int)getppid());
    (void)make_socket(dead, false);
    (void)make_socket(elsewhere, true);
    (void)make_socket(alive, false);
    (void)make_socket(".77.sock.new", false);
    scratch_write("notes.sock", "", 0, 0);
    scratch_write("77.txt", "", 0, 0);
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    CHILD_CHECK(!scratch_has(dead) && !scratch_has(".77.sock.new"));
    CHILD_CHECK(scratch_has(elsewhere) && scratch_has(alive) && scratch_has("notes.sock") &&
                scratch_has("77.txt"));
    CHILD_CHECK(works());
    return 0;
}

/* The program before exec() has left it. */
static int takes_over_its_name(void) {
    (void)make_socket(own_name(), false);
    CHILD_CHECK(listens_in(scratch_path(""), false));
    for (int i = 0; i < 300 && begun < 1; i++) {
        sleep_ms(10);
    }
    sleep_ms(200);
    CHILD_CHECK(works());
    CHILD_CHECK(scratch_list("", NULL, 0) == 1);
    return 0;
}

static int has_a_namesake(void) {
    char second[64];
    (void)snprintf(second, sizeof second, "%d.2.sock", (int)getpid());
    (void)make_socket(own_name(), true);
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(second)));
    int fd = connect_to(scratch_path(second));
    CHILD_CHECK(fd >= 0 && say(fd, "heapprof/1 status\n") && answers(fd, "heapprof/1 ok 19\n"));
    hp_control_remove();
    CHILD_CHECK(!scratch_has(second) && scratch_has(own_name()));
    return 0;
}

/* -- Hostile and unlucky clients -- */

/* The folder keeps others out; and if it did not: */
static int refuses_another_user(void) {
    if (geteuid() != 0) {
        return CHILD_SKIP;
    }
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    char path[128];
    (void)snprintf(path, sizeof path, "%s", scratch_path(own_name()));
    pid_t kept_out = fork();
    if (kept_out == 0) {
        _exit(setuid(NOBODY) == 0 && connect_to(path) < 0 && errno == EACCES ? 0 : 1);
    }
    int status = 0;
    CHILD_CHECK(waitpid(kept_out, &status, 0) == kept_out && status == 0);
    CHILD_CHECK(chmod(scratch_path(""), 0755) == 0 && chmod(path, 0666) == 0);
    pid_t refused = fork();
    if (refused == 0) {
        int fd = setuid(NOBODY) == 0 ? connect_to(path) : -1;
        (void)say(fd, "heapprof/1 profile\n");
        _exit(fd >= 0 && answers(fd, "heapprof/1 error refused this process belongs to another user\n") ? 0
                                                                                                        : 1);
    }
    CHILD_CHECK(waitpid(refused, &status, 0) == refused && status == 0);
    CHILD_CHECK(profiles == 0 && works());
    return 0;
}

/* Four that say nothing take all sessions, for two seconds; a fifth is told. */
static int survives_silence(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    int silent[HP_SESSIONS];
    for (unsigned i = 0; i < HP_SESSIONS; i++) {
        silent[i] = connect_here();
        CHILD_CHECK(say(silent[i], "heapprof/1 sta"));
    }
    int fifth = connect_here();
    CHILD_CHECK(say(fifth, "heapprof/1 status\n") && answers(fifth, "heapprof/1 error busy "));
    for (unsigned i = 0; i < HP_SESSIONS; i++) {
        CHILD_CHECK(answers(silent[i], "heapprof/1 error late the request did not come within 2 seconds\n"));
    }
    CHILD_CHECK(works());
    return 0;
}

/* One that asks and never reads holds its own session only. */
static int survives_one_that_never_reads(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    int stuck = connect_here();
    CHILD_CHECK(say(stuck, "heapprof/1 profile\n"));
    for (int i = 0; i < 20; i++) {
        CHILD_CHECK(works());
        sleep_ms(20);
    }
    struct pollfd end = {.fd = stuck, .events = POLLRDHUP};
    CHILD_CHECK(poll(&end, 1, 14000) == 1); /* after 10 s it is given up */
    return 0;
}

static unsigned count_threads(void) {
    return entries("/proc/self/task");
}

/* The most descriptors that a thread's table has. */
static unsigned most_descriptors(void) {
    unsigned most = 0;
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry = NULL;
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        char path[300];
        char name[32] = "";
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        bool is_ours =
            file != NULL && fgets(name, sizeof name, file) != NULL && strncmp(name, "heapprof-", 9) == 0;
        if (file != NULL) {
            (void)fclose(file);
        }
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/fd", entry->d_name);
        unsigned count = is_ours ? entries(path) : 0;
        most = count > most ? count : most;
    }
    (void)closedir(tasks);
    return most;
}

/* 2,000 connections, 16 open at a time, most of them without a word. */
static int survives_a_flood(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    enum { OPEN = 16, ALL = 2000 };
    int fds[OPEN] = {0};
    unsigned before = count_threads();
    unsigned threads = 0;
    unsigned descriptors = 0;
    for (int i = 0; i < ALL; i++) {
        if (fds[i % OPEN] > 0) {
            (void)close(fds[i % OPEN]);
        }
        fds[i % OPEN] = connect_here();
        if (i % 3 == 0) {
            (void)say(fds[i % OPEN], i % 50 == 0 ? "heapprof/1 profile\n" : "\x01\x02");
        }
        if (i % 100 == 50) {
            unsigned now = count_threads();
            threads = now > threads ? now : threads;
            now = most_descriptors();
            descriptors = now > descriptors ? now : descriptors;
        }
    }
    for (int i = 0; i < OPEN; i++) {
        (void)close(fds[i]);
    }
    /* The sessions; 0 to 2, the socket and its signal, a connection and a scratch file each, one being
     * refused. */
    CHILD_CHECK(threads > before && threads <= before + HP_SESSIONS);
    CHILD_CHECK(descriptors >= 5 && descriptors <= 3 + 2 + 2 * HP_SESSIONS + 1);
    for (int i = 0; i < 100 && !works(); i++) {
        sleep_ms(100);
    }
    CHILD_CHECK(works());
    return 0;
}

/* Without a descriptor to be had the listener waits, and does not spin. */
static int survives_without_descriptors(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    struct rlimit before;
    CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    int fd = connect_here();
    struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    CHILD_CHECK(works());
    int second = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = address_of(scratch_path(own_name()));
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHILD_CHECK(connect(second, (const struct sockaddr *)&address, sizeof address) == 0);
    struct timespec cpu_before;
    struct timespec cpu_after;
    CHILD_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_before) == 0);
    sleep_ms(500);
    CHILD_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_after) == 0);
    CHILD_CHECK((cpu_after.tv_sec - cpu_before.tv_sec) * 1000 +
                    (cpu_after.tv_nsec - cpu_before.tv_nsec) / 1000000 <
                100);
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHILD_CHECK(say(second, "heapprof/1 status\n") && answers(second, "heapprof/1 ok 19\n"));
    (void)close(fd);
    return 0;
}

/* -- The process itself -- */

/* It may close whatever it finds, and put its own in the place. */
static int survives_close_all(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    CHILD_CHECK(works());
    for (int fd = 3; fd < 4096; fd++) {
        (void)close(fd);
    }
    CHILD_CHECK(open("/dev/null", O_RDONLY) == 3 && open("/dev/null", O_RDONLY) == 4);
    CHILD_CHECK(works());
    return 0;
}

/* A child has nothing until it starts its own; what it does leaves the parent's alone. */
static int forks(void) {
    CHILD_CHECK(listens_in(scratch_path(""), false) && comes(scratch_path(own_name())));
    CHILD_CHECK(works());
    pid_t pid = fork();
    if (pid == 0) {
        hp_control_fork_child();
        bool is_fresh = hp_control_wants_start();
        hp_control_remove(); /* as at its exit */
        hp_control_start();
        bool has_own = comes(scratch_path(own_name())) && works();
        hp_control_remove();
        _exit(is_fresh && has_own && !scratch_has(own_name()) ? 0 : 1);
    }
    int status = 0;
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHILD_CHECK(works());
    pid = fork();
    if (pid == 0) { /* as after vfork(), or a clone() of the application's own: nobody has told it */
        hp_control_remove();
        _exit(0);
    }
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHILD_CHECK(works());
    return 0;
}

/* Without hp_control_init(), or before a start, there is nothing. */
static int makes_nothing_unasked(void) {
    unsigned before = count_threads();
    CHILD_CHECK(!hp_control_wants_start());
    hp_control_start();
    hp_control_remove();
    hp_control_fork_child();
    CHILD_CHECK(count_threads() == before && scratch_list("", NULL, 0) == 0);
    return 0;
}

#define IN_CHILD(name)                                                                                       \
    static void test_##name(void **unused) {                                                                 \
        (void)unused;                                                                                        \
        child_must_succeed(name);                                                                            \
    }

IN_CHILD(answers_status)
IN_CHILD(answers_profile)
IN_CHILD(takes_bits)
IN_CHILD(refuses_nonsense)
IN_CHILD(makes_its_folder)
IN_CHILD(in_a_deep_folder)
IN_CHILD(removes_left_overs)
IN_CHILD(takes_over_its_name)
IN_CHILD(has_a_namesake)
IN_CHILD(refuses_another_user)
IN_CHILD(survives_silence)
IN_CHILD(survives_one_that_never_reads)
IN_CHILD(survives_a_flood)
IN_CHILD(survives_without_descriptors)
IN_CHILD(survives_close_all)
IN_CHILD(forks)
IN_CHILD(makes_nothing_unasked)

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, scratch_make, scratch_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(makes_nothing_unasked), TEST(answers_status),
        TEST(answers_profile),       TEST(takes_bits),
        TEST(refuses_nonsense),      TEST(unsafe_folders),
        TEST(makes_its_folder),      TEST(in_a_deep_folder),
        TEST(removes_left_overs),    TEST(takes_over_its_name),
        TEST(has_a_namesake),        TEST(refuses_another_user),
        TEST(survives_silence),      TEST(survives_one_that_never_reads),
        TEST(survives_a_flood),      TEST(survives_without_descriptors),
        TEST(survives_close_all),    TEST(forks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
