/* The folders that a user names with --search-path. */
#ifndef HP_TOOLS_SEARCH_PATH_H
#define HP_TOOLS_SEARCH_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/base/error.h"

struct hp_search_path {
    char **folders; /* absolute */
    size_t count, capacity;
};

/* Adds the folder. False: `error` says why it can't be searched. */
bool hp_search_path_add(struct hp_search_path *path, const char *folder, struct hp_error *error);

void hp_search_path_free(struct hp_search_path *path);

#endif
