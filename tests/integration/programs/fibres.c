/*
 * fibres BYTES: 200 fibres on stacks of so many bytes each, below which lies a page that may not be touched,
 * switch among each other and allocate, reallocate and free at several depths; in two threads at a time.
 * Prints a sum.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "check.h"

enum { FIBRES = 200, TURNS = 30, THREADS = 2 };

struct fibre {
    ucontext_t context;
    ucontext_t *home;
    unsigned number;
    unsigned long sum;
    char *kept;
};

static __attribute__((noinline)) char *allocate(unsigned depth, size_t bytes) {
    char *p = depth == 0 ? malloc(bytes) : allocate(depth - 1, bytes);
    if (p == NULL) {
        abort();
    }
    p[0] = (char)depth; /* work behind the call */
    return p;
}

static void run(unsigned high, unsigned low) {
    struct fibre *f = (struct fibre *)(((uintptr_t)high << 32) | low);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        char *p = allocate(turn % 8, 1 + (f->number * 37 + turn * 113) % 6000);
        f->kept = realloc(f->kept, 10 + turn * 100);
        if (f->kept == NULL) {
            abort();
        }
        f->kept[turn] = (char)turn;
        if (swapcontext(&f->context, f->home) != 0) {
            abort();
        }
        f->sum += (unsigned long)f->kept[turn] + f->number;
        free(p);
    }
    free(f->kept);
}

static void begin(struct fibre *f, ucontext_t *home, size_t bytes) {
    char *stack = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED && mprotect(stack, 4096, PROT_NONE) == 0 && getcontext(&f->context) == 0);
    f->home = home;
    f->context.uc_stack.ss_sp = stack + 4096;
    f->context.uc_stack.ss_size = bytes;
    f->context.uc_link = home;
    makecontext(&f->context, (void (*)(void))run, 2, (unsigned)((uintptr_t)f >> 32), (unsigned)(uintptr_t)f);
}

static void *run_all(void *bytes) {
    static __thread struct fibre fibres[FIBRES];
    ucontext_t home;
    unsigned long sum = 0;
    for (unsigned i = 0; i < FIBRES; i++) {
        fibres[i].number = i;
        begin(&fibres[i], &home, (size_t)(uintptr_t)bytes);
    }
    for (unsigned turn = 0; turn <= TURNS; turn++) {
        for (unsigned i = 0; i < FIBRES; i++) {
            CHECK(swapcontext(&home, &fibres[i].context) == 0);
        }
    }
    for (unsigned i = 0; i < FIBRES; i++) {
        sum += fibres[i].sum;
        CHECK(munmap((char *)fibres[i].context.uc_stack.ss_sp - 4096,
                     fibres[i].context.uc_stack.ss_size + 4096) == 0);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    size_t bytes = strtoul(argv[1], NULL, 10);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_all, (void *)bytes) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *sum = NULL;
        CHECK(pthread_join(threads[i], &sum) == 0);
        printf("%lu\n", (unsigned long)(uintptr_t)sum);
    }
    return 0;
}
