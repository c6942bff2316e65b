/*
 * loader SECONDS PLUGIN…: eight threads load and unload plugins, eight allocate, for so long (P1). Ends with
 * 1 when a thread has not got anywhere.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

enum { EACH = 8 };

static volatile bool done;
static char **plugins;
static int plugin_count;
static unsigned long turns[2 * EACH];

typedef void *work_function(size_t n);

static void *load(void *which) {
    size_t me = (size_t)(uintptr_t)which;
    for (size_t i = me; !done; i++) {
        void *plugin = dlopen(plugins[i % (size_t)plugin_count], i % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
        CHECK(plugin != NULL);
        void *found = dlsym(plugin, "plugin_work");
        CHECK(found != NULL);
        work_function *work = NULL;
        memcpy(&work, &found, sizeof work);
        free(work(50 + i % 100));
        CHECK(dlclose(plugin) == 0);
        turns[me]++;
    }
    return NULL;
}

static void *allocate(void *which) {
    size_t me = (size_t)(uintptr_t)which;
    void *kept[32] = {NULL};
    for (size_t i = 0; !done; i++) {
        size_t place = i % 32;
        free(kept[place]);
        kept[place] = i % 3 == 0 ? calloc(i % 50, 20) : malloc(i % 3000);
        kept[place] = realloc(kept[place], 1 + i % 4000);
        turns[me]++;
    }
    for (int i = 0; i < 32; i++) {
        free(kept[i]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc >= 3);
    unsigned seconds = (unsigned)atoi(argv[1]);
    plugins = argv + 2;
    plugin_count = argc - 2;
    alarm(seconds + 60);
    pthread_t threads[2 * EACH];
    for (int i = 0; i < 2 * EACH; i++) {
        CHECK(pthread_create(&threads[i], NULL, i % 2 == 0 ? load : allocate, (void *)(uintptr_t)i) == 0);
    }
    sleep(seconds);
    done = true;
    for (int i = 0; i < 2 * EACH; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0 && turns[i] > 0);
    }
    return 0;
}
