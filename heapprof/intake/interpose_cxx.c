/*
 * operator new and delete, all of C++17's, under their mangled names (Itanium C++ ABI): in C, so that a C
 * program that preloads heapprof need not load a C++ runtime.
 *
 * When memory is out, the C++ runtime's own operator of the same name takes over: it calls malloc (ours), the
 * new handler, and throws std::bad_alloc, or returns NULL where it is nothrow. That is its contract, whichever
 * runtime it is.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "heapprof/base/log.h"
#include "heapprof/intake/allocator.h"
#include "heapprof/intake/interpose.h"
#include "heapprof/recorder.h"

/* A runtime that is linked statically has no operator for dlsym to find, since ours took its place; what it
 * needs of its own may still be there. A handler can only have been set where get_new_handler is linked. */
typedef void new_handler(void);
extern new_handler *_ZSt15get_new_handlerv(void) __attribute__((weak));
extern void _ZSt17__throw_bad_allocv(void) __attribute__((weak));

/* The operator `name` of the C++ runtime; NULL when there is none. Takes the loader's lock. */
static void *runtime_operator(const char *name) {
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1"};
    void *found = dlsym(RTLD_NEXT, name);
    for (unsigned i = 0; found == NULL && i < sizeof runtimes / sizeof runtimes[0]; i++) {
        /* Loaded by dlopen for some plugin alone, it is not in our scope. */
        void *runtime = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
        found = runtime != NULL ? dlsym(runtime, name) : NULL;
    }
    return found;
}

static void *new_without_runtime(size_t size, int flags, bool nothrow) {
    while (_ZSt15get_new_handlerv != NULL && _ZSt15get_new_handlerv() != NULL) {
        _ZSt15get_new_handlerv()();
        void *object = je_mallocx(size, flags);
        if (object != NULL) {
            return object;
        }
    }
    if (!nothrow && _ZSt17__throw_bad_allocv != NULL) {
        _ZSt17__throw_bad_allocv();
    }
    if (!nothrow) {
        hp_log(HP_LOG_ERROR, "operator new is out of memory, and there is no C++ runtime to throw bad_alloc");
        abort();
    }
    return NULL;
}

/* The four signatures of operator new. */
typedef void *new_plain(size_t size);
typedef void *new_nothrow(size_t size, const void *tag);
typedef void *new_aligned(size_t size, size_t alignment);
typedef void *new_aligned_nothrow(size_t size, size_t alignment, const void *tag);

#define DEFINE_NEW(name, signature, parameters, arguments, flags, ordinary, nothrow)                         \
    static __attribute__((noinline, cold)) void *failed_##name parameters {                                  \
        signature *next = (signature *)runtime_operator(#name);                                              \
        return next != NULL ? next arguments : new_without_runtime(size + (size == 0), flags, nothrow);      \
    }                                                                                                        \
    HP_EXPORT void *name parameters;                                                                         \
    HP_EXPORT void *name parameters {                                                                        \
        hp_no_malloc_check();                                                                                \
        void *object = hp_sampler_passes(size) ? NULL : hp_recorder_alloc(size, flags, HP_CALLER);           \
        if (__builtin_expect(object == NULL, 1)) {                                                           \
            object = ordinary;                                                                               \
        }                                                                                                    \
        return __builtin_expect(object != NULL, 1) ? object : failed_##name arguments;                       \
    }

#define ALIGN_FLAG hp_allocator_align_flag(alignment)

DEFINE_NEW(_Znwm, new_plain, (size_t size), (size), 0, je_malloc(size), false)
DEFINE_NEW(_Znam, new_plain, (size_t size), (size), 0, je_malloc(size), false)
DEFINE_NEW(_ZnwmRKSt9nothrow_t, new_nothrow, (size_t size, const void *tag), (size, tag), 0, je_malloc(size), true)
DEFINE_NEW(_ZnamRKSt9nothrow_t, new_nothrow, (size_t size, const void *tag), (size, tag), 0, je_malloc(size), true)
DEFINE_NEW(_ZnwmSt11align_val_t, new_aligned, (size_t size, size_t alignment), (size, alignment), ALIGN_FLAG,
           je_aligned_alloc(alignment, size), false)
DEFINE_NEW(_ZnamSt11align_val_t, new_aligned, (size_t size, size_t alignment), (size, alignment), ALIGN_FLAG,
           je_aligned_alloc(alignment, size), false)
DEFINE_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, new_aligned_nothrow, (size_t size, size_t alignment, const void *tag),
           (size, alignment, tag), ALIGN_FLAG, je_aligned_alloc(alignment, size), true)
DEFINE_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, new_aligned_nothrow, (size_t size, size_t alignment, const void *tag),
           (size, alignment, tag), ALIGN_FLAG, je_aligned_alloc(alignment, size), true)

/* The six signatures of operator delete, each for one object and for an array. Unsized ones are free(). */
#define DEFINE_DELETE(name, parameters, body)                                                                \
    HP_EXPORT void name parameters;                                                                          \
    HP_EXPORT void name parameters {                                                                         \
        hp_no_malloc_check();                                                                                \
        body;                                                                                                \
    }

#define DEFINE_DELETE_UNSIZED(name, parameters) DEFINE_DELETE(name, parameters, hp_free(object))
#define DEFINE_DELETE_SIZED(name, parameters, flags)                                                         \
    DEFINE_DELETE(name, parameters, hp_free_of_size(object, size + (size == 0), flags))

#define UNUSED __attribute__((unused))

DEFINE_DELETE_UNSIZED(_ZdlPv, (void *object))
DEFINE_DELETE_UNSIZED(_ZdaPv, (void *object))
DEFINE_DELETE_UNSIZED(_ZdlPvRKSt9nothrow_t, (void *object, UNUSED const void *tag))
DEFINE_DELETE_UNSIZED(_ZdaPvRKSt9nothrow_t, (void *object, UNUSED const void *tag))
DEFINE_DELETE_UNSIZED(_ZdlPvSt11align_val_t, (void *object, UNUSED size_t alignment))
DEFINE_DELETE_UNSIZED(_ZdaPvSt11align_val_t, (void *object, UNUSED size_t alignment))
DEFINE_DELETE_UNSIZED(_ZdlPvSt11align_val_tRKSt9nothrow_t,
                      (void *object, UNUSED size_t alignment, UNUSED const void *tag))
DEFINE_DELETE_UNSIZED(_ZdaPvSt11align_val_tRKSt9nothrow_t,
                      (void *object, UNUSED size_t alignment, UNUSED const void *tag))
DEFINE_DELETE_SIZED(_ZdlPvm, (void *object, size_t size), 0)
DEFINE_DELETE_SIZED(_ZdaPvm, (void *object, size_t size), 0)
DEFINE_DELETE_SIZED(_ZdlPvmSt11align_val_t, (void *object, size_t size, size_t alignment), ALIGN_FLAG)
DEFINE_DELETE_SIZED(_ZdaPvmSt11align_val_t, (void *object, size_t size, size_t alignment), ALIGN_FLAG)
