/* A dl_iterate_phdr in front of glibc's that asks dlsym for it at each call, and allocates (P3). */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

typedef int iterate_callback(struct dl_phdr_info *info, size_t size, void *data);

__attribute__((visibility("default"))) int dl_iterate_phdr(iterate_callback *callback, void *data);

int dl_iterate_phdr(iterate_callback *callback, void *data) {
    int (*next)(iterate_callback *, void *) = NULL;
    void *found = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    free(calloc(10, 10));
    memcpy(&next, &found, sizeof next);
    return next(callback, data);
}
