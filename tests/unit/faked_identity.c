#include "tests/unit/faked_identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int64_t wall_ns = -1;
static const char *host;
static int pid;

void fake_wall_clock(int64_t ns) {
    wall_ns = ns;
}

void fake_host(const char *name, int new_pid) {
    host = name;
    pid = new_pid;
}

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts) {
    if (clock != CLOCK_REALTIME || wall_ns < 0) {
        return __real_clock_gettime(clock, ts);
    }
    *ts = (struct timespec){.tv_sec = wall_ns / 1000000000, .tv_nsec = wall_ns % 1000000000};
    return 0;
}

int __real_uname(struct utsname *names);
int __wrap_uname(struct utsname *names);
int __wrap_uname(struct utsname *names) {
    if (host != NULL && strcmp(host, "!") == 0) {
        errno = EFAULT;
        return -1;
    }
    int rc = __real_uname(names);
    if (host != NULL) {
        (void)snprintf(names->nodename, sizeof names->nodename, "%s", host);
    }
    return rc;
}

pid_t __real_getpid(void);
pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void) {
    return pid != 0 ? pid : __real_getpid();
}
