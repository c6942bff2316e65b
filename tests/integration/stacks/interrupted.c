/*
 * interrupted SECONDS RANGES SITES DUMP [alternate]: a signal hits an allocating thread thousands of times a
 * second, in the middle of a sample more often than not, and its handler allocates, reallocates and frees;
 * with "alternate" on a stack of its own. In the end everything is freed, and a dump written.
 *
 * No malloc may be entered again while it holds its locks: jemalloc's own would hang such a handler with or
 * without heapprof. So the handler acts only where the signal has hit the program itself or one of the
 * functions of heapprof's that the file RANGES lists ("OFFSET SIZE" in the library, hexadecimal).
 */
#include <stdatomic.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "dump_now.h"
#include "sites.h"

SITE(regular);
SITE(in_handler);

enum { KEPT = 64, RANGES_MAX = 1000 };

extern const char __executable_start[];
extern const char etext[];

static void *_Atomic kept[KEPT];
static struct {
    uintptr_t start;
    uintptr_t end;
} ranges[RANGES_MAX];
static int range_count;
static volatile bool done;
static volatile unsigned long hits_in_program;
static volatile unsigned long hits_in_heapprof;
static pthread_t main_thread;

SITE_FUNCTION(regular) void *regular(void *p, size_t n) {
    p = realloc(p, n);
    CHECK(p != NULL);
    return p;
}

SITE_FUNCTION(in_handler) void *in_handler(void *p, size_t n) {
    p = p == NULL ? malloc(n) : realloc(p, n);
    if (p == NULL) {
        abort();
    }
    return p;
}

static bool may_allocate(uintptr_t pc) {
    if (pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext) {
        hits_in_program++;
        return true;
    }
    for (int i = 0; i < range_count; i++) {
        if (pc >= ranges[i].start && pc < ranges[i].end) {
            hits_in_heapprof++;
            return true;
        }
    }
    return false;
}

/* Whatever is in a slot is freed or moved; whatever is put there the main thread will free or move. */
static void on_signal(int number, siginfo_t *info, void *context) {
    static unsigned turn;
    const ucontext_t *interrupted = context;
    (void)number;
    (void)info;
#if defined(__x86_64__)
    uintptr_t pc = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    uintptr_t pc = (uintptr_t)interrupted->uc_mcontext.pc;
#endif
    int saved = errno;
    if (may_allocate(pc)) {
        void *p = atomic_exchange_explicit(&kept[turn % KEPT], NULL, memory_order_acq_rel);
        if (turn % 3 == 0) {
            free(p);
            p = NULL;
        }
        p = in_handler(p, 1 + turn % 5000);
        free(atomic_exchange_explicit(&kept[(turn + 7) % KEPT], p, memory_order_acq_rel));
        turn++;
    }
    errno = saved;
}

static void *send_signals(void *unused) {
    while (!done) {
        pthread_kill(main_thread, SIGUSR1);
        usleep(20);
    }
    return unused;
}

static void read_ranges(const char *path) {
    void *found = dlsym(RTLD_DEFAULT, "heapprof_version");
    Dl_info library;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && found != NULL && dladdr(found, &library) != 0);
    unsigned long offset = 0;
    unsigned long size = 0;
    while (range_count < RANGES_MAX && fscanf(file, "%lx %lx", &offset, &size) == 2) {
        ranges[range_count].start = (uintptr_t)library.dli_fbase + offset;
        ranges[range_count++].end = (uintptr_t)library.dli_fbase + offset + size;
    }
    fclose(file);
}

static void catch_signal(bool on_own_stack) {
    static char stack[256 << 10];
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    if (on_own_stack) {
        stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
        CHECK(sigaltstack(&own, NULL) == 0);
        action.sa_flags |= SA_ONSTACK;
    }
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
}

static void allocate_for(unsigned seconds) {
    time_t end = time(NULL) + (time_t)seconds + 1;
    for (unsigned turn = 0; time(NULL) < end; turn++) {
        void *p = atomic_exchange_explicit(&kept[turn % KEPT], NULL, memory_order_acq_rel);
        p = regular(p, 1 + turn * 7 % 9000);
        free(atomic_exchange_explicit(&kept[turn % KEPT], p, memory_order_acq_rel));
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 5 || argc == 6);
    unsigned seconds = (unsigned)atoi(argv[1]);
    pthread_t sender;
    alarm(seconds + 50);
    main_thread = pthread_self();
    read_ranges(argv[2]);
    catch_signal(argc == 6);
    CHECK(pthread_create(&sender, NULL, send_signals, NULL) == 0);
    allocate_for(seconds);
    done = true;
    CHECK(pthread_join(sender, NULL) == 0);
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < KEPT; i++) {
        free(kept[i]);
    }
    printf("handlers that allocated: in the program %lu, in heapprof %lu\n", hits_in_program,
           hits_in_heapprof);
    CHECK(hits_in_heapprof > 20);
    FILE *file = fopen(argv[3], "w");
    CHECK(file != NULL);
    dump_now(argv[4]);
    site_print_all(file);
    fclose(file);
    return 0;
}
