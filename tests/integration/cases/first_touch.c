/*
 * first_touch LIBRARY PLUGIN: new threads whose very first allocation, or first touch of a thread-local
 * variable, comes after libraries were loaded (P5): LIBRARY is heapprof, loaded late into a program that has
 * another malloc, unless it is there already; PLUGIN has thread-local memory that libc allocates at the first
 * touch, inside of which it allocates.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 16 };

typedef void *malloc_function(size_t);
typedef void free_function(void *);
typedef size_t touch_function(size_t);

static malloc_function *allocate;
static free_function *release;
static touch_function *touch;
static int way;

static void find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    CHECK(found != NULL);
    memcpy(function, &found, sizeof found);
}

static void *begin(void *number) {
    size_t n = (size_t)(uintptr_t)number;
    if (n % 2 == 0) {
        CHECK(touch(n) == n + 1); /* before anything was allocated on this thread */
    }
    for (size_t i = 1; i < 300; i++) {
        char *p = allocate(i * 11);
        CHECK(p != NULL);
        memset(p, way, i * 11);
        release(p);
    }
    CHECK(touch(n + 1) == n + 2);
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    alarm(50);
    pthread_t threads[THREADS];
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("not loaded late: %s\n", dlerror());
        return 3;
    }
    void *plugin = dlopen(argv[2], RTLD_NOW);
    CHECK(plugin != NULL);
    find(plugin, "plugin_touch", &touch);
    for (way = 0; way < 2; way++) { /* heapprof's malloc by name; and whatever the program is bound to */
        find(way == 0 ? library : RTLD_DEFAULT, "malloc", &allocate);
        find(way == 0 ? library : RTLD_DEFAULT, "free", &release);
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_create(&threads[i], NULL, begin, (void *)(uintptr_t)i) == 0);
        }
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
        }
    }
    printf("done\n");
    return 0;
}
