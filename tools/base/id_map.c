#include "tools/base/id_map.h"

#include <stdlib.h>

static int compare_ids(const void *left, const void *right) {
    uint64_t a = ((const struct hp_id *)left)->id, b = ((const struct hp_id *)right)->id;
    return (a > b) - (a < b);
}

bool hp_id_map_seal(struct hp_id_map *map, struct hp_id *ids, size_t count, uint64_t *duplicate) {
    *map = (struct hp_id_map){.ids = ids, .count = count, .sequential = true};
    for (size_t i = 0; i < count && map->sequential; i++)
        map->sequential = ids[i].id == i + 1;
    if (map->sequential)
        return true;
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++) {
        if (ids[i].id == ids[i - 1].id) {
            *duplicate = ids[i].id;
            return false;
        }
    }
    return true;
}

bool hp_id_map_find(const struct hp_id_map *map, uint64_t id, size_t *place) {
    if (map->sequential) {
        *place = (size_t)(id - 1);
        return id - 1 < map->count;
    }
    const struct hp_id key = {.id = id};
    const struct hp_id *found = bsearch(&key, map->ids, map->count, sizeof key, compare_ids);
    if (found == NULL)
        return false;
    *place = found->place;
    return true;
}
