/*
 * witness SHARED LIMIT FOLDER COMMAND…: runs COMMAND, which starts grow in a memory cgroup of LIMIT bytes,
 * and writes down, from outside of that cgroup, what was in use when its usage passed 95 % of the limit.
 *
 * It looks some 10,000 times a second at the cgroup's usage, the number by which the kernel kills, and at the
 * program's own count (survival.h). Of each passing from below 95 % it notes that count at the last look
 * before and at the first look after: what was in use at the passing lies between the two. The last passing
 * before the end is the one that counts; it falls below 94 % before it can pass again. Usage is charged in
 * batches of 64 pages a processor, so it is 0.2 % or so from the truth; file cache is in it, so a run that
 * writes thousands of files passes early. Also: the most files that FOLDER had at once, looked at every 5 ms.
 * The result is one JSON object on standard output.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "survival.h"

enum { PATH_BYTES = 4096, LINE_BYTES = 8192, STATUS_FAILED = 3 };

#define LOOK_EVERY_NS 50000
#define COUNT_FILES_EVERY_NS INT64_C(5000000)

/* The program's count at one look, a slot each. */
struct look {
    int64_t when; /* ns */
    uint64_t usage;
    uint64_t in_use[SURVIVAL_SLOTS];
};

struct crossing {
    struct look before, after;
};

static struct survival_shared *shared;
static uint64_t limit;
static int usage_fd = -1;
static struct look last_look;
static struct crossing last_crossing;
static unsigned crossings;
static uint64_t peak;
static unsigned files_max;
static unsigned long looks;

__attribute__((noreturn)) static void fail(const char *what) {
    perror(what);
    exit(STATUS_FAILED);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void make_shared(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0) {
        fail(path);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (shared == MAP_FAILED) {
        fail(path);
    }
    memset(shared, 0, sizeof *shared); /* the pages are charged to us, not to the cgroup */
    atomic_store(&shared->limit, limit);
    close(fd);
}

/* Where the memory controller is mounted: mount point and root of the mount. Returns the version, 0: nowhere.
 */
static int find_mount(char *point, char *root) {
    char line[LINE_BYTES];
    int version = 0;
    FILE *f = fopen("/proc/self/mountinfo", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const char *rest = strstr(line, " - ");
        if (rest == NULL) {
            continue;
        }
        int found = strncmp(rest, " - cgroup2 ", 11) == 0                                    ? 2
                    : strncmp(rest, " - cgroup ", 10) == 0 && strstr(rest, "memory") != NULL ? 1
                                                                                             : 0;
        if (found != 0 && version != 1 && sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) == 2) {
            version = found;
        }
        if (version == 1 && found == 1) {
            break;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return version;
}

/* The cgroup's path of `pid` in the hierarchy of `version`. */
static bool find_path(int pid, int version, char *path) {
    char line[LINE_BYTES];
    bool found = false;
    snprintf(path, PATH_BYTES, "/proc/%d/cgroup", pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        char *controllers = strchr(line, ':');
        char *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (name == NULL) {
            continue;
        }
        *name++ = '\0';
        name[strcspn(name, "\n")] = '\0';
        found = version == 2 ? controllers[1] == '\0' : strstr(controllers, "memory") != NULL;
        snprintf(path, PATH_BYTES, "%s", name);
    }
    if (f != NULL) {
        fclose(f);
    }
    return found;
}

static void open_usage(int pid) {
    static char point[PATH_BYTES], root[PATH_BYTES], path[PATH_BYTES], file[3 * PATH_BYTES];
    int version = find_mount(point, root);
    if (version == 0 || !find_path(pid, version, path)) {
        return;
    }
    size_t hidden = strcmp(root, "/") != 0 && strncmp(path, root, strlen(root)) == 0 ? strlen(root) : 0;
    snprintf(file, sizeof file, "%s%s/%s", point, path + hidden,
             version == 1 ? "memory.usage_in_bytes" : "memory.current");
    usage_fd = open(file, O_RDONLY | O_CLOEXEC);
}

static uint64_t read_usage(void) {
    char text[32];
    ssize_t n = pread(usage_fd, text, sizeof text - 1, 0);
    if (n <= 0) {
        return 0; /* the cgroup is gone */
    }
    text[n] = '\0';
    return strtoull(text, NULL, 10);
}

static void count_files(const char *folder) {
    unsigned count = 0;
    DIR *d = opendir(folder);
    const struct dirent *e = NULL;
    while (d != NULL && (e = readdir(d)) != NULL) {
        count += e->d_name[0] != '.';
    }
    if (d != NULL) {
        closedir(d);
    }
    files_max = count > files_max ? count : files_max;
}

/* The program's counts first: they only grow with the usage that follows. */
static void look(void) {
    struct look this = {.when = now()};
    static bool is_above;
    for (unsigned i = 0; i < SURVIVAL_SLOTS; i++) {
        this.in_use[i] = atomic_load_explicit(&shared->slots[i].in_use, memory_order_relaxed);
    }
    this.usage = read_usage();
    if (this.usage == 0) {
        return;
    }
    looks++;
    atomic_store_explicit(&shared->usage, this.usage, memory_order_relaxed);
    peak = this.usage > peak ? this.usage : peak;
    if (!is_above && this.usage >= limit / 100 * 95) {
        is_above = true;
        crossings++;
        /* The look after counts what is in use by now, not before the usage was read. */
        for (unsigned i = 0; i < SURVIVAL_SLOTS; i++) {
            this.in_use[i] = atomic_load_explicit(&shared->slots[i].in_use, memory_order_relaxed);
        }
        last_crossing = (struct crossing){.before = last_look, .after = this};
    } else if (is_above && this.usage < limit / 100 * 94) {
        is_above = false;
    }
    last_look = this;
}

static uint64_t sum_of(const uint64_t *in_use, int pid) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < SURVIVAL_SLOTS; i++) {
        sum += atomic_load(&shared->slots[i].pid) == pid ? in_use[i] : 0;
    }
    return sum;
}

static void tell(int status) {
    uint64_t at_end[SURVIVAL_SLOTS];
    int first = atomic_load(&shared->pid);
    int killed = atomic_load(&shared->killed_pid);
    int pid = killed != 0 ? killed : first;
    for (unsigned i = 0; i < SURVIVAL_SLOTS; i++) {
        at_end[i] = atomic_load(&shared->slots[i].in_use);
    }
    printf("{\"status\": %d, \"pid\": %d, \"crossings\": %u, \"in_use_before\": %lu, \"in_use_after\": %lu, "
           "\"in_use_at_end\": %lu, \"crossing_us\": %ld, \"usage_at_crossing\": %lu, \"usage_peak\": %lu, "
           "\"files_max\": %u, \"looks\": %lu}\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), pid, crossings,
           sum_of(last_crossing.before.in_use, pid), sum_of(last_crossing.after.in_use, pid),
           sum_of(at_end, pid), (long)(last_crossing.after.when - last_crossing.before.when) / 1000,
           last_crossing.after.usage, peak, files_max, looks);
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fputs("usage: witness SHARED LIMIT FOLDER COMMAND…\n", stderr);
        return 2;
    }
    limit = strtoull(argv[2], NULL, 10);
    make_shared(argv[1]);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[4], &argv[4]);
        fail(argv[4]);
    }
    (void)setpriority(PRIO_PROCESS, 0, -10); /* where allowed */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    int status = 0;
    int64_t counted = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        int pid = atomic_load(&shared->pid);
        if (usage_fd < 0 && pid != 0) {
            open_usage(pid);
        }
        if (usage_fd >= 0) {
            look();
        }
        if (now() - counted >= COUNT_FILES_EVERY_NS) {
            count_files(argv[3]);
            counted = now();
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_NS}, NULL);
    }
    count_files(argv[3]);
    tell(status);
    return 0;
}
