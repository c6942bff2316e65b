#include "tools/command/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"

static const char library_name[] = "libheapprof.so";

char *hp_preload_own_directory(void) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return hp_memory_format("%s", path);
}

static char *try_library(const char *directory, const char *relative) {
    char *path = hp_memory_format("%s/%s%s", directory, relative, library_name);
    /* Resolved, so that the loader's messages and the profiles show one name for it. */
    char *resolved = realpath(path, NULL);
    free(path);
    if (resolved != NULL && access(resolved, R_OK) != 0) {
        free(resolved);
        return NULL;
    }
    return resolved;
}

char *hp_preload_find_library(const char *directory, struct hp_error *error) {
    /* The last is this build's library folder below a prefix: lib64, lib/<multiarch>, … */
    static const char *const relatives[] = {"", "../lib/", "../" HP_LIBDIR "/"};
    char *found = NULL;
    for (size_t i = 0; directory != NULL && found == NULL && i < sizeof relatives / sizeof *relatives; i++)
        found = try_library(directory, relatives[i]);
    if (found == NULL)
        found = try_library(HP_FULL_LIBDIR, "");
    if (found == NULL)
        hp_error_set(error, "%s is neither beside this command nor in %s", library_name, HP_FULL_LIBDIR);
    return found;
}

bool hp_preload_set(const char *library, struct hp_error *error) {
    if (strpbrk(library, " :") != NULL)
        return hp_error_set(error, "%s: a path with a blank or a colon can't be preloaded", library);
    const char *before = getenv("LD_PRELOAD");
    char *value = before != NULL && *before != '\0' ? hp_memory_format("%s:%s", library, before)
                                                    : hp_memory_format("%s", library);
    bool done = setenv("LD_PRELOAD", value, 1) == 0 || hp_error_set(error, "%s", strerror(errno));
    free(value);
    return done;
}
