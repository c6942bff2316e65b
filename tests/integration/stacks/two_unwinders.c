/*
 * Preloaded into real programs: takes the stack of one in so many allocations by heapprof's unwinder and by
 * libunwind, and compares the two. In the end it adds a line to the file $TWO_UNWINDERS:
 *
 *   PROGRAM compared DIFFERENT different, DEEPEST frames at the most
 *
 * and before that the first different pairs. libunwind is loaded privately: linked in it would take the C++
 * runtime's place as the unwinder of exceptions. The allocations themselves are the C library's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "heapprof/unwind/unwinder.h"

enum { DEPTH_MAX = 128, OWN_FRAMES_MAX = 8, EVERY = 23, SHOWN = 3, LINE = 4096 };

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static int (*their_backtrace)(void **pcs, int max);
static int report = -1;
static atomic_uint allocations;
static atomic_uint compared;
static atomic_uint different;
static atomic_uint deepest;
static _Thread_local bool is_busy;

static void write_stacks(const uintptr_t *ours, uint32_t depth, void *const *theirs, int their_depth) {
    char line[LINE];
    int used = snprintf(line, sizeof line, "ours:");
    for (uint32_t i = 0; i < depth && used < LINE - 20; i++) {
        used += snprintf(line + used, (size_t)(LINE - used), " %lx", ours[i]);
    }
    used += used < LINE - 20 ? snprintf(line + used, (size_t)(LINE - used), "\ntheirs:") : 0;
    for (int i = 0; i < their_depth && used < LINE - 20; i++) {
        used += snprintf(line + used, (size_t)(LINE - used), " %lx", (uintptr_t)theirs[i]);
    }
    used += snprintf(line + used, (size_t)(LINE - used), "\n");
    (void)!write(report, line, (size_t)used);
}

/* Of their frames, return addresses, the first that is ours too; -1: none is. */
static int find_caller(const void *caller, void *const *theirs, int their_depth) {
    for (int i = 0; i < their_depth && i < OWN_FRAMES_MAX; i++) {
        if (theirs[i] == caller) {
            return i;
        }
    }
    return -1;
}

/* Return addresses are told by the calling instruction before them, but in interrupted frames. */
static bool is_same(const uintptr_t *ours, uint32_t depth, void *const *theirs, int their_depth) {
    for (uint32_t i = 0; i < depth; i++) {
        uintptr_t their_pc = (int)i < their_depth ? (uintptr_t)theirs[i] : 0;
        if (ours[i] != their_pc - 1 && ours[i] != their_pc) {
            return false;
        }
    }
    return (int)depth == their_depth || depth == DEPTH_MAX;
}

__attribute__((noinline)) static void compare(const void *caller) {
    uintptr_t ours[DEPTH_MAX];
    void *frames[DEPTH_MAX + OWN_FRAMES_MAX];
    struct hp_unwound end;
    uint32_t depth = hp_unwinder_take(ours, DEPTH_MAX, caller, &end);
    int count = their_backtrace(frames, DEPTH_MAX + OWN_FRAMES_MAX);
    int own = find_caller(caller, frames, count);
    void **theirs = frames + (own < 0 ? 0 : own);
    int their_depth = own < 0 ? 0 : count - own;
    atomic_fetch_add(&compared, 1);
    if (!is_same(ours, depth, theirs, their_depth) && atomic_fetch_add(&different, 1) < SHOWN) {
        write_stacks(ours, depth, theirs, their_depth);
    }
    if (depth > deepest) {
        deepest = depth;
    }
}

static void look(const void *caller) {
    if (their_backtrace == NULL || is_busy || atomic_fetch_add(&allocations, 1) % EVERY != 0) {
        return;
    }
    int saved = errno;
    is_busy = true;
    compare(caller);
    is_busy = false;
    errno = saved;
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
    look(__builtin_return_address(0));
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
    look(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size) {
    look(__builtin_return_address(0));
    return __libc_realloc(p, size);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TWO_UNWINDERS");
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    report = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (library != NULL && report >= 0 && hp_unwinder_init()) {
        *(void **)&their_backtrace = dlsym(library, "unw_backtrace");
    }
}

__attribute__((destructor)) static void end(void) {
    char line[LINE];
    is_busy = true;
    int used = snprintf(line, sizeof line, "%s compared %u: %u different, %u frames at the most\n",
                        program_invocation_short_name, compared, different, deepest);
    (void)!write(report, line, (size_t)used);
}
