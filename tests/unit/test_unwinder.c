/*
 * Our unwinder and libunwind's must see the same frames: on ordinary stacks, in threads, below library
 * callbacks, on alternate signal stacks, and after every single instruction of code that calls through PLTs,
 * pushes, pops, allocates on the stack and realigns it (the trap flag raises SIGTRAP after each).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define UNW_LOCAL_ONLY
#include <alloca.h>
#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "heapprof/unwind/unwinder.h"

enum { DEPTH_MAX = 128 };

static volatile unsigned keep;

/* How often the two were compared, and how often they differed. */
static unsigned compared;
static unsigned differed;
static unsigned deepest;

__attribute__((noinline)) static uint32_t take(uintptr_t *pcs, bool *truncated) {
    struct hp_unwound end;
    uint32_t depth = hp_unwinder_take(pcs, DEPTH_MAX, __builtin_return_address(0), &end);
    *truncated = end.truncated;
    return depth;
}

static void show(const uintptr_t *ours, uint32_t depth, void *const *theirs, int their_depth) {
    for (uint32_t i = 0; i < depth || (int)i < their_depth; i++) {
        print_message("  %2u  %#lx  %#lx\n", i, i < depth ? ours[i] : 0, (int)i < their_depth ? (uintptr_t)theirs[i] : 0);
    }
}

/* Takes the stack both ways, from this function's caller outward. */
__attribute__((noinline)) static void compare(void) {
    uintptr_t ours[DEPTH_MAX];
    void *theirs[DEPTH_MAX + 1];
    bool truncated = false;
    uint32_t depth = take(ours, &truncated);
    int their_depth = unw_backtrace(theirs, DEPTH_MAX);
    compared++;
    deepest = depth > deepest ? depth : deepest;
    /* Frame 0 is this function, at two places in it. Return addresses are told by the call before them. */
    bool same = depth == (uint32_t)their_depth && !truncated;
    for (uint32_t i = 1; same && i < depth; i++) {
        uintptr_t their_pc = (uintptr_t)theirs[i];
        same = ours[i] == their_pc - 1 || ours[i] == their_pc;
    }
    if (!same) {
        if (differed++ < 3) {
            show(ours, depth, theirs, their_depth);
        }
    }
}

static void begin(void) {
    compared = 0;
    differed = 0;
    deepest = 0;
}

__attribute__((noinline)) static unsigned recurse(unsigned n) {
    if (n == 0) {
        compare();
        return 1;
    }
    unsigned below = recurse(n - 1);
    return below + keep;
}

static void test_recursion(void **state) {
    (void)state;
    begin();
    for (unsigned n = 0; n < 100; n++) {
        recurse(n);
    }
    assert_int_equal(compared, 100);
    assert_int_equal(differed, 0);
    assert_true(deepest > 100);
}

static int compare_ints(const void *a, const void *b) {
    compare();
    return *(const int *)a - *(const int *)b;
}

static void test_below_library_callbacks(void **state) {
    (void)state;
    int values[] = {3, 1, 2, 5, 4};
    begin();
    qsort(values, 5, sizeof values[0], compare_ints);
    assert_true(compared > 4);
    assert_int_equal(differed, 0);
}

static void *in_thread(void *arg) {
    recurse(10);
    return arg;
}

static void test_threads(void **state) {
    (void)state;
    begin();
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(compared, 4);
    assert_int_equal(differed, 0);
}

__attribute__((noinline)) static void realigned(unsigned n) {
    /* More alignment than the ABI gives: the compiler keeps the old stack pointer aside. */
    volatile char block[128] __attribute__((aligned(64)));
    char *more = alloca(n * 16);
    memset(more, 1, n * 16);
    block[0] = more[0];
    compare();
    keep += (unsigned)block[0];
}

static void test_moving_stack_pointers(void **state) {
    (void)state;
    begin();
    for (unsigned n = 1; n < 20; n++) {
        realigned(n);
    }
    assert_int_equal(compared, 19);
    assert_int_equal(differed, 0);
}

static void on_signal(int number) {
    (void)number;
    compare();
}

static void catch_on(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void test_signal_frames(void **state) {
    (void)state;
    begin();
    catch_on(SIGUSR1, on_signal, 0);
    raise(SIGUSR1);
    assert_int_equal(compared, 1);
    assert_int_equal(differed, 0);
}

static void test_alternate_signal_stack(void **state) {
    (void)state;
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    assert_int_equal(sigaltstack(&stack, NULL), 0);
    begin();
    catch_on(SIGUSR2, on_signal, SA_ONSTACK);
    raise(SIGUSR2);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    free(stack.ss_sp);
    assert_int_equal(compared, 1);
    assert_int_equal(differed, 0);
}

/* Instructions of the C library and the loader, among them PLT entries (ours, and a lazily bound one). */
__attribute__((noinline)) static void work(void) {
    char text[200];
    int values[] = {9, 8, 7, 3, 1, 2};
    snprintf(text, sizeof text, "%d %s %5.2f", 42, "words", 3.25);
    keep += (unsigned)strtoul(text, NULL, 10);
    qsort(values, 6, sizeof values[0], (int (*)(const void *, const void *))strcmp);
    free(malloc(100));
    keep += dlsym(RTLD_DEFAULT, "malloc") != NULL;
}

#define TRAP_FLAG 0x100UL

__attribute__((noinline)) static void single_step(void (*function)(void)) {
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "cc", "memory");
    function();
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG) : "cc", "memory");
}

static void test_after_every_instruction(void **state) {
    (void)state;
    begin();
    catch_on(SIGTRAP, on_signal, 0);
    single_step(work);
    signal(SIGTRAP, SIG_DFL);
    print_message("%u stacks compared, %u frames at the most\n", compared, deepest);
    assert_true(compared > 2000);
    assert_int_equal(differed, 0);
}

/* A stack that no one told us of, with the next page unmapped and a frame at its top whose "caller" is no
 * code: the walk ends cleanly. */
static ucontext_t main_context;
static ucontext_t fibre_context;
static uint32_t fibre_depth;

static void fibre(void) {
    uintptr_t pcs[DEPTH_MAX];
    bool truncated = false;
    fibre_depth = take(pcs, &truncated);
    swapcontext(&fibre_context, &main_context);
}

static void test_fibres_on_foreign_stacks(void **state) {
    (void)state;
    size_t bytes = 16 << 10;
    for (int i = 0; i < 50; i++) {
        char *stack = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_int_equal(munmap(stack + bytes, 4096), 0);
        getcontext(&fibre_context);
        fibre_context.uc_stack.ss_sp = stack;
        fibre_context.uc_stack.ss_size = bytes;
        fibre_context.uc_link = NULL;
        makecontext(&fibre_context, fibre, 0);
        fibre_depth = 0;
        swapcontext(&main_context, &fibre_context);
        assert_true(fibre_depth >= 1);
        munmap(stack, bytes);
    }
}

static uint32_t wild_depth;
static bool wild_truncated;

static void below_wild_frame(void) {
    uintptr_t pcs[DEPTH_MAX];
    wild_depth = take(pcs, &wild_truncated);
}

/* A frame pointer that leads nowhere, in code that has no tables. */
static void test_wild_frames_end_the_walk(void **state) {
    (void)state;
    /* push rbp; mov rbp, imm64; call rdi; pop rbp; ret — no unwind tables. */
    static const unsigned char code[] = {0x55, 0x48, 0xbd, 8, 0, 0, 0, 0xad, 0xde, 0, 0, 0xff, 0xd7, 0x5d, 0xc3};
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
    void (*run)(void (*)(void)) = (void (*)(void (*)(void)))(void *)page;
    wild_depth = 0;
    run(below_wild_frame);
    assert_int_equal(wild_depth, 2); /* the function itself, and the code without tables */
    assert_true(wild_truncated);
    munmap(page, 4096);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_below_library_callbacks),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_moving_stack_pointers),
        cmocka_unit_test(test_signal_frames),
        cmocka_unit_test(test_alternate_signal_stack),
        cmocka_unit_test(test_after_every_instruction),
        cmocka_unit_test(test_fibres_on_foreign_stacks),
        cmocka_unit_test(test_wild_frames_end_the_walk),
    };
    if (!hp_unwinder_init()) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
