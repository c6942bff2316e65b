#include "tools/symbols/search_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/base/memory.h"

bool hp_search_path_add(struct hp_search_path *path, const char *folder, struct hp_error *error) {
    char *real = realpath(folder, NULL);
    struct stat status;
    if (real == NULL || stat(real, &status) != 0 || !S_ISDIR(status.st_mode)) {
        hp_error_set(error, "%s", real == NULL ? strerror(errno) : "not a folder");
        free(real);
        return false;
    }
    if (strchr(real, ':') != NULL) {
        free(real);
        return hp_error_set(error, "a folder with a colon in its name can't be searched");
    }
    path->folders = hp_memory_grow(path->folders, path->count, &path->capacity, sizeof *path->folders);
    path->folders[path->count++] = real;
    return true;
}

void hp_search_path_free(struct hp_search_path *path) {
    for (size_t i = 0; i < path->count; i++)
        free(path->folders[i]);
    free(path->folders);
}
