/*
 * gone DUMP BYTES PLUGIN…: loads each plugin in turn, keeps so many bytes (times its place) of its
 * plugin_keep, closes it, deletes its file; then dumps.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "check.h"
#include "dump_now.h"

typedef void *keep_function(size_t n);

int main(int argc, char **argv) {
    CHECK(argc >= 4);
    size_t bytes = strtoul(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW);
        CHECK(plugin != NULL);
        void *found = dlsym(plugin, "plugin_keep");
        keep_function *keep = NULL;
        memcpy(&keep, &found, sizeof keep);
        void *kept = keep(bytes * (size_t)(i - 2));
        CHECK(kept != NULL);
        CHECK(dlclose(plugin) == 0 && dlopen(argv[i], RTLD_NOW | RTLD_NOLOAD) == NULL);
        CHECK(unlink(argv[i]) == 0);
        printf("%s %p\n", argv[i], found);
    }
    dump_now(argv[1]);
    return 0;
}
