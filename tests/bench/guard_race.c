/*
 * The race between a growing process and its limit, seen from outside: how long after usage has passed the last
 * threshold the dump is there, and durable, and how far usage has come by then. guard.py makes the runs.
 *
 *   guard_race look FOLDER SHARED LIMIT COMMAND…     runs COMMAND, and looks at it until it ends
 *   guard_race grow SHARED LIMIT MB_A_SECOND STACKS  grows, in a memory cgroup, until it is killed; 0: as fast as it can
 *
 * It looks at the cgroup's usage every 50 us, and is told of the files in FOLDER by inotify. Times are us from the moment
 * when usage passed 95 % of LIMIT, bytes are usage above that; both are negative when the dump came first.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bench.h"

enum { LEVELS = 16, STACK_OBJECT = 4096, CHUNK = 64 << 10, LOOK_EVERY_NS = 50000, SECONDS_MAX = 60 };

struct shared {
    char usage_file[4096]; /* written before the next one */
    _Atomic int is_ready;
};

static struct shared *shared;
static void *volatile escape;
static volatile unsigned even_calls, odd_calls;

static void map_shared(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0) {
        perror(path);
        exit(1);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    (void)close(fd);
}

static void sleep_ns(double ns) {
    (void)nanosleep(&(struct timespec){.tv_sec = (long)(ns / 1e9), .tv_nsec = (long)ns % 1000000000}, NULL);
}

static double now_ns(void) {
    return bench_now_ns(CLOCK_MONOTONIC);
}

/* -- Growing -- */

static void even(unsigned long path, int levels);
static void odd(unsigned long path, int levels);

static void hold(size_t bytes) {
    escape = memset(malloc(bytes), 1, bytes);
}

/* The path's bits choose the functions on the stack. */
static void descend(unsigned long path, int levels) {
    if (levels == 0) {
        hold(STACK_OBJECT);
    } else if ((path & 1) != 0) {
        odd(path >> 1, levels - 1);
    } else {
        even(path >> 1, levels - 1);
    }
}

static void even(unsigned long path, int levels) {
    descend(path, levels);
    even_calls++; /* not the same code as odd() */
}

static void odd(unsigned long path, int levels) {
    descend(path, levels);
    odd_calls++;
}

/* Where the kernel counts this process: on v1 if the memory controller is there, as tools/memcg.sh has it. */
static void tell_usage_file(void) {
    char line[2048];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *v1 = strstr(line, ":memory:");
        if (v1 != NULL) {
            (void)snprintf(shared->usage_file, sizeof shared->usage_file,
                           "/sys/fs/cgroup/memory%s/memory.usage_in_bytes", v1 + strlen(":memory:"));
            break;
        }
        if (strncmp(line, "0::", 3) == 0) {
            (void)snprintf(shared->usage_file, sizeof shared->usage_file, "/sys/fs/cgroup%s/memory.current", line + 3);
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
}

static void grow(size_t limit, double mb_a_second, unsigned long stacks) {
    (void)alarm(SECONDS_MAX);
    for (unsigned long i = 0; i < stacks; i++) {
        descend(i, LEVELS);
    }
    for (size_t held = stacks * STACK_OBJECT; held < limit / 2; held += CHUNK) {
        hold(CHUNK);
    }
    tell_usage_file();
    atomic_store(&shared->is_ready, 1);
    sleep_ns(3e8); /* both have seen that */
    double start = now_ns();
    for (double grown = 0;; grown += CHUNK) {
        double ahead = mb_a_second > 0 ? start + grown / mb_a_second * 1e3 - now_ns() : 0;
        if (ahead > 1e5) {
            sleep_ns(ahead);
        }
        hold(CHUNK);
    }
}

/* -- Looking -- */

static struct {
    double usage, crossed, published, durable; /* bytes; ns, 0: not yet */
    double usage_published, usage_durable;
} seen;

static double read_usage(int fd) {
    char text[32];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return strtod(text, NULL);
}

/* A dump is there with its name, and durable when who wrote it closes it, which is after fsync(). The last one counts. */
static void take_file_events(int fd) {
    char events[4096] __attribute__((aligned(8)));
    ssize_t n = read(fd, events, sizeof events);
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const void *)(events + at);
        if ((e->mask & (IN_CREATE | IN_MOVED_TO)) != 0 && e->len > 0 && strstr(e->name, ".limit95.pb.gz") != NULL &&
            e->name[0] != '.' && (seen.published == 0 || seen.crossed == 0)) {
            seen.published = now_ns();
            seen.usage_published = seen.usage;
            seen.durable = 0;
        } else if ((e->mask & IN_CLOSE_WRITE) != 0 && seen.published != 0 && seen.durable == 0) {
            seen.durable = now_ns();
            seen.usage_durable = seen.usage;
        }
        at += (ssize_t)(sizeof *e + e->len);
    }
}

static int look(const char *folder, double last, char **command) {
    int usage_fd = -1;
    int status = 0;
    int events_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (inotify_add_watch(events_fd, folder, IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
        perror(folder);
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)execvp(command[0], command);
        perror(command[0]);
        _exit(1);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (usage_fd < 0 && atomic_load(&shared->is_ready) != 0) {
            usage_fd = open(shared->usage_file, O_RDONLY | O_CLOEXEC);
        }
        double usage = usage_fd < 0 ? 0 : read_usage(usage_fd);
        seen.usage = usage > 0 ? usage : seen.usage;
        if (seen.crossed == 0 && seen.usage >= last) {
            seen.crossed = now_ns();
        }
        take_file_events(events_fd);
        sleep_ns(LOOK_EVERY_NS);
    }
    take_file_events(events_fd);
    printf("status=%d\nwon=%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           seen.crossed != 0 && seen.durable != 0);
    printf("published_us=%.0f\ndurable_us=%.0f\n", (seen.published - seen.crossed) / 1e3,
           (seen.durable - seen.crossed) / 1e3);
    printf("published_bytes=%.0f\ndurable_bytes=%.0f\n", seen.usage_published - last, seen.usage_durable - last);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 5 && strcmp(argv[1], "look") == 0) {
        map_shared(argv[3]);
        return look(argv[2], strtod(argv[4], NULL) * 0.95, argv + 5);
    }
    if (argc == 6 && strcmp(argv[1], "grow") == 0) {
        map_shared(argv[2]);
        grow(strtoul(argv[3], NULL, 10), strtod(argv[4], NULL), strtoul(argv[5], NULL, 10));
    }
    (void)fprintf(stderr, "usage: guard_race look FOLDER SHARED LIMIT COMMAND… | grow SHARED LIMIT MB_A_SECOND STACKS\n");
    return 2;
}
