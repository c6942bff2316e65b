/* From the ids of a profile's mappings, locations or functions to their places in its arrays. */
#ifndef HP_TOOLS_ID_MAP_H
#define HP_TOOLS_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_id {
    uint64_t id;
    size_t place;
};

struct hp_id_map {
    struct hp_id *ids; /* the caller's memory; in the order of ids after hp_id_map_seal */
    size_t count;
    bool sequential; /* ids[i].id == i + 1: no search needed */
};

/*
 * Makes ids[0..count), filled by the caller in the order of places, ready for look-ups. False when
 * an id occurs twice; *duplicate is then that id. Keeps `ids`, which must outlive the map.
 */
bool hp_id_map_seal(struct hp_id_map *map, struct hp_id *ids, size_t count, uint64_t *duplicate);

/* The place of `id`; false when there is none such. */
bool hp_id_map_find(const struct hp_id_map *map, uint64_t id, size_t *place);

#endif
