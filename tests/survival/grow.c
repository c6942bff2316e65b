/*
 * grow SHARED PATTERN [SEED] [SECONDS] [FILE]: grows in one of many ways, until the kernel kills it.
 *
 * Each pattern holds most of its memory in one function, the culprit, whose name begins with leak_, and some
 * in others, so that a profile that guesses is wrong. What is in use is told in SHARED (survival.h). SEED
 * varies sizes and order, SECONDS is how long the patterns take that have a time. Ends by itself after 120
 * seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "survival.h"

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)
#ifdef __clang__
#define SITE __attribute__((noinline)) static
#else
#define SITE __attribute__((noinline, noclone)) static
#endif

enum { PAGE = 4096, LIFETIME_SECONDS = 120, STATUS_FAILED = 3 };

static struct survival_shared *shared;
static uint64_t limit;
static double seconds = 8;
static const char *file_to_read;

static _Thread_local struct survival_slot *slot;
static _Thread_local void *held; /* a list, so that nothing is unreachable */
static _Thread_local uint64_t random_state = 1;

__attribute__((noreturn)) static void fail(const char *what) {
    perror(what);
    exit(STATUS_FAILED);
}

static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t random_between(size_t low, size_t high) {
    return low + random_number() % (high - low + 1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pause_us(long us) {
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* -- What is in use -- */

static void take_slot(void) {
    uint32_t index = atomic_fetch_add(&shared->slots_taken, 1);
    if (index >= SURVIVAL_SLOTS) {
        errno = ENOSPC;
        fail("slots");
    }
    slot = &shared->slots[index];
    atomic_store(&slot->pid, getpid());
}

static uint64_t in_use(void) {
    return atomic_load_explicit(&slot->in_use, memory_order_relaxed);
}

/* A slot has one writer. */
static void count(size_t bytes) {
    atomic_store_explicit(&slot->in_use, in_use() + bytes, memory_order_relaxed);
}

static void discount(size_t bytes) {
    atomic_store_explicit(&slot->in_use, in_use() - bytes, memory_order_relaxed);
}

static void *counted(void *object, size_t bytes) {
    if (object == NULL) {
        fail("malloc");
    }
    count(bytes);
    return object;
}

/* Counts, touches and keeps. */
static void hold(void *object, size_t bytes, int fill) {
    memset(counted(object, bytes), fill, bytes);
    *(void **)object = held;
    held = object;
}

/* -- 64 KiB chunks -- */

SITE void leak_chunk(void) {
    hold(malloc(64 * KIB), 64 * KIB, 1);
}

SITE void note_chunk(size_t bytes) {
    hold(malloc(bytes), bytes, 2);
}

static void grow_chunks(void) {
    for (;;) {
        leak_chunk();
        note_chunk(random_between(64, 24 * KIB));
    }
}

/* -- small objects -- */

SITE void leak_object(size_t bytes) {
    hold(malloc(bytes), bytes, 3);
}

SITE void note_object(size_t bytes) {
    hold(malloc(bytes), bytes, 4);
}

static void grow_small(void) {
    for (;;) {
        leak_object(random_between(16, 400));
        if (random_number() % 3 == 0) {
            note_object(random_between(16, 200));
        }
    }
}

/* -- one huge allocation, at a fifth of the limit -- */

SITE void load_base(size_t bytes) {
    while (in_use() < bytes) {
        note_object(random_between(100, 4 * KIB));
    }
}

SITE char *leak_table(size_t bytes) {
    return counted(malloc(bytes), bytes);
}

static void touch(volatile char *memory, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PAGE) {
        memory[at] = 5;
    }
}

static void grow_huge(void) {
    size_t bytes = random_between(200, 240) * MIB;
    load_base(limit / 5);
    touch(leak_table(bytes), bytes);
}

/* 100 MB at once (CASES.md, G14): not yet the end, which a leak of others then brings. */
static void grow_spike(void) {
    load_base(limit / 5);
    touch(leak_table(100 * MIB), 100 * MIB);
    for (;;) {
        note_object(random_between(100, 4 * KIB));
    }
}

/* -- a buffer that doubles -- */

SITE char *leak_buffer(char *buffer, size_t before, size_t bytes) {
    char *larger = realloc(buffer, bytes);
    if (larger == NULL) {
        fail("realloc");
    }
    count(bytes - before);
    return larger;
}

static void grow_realloc(void) {
    size_t bytes = random_between(600 * KIB, 1200 * KIB);
    char *buffer = leak_buffer(NULL, 0, bytes);
    memset(buffer, 7, bytes);
    for (;;) {
        buffer = leak_buffer(buffer, bytes, 2 * bytes);
        memset(buffer + bytes, 7, bytes);
        bytes *= 2;
        note_object(random_between(1 * KIB, 64 * KIB));
    }
}

/* -- eight threads at once -- */

static pthread_barrier_t all_there;

SITE void leak_of_thread(size_t bytes) {
    hold(malloc(bytes), bytes, 8);
}

static void *grow_thread(void *seed) {
    random_state = (uint64_t)(uintptr_t)seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    take_slot();
    pthread_barrier_wait(&all_there);
    for (;;) {
        leak_of_thread(random_between(512, 8 * KIB));
        note_object(random_between(16, 1 * KIB));
    }
    return NULL;
}

static void grow_threads(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_there, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, grow_thread, (void *)(uintptr_t)(random_number() >> 16)) != 0) {
            fail("pthread_create");
        }
    }
    pthread_join(threads[0], NULL);
}

/* -- eight threads that each ask for much, then touch all of it at once -- */

SITE char *leak_share(size_t bytes) {
    return counted(malloc(bytes), bytes);
}

static void *burst(void *unused) {
    const size_t bytes = 30 * MIB;
    take_slot();
    char *share = leak_share(bytes);
    pthread_barrier_wait(&all_there);
    touch(share, bytes);
    pause();
    return unused;
}

static void grow_burst(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_there, NULL, THREADS);
    load_base(10 * MIB);
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, burst, NULL) != 0) {
            fail("pthread_create");
        }
    }
    pthread_join(threads[0], NULL);
}

/* -- a heap that stands still, and memory that malloc knows nothing of -- */

static void grow_outside(void) {
    size_t bytes = 200 * MIB;
    while (in_use() < limit / 2) {
        leak_object(random_between(16, 4 * KIB));
    }
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fail("mmap");
    }
    pause_us((long)random_between(300000, 1500000));
    touch(memory, bytes);
}

/* -- beside threads that leave it no processor -- */

static void *spin(void *unused) {
    static volatile unsigned turns;
    for (;;) {
        turns++;
    }
    return unused;
}

static void grow_starved(void) {
    for (int i = 0; i < 16; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, spin, NULL) != 0) {
            fail("pthread_create");
        }
    }
    grow_chunks();
}

/* -- a big mapping, touched long after it was asked for: slowly, then as fast as it goes -- */

SITE char *leak_pool(size_t bytes) {
    return counted(malloc(bytes), bytes);
}

static void grow_lazy(void) {
    size_t bytes = random_between(150, 180) * MIB;
    char *pool = leak_pool(bytes);
    for (size_t at = 0; at < bytes; at += MIB) {
        touch(pool + at, MIB);
        note_object(random_between(100, 64 * KIB));
        if (at < 50 * MIB) {
            pause_us(20000);
        }
    }
}

/* -- a leak that speeds up, over `seconds` -- */

static void grow_slow(void) {
    const double steepness = 4;
    double start = now();
    for (;;) {
        double progress = (now() - start) / seconds;
        double share = expm1(steepness * progress) / expm1(steepness);
        while ((double)in_use() < share * (double)limit) {
            leak_object(random_between(64, 4 * KIB));
            note_object(random_between(16, 256));
        }
        pause_us(1000);
    }
}

/* -- churn around a growing core -- */

SITE void leak_core(size_t bytes) {
    hold(malloc(bytes), bytes, 9);
}

SITE void *churn_object(size_t bytes) {
    return memset(counted(malloc(bytes), bytes), 10, bytes);
}

static void grow_churn(void) {
    enum { OBJECTS = 8192 };
    static struct {
        void *object;
        size_t bytes;
    } churned[OBJECTS];
    for (;;) {
        size_t i = random_number() % OBJECTS;
        discount(churned[i].bytes);
        free(churned[i].object);
        churned[i].bytes = random_between(16, random_number() % 16 == 0 ? 32 * KIB : 2 * KIB);
        churned[i].object = churn_object(churned[i].bytes);
        if (random_number() % 4 == 0) {
            leak_core(random_between(32, 4 * KIB));
        }
    }
}

/* -- fork servers: workers without exec -- */

SITE void leak_session(size_t bytes) {
    hold(malloc(bytes), bytes, 11);
}

SITE void load_settings(size_t bytes) {
    while (in_use() < bytes) {
        note_object(random_between(100, 4 * KIB));
    }
}

__attribute__((noreturn)) static void work(uint64_t inherited, unsigned seed, bool is_slow) {
    alarm(LIFETIME_SECONDS);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the server ends when one was killed */
    take_slot();
    count(inherited);
    random_state += seed;
    for (;;) {
        leak_session(random_between(64, 8 * KIB));
        note_object(random_between(16, 512));
        if (is_slow && random_number() % 4 == 0) {
            pause_us(1000);
        }
    }
}

/* Which of the workers that are dead by now had the most in use: the kernel may kill more than one, and a
 * small one is gone sooner. */
static void tell_killed(void) {
    uint64_t most = 0;
    pid_t gone = wait(NULL);
    pause_us(20000);
    for (; gone > 0; gone = waitpid(-1, NULL, WNOHANG)) {
        for (size_t i = 0; i < SURVIVAL_SLOTS; i++) {
            const struct survival_slot *of = &shared->slots[i];
            if (atomic_load(&of->pid) == gone && atomic_load(&of->in_use) > most) {
                most = atomic_load(&of->in_use);
                atomic_store(&shared->killed_pid, gone);
            }
        }
    }
}

static void serve(unsigned workers, bool all_leak) {
    load_settings(MIB);
    for (unsigned i = 0; i < workers; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            fail("fork");
        }
        if (pid == 0) {
            work(in_use(), i, !all_leak && i > 0);
        }
    }
    tell_killed();
}

/* One of four leaks, the others grow slowly. */
static void grow_fork(void) {
    serve(4, false);
}

/* Eight that leak alike (CASES.md, G18). */
static void grow_prefork(void) {
    serve(8, true);
}

/* -- thousands of stacks (CASES.md, G15): the way down to the leak is another one each time -- */

static volatile unsigned left_turns, right_turns;

SITE void leak_leaf(size_t bytes) {
    hold(malloc(bytes), bytes, 12);
}

SITE void turn_right(unsigned way, unsigned depth);

SITE void turn_left(unsigned way, unsigned depth) {
    if (depth == 0) {
        leak_leaf(random_between(512, 2 * KIB));
    } else {
        (way & 1 ? turn_left : turn_right)(way >> 1, depth - 1);
    }
    left_turns++;
}

SITE void turn_right(unsigned way, unsigned depth) {
    if (depth == 0) {
        leak_leaf(random_between(512, 2 * KIB));
    } else {
        (way & 1 ? turn_left : turn_right)(way >> 1, depth - 1);
    }
    right_turns++;
}

static void grow_stacks(void) {
    for (;;) {
        turn_left((unsigned)random_number(), 14);
    }
}

/* -- What is not to be killed; steered by the usage that the witness sees -- */

static double usage_share(void) {
    return (double)atomic_load_explicit(&shared->usage, memory_order_relaxed) / (double)limit;
}

/* The usage that stands for `in_use`, from the difference when all stood still: the witness may be late. */
static double overhead;

static void measure_overhead(void) {
    pause_us(50000);
    overhead = usage_share() - (double)in_use() / (double)limit;
}

static double expected_share(void) {
    return (double)in_use() / (double)limit + overhead;
}

static void *pop_held(void) {
    void *object = held;
    held = *(void **)object;
    return object;
}

/* Up and down across all thresholds (P15). */
static void swing(void) {
    double end = now() + seconds;
    while (in_use() < limit / 100 * 60) {
        leak_chunk();
    }
    while (now() < end) {
        measure_overhead();
        while (expected_share() < 0.965) {
            leak_chunk();
            pause_us(200);
        }
        while (expected_share() > 0.70) {
            discount(64 * KIB);
            free(pop_held());
            pause_us(20);
        }
    }
}

SITE void leak_late(size_t bytes) {
    hold(malloc(bytes), bytes, 14);
}

/* A sawtooth of one function, then another one's leak, to the end. */
static void grow_late(void) {
    swing();
    while (held != NULL) {
        discount(64 * KIB);
        free(pop_held());
    }
    for (;;) {
        leak_late(random_between(512, 8 * KIB));
    }
}

SITE void leak_block(void) {
    hold(malloc(MIB), MIB, 13);
}

/* Up to 80 % at once, from there to 99 % slowly (P16), in blocks that are all sampled: what a dump lacks is
 * then what came after it. */
static void climb(void) {
    while (in_use() < limit / 100 * 60) {
        leak_block();
    }
    measure_overhead();
    while (expected_share() < 0.79) {
        leak_block();
        pause_us(1000);
    }
    double start = now();
    double from = (double)in_use();
    double rise = 0.20 * (double)limit;
    while (usage_share() < 0.985 && now() - start < 2 * seconds) {
        if ((double)in_use() < from + rise * (now() - start) / seconds) {
            leak_block();
        }
        pause_us(2000);
    }
    pause_us(500000);
}

/* A file larger than the limit, read by a program with a heap of 20 MB that is busy with itself (P17, G11).
 */
static void read_file(void) {
    enum { OBJECTS = 1024 };
    void *objects[OBJECTS] = {NULL};
    char *buffer = malloc(64 * KIB);
    int fd = open(file_to_read, O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;
    if (fd < 0 || buffer == NULL) {
        fail(file_to_read);
    }
    load_settings(19 * MIB);
    while ((got = read(fd, buffer, 64 * KIB)) > 0) {
        for (int i = 0; i < 32; i++) {
            size_t at = random_number() % OBJECTS;
            free(objects[at]);
            objects[at] = malloc(random_between(16, 2 * KIB));
        }
    }
    if (got < 0) {
        fail(file_to_read);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} patterns[] = {
    {"chunks", grow_chunks},   {"small", grow_small},     {"huge", grow_huge},       {"spike", grow_spike},
    {"realloc", grow_realloc}, {"threads", grow_threads}, {"lazy", grow_lazy},       {"slow", grow_slow},
    {"churn", grow_churn},     {"fork", grow_fork},       {"prefork", grow_prefork}, {"stacks", grow_stacks},
    {"burst", grow_burst},     {"outside", grow_outside}, {"starved", grow_starved}, {"late", grow_late},
    {"swing", swing},          {"climb", climb},          {"read_file", read_file},
};

static void map_shared(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        fail(path);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (shared == MAP_FAILED) {
        fail(path);
    }
    close(fd);
    limit = atomic_load(&shared->limit);
}

/* The witness has to find the cgroup first. */
static void wait_for_witness(void) {
    atomic_store(&shared->pid, getpid());
    for (int i = 0; i < 5000 && atomic_load(&shared->usage) == 0; i++) {
        pause_us(1000);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: grow SHARED PATTERN [SEED] [SECONDS] [FILE]\n", stderr);
        return 2;
    }
    map_shared(argv[1]);
    random_state = (argc > 3 ? strtoull(argv[3], NULL, 10) : 1) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    seconds = argc > 4 ? strtod(argv[4], NULL) : seconds;
    alarm(LIFETIME_SECONDS + (unsigned)seconds);
    file_to_read = argc > 5 ? argv[5] : "";
    take_slot();
    wait_for_witness();
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (strcmp(patterns[i].name, argv[2]) == 0) {
            patterns[i].run();
            return 0;
        }
    }
    fprintf(stderr, "grow: no pattern %s\n", argv[2]);
    return 2;
}
