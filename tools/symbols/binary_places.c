#include "tools/symbols/binary_places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

static const char debug_folder[] = "/usr/lib/debug";

struct list {
    struct hp_binary_place *places;
    size_t count, capacity;
};

enum proof {
    OF_OWN,  /* the process's own, by its name; what is wrong with it is told */
    OF_NAME, /* the name, or the way to it, is good enough when there is no build id */
    OF_ID    /* only a build id can show that it is the one */
};

/* Takes over `path` and `name`; a NULL path adds nothing. */
static void add(struct list *list, char *path, char *name, enum proof proof) {
    if (path == NULL)
        return;
    list->places = hp_memory_grow(list->places, list->count, &list->capacity, sizeof *list->places);
    list->places[list->count++] = (struct hp_binary_place){path, name, proof == OF_ID, proof == OF_OWN};
}

/* The mapped file itself, whatever its name leads to now. */
static void add_mapped(struct list *list, const struct hp_mapping *mapping, pid_t pid, const char *root) {
    add(list,
        hp_memory_format("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, mapping->start, mapping->limit),
        hp_memory_format("%s%s", root, mapping->filename), OF_NAME);
    /* map_files wants more rights than this link does. */
    add(list, hp_memory_format("/proc/%d/exe", (int)pid), hp_memory_format("%s%s", root, mapping->filename),
        OF_ID);
}

static void add_folder(struct list *list, const struct hp_mapping *mapping, const char *folder) {
    const char *slash = strrchr(mapping->filename, '/');
    if (slash != NULL)
        add(list, hp_memory_format("%s%s", folder, mapping->filename), NULL, OF_NAME);
    add(list, hp_memory_format("%s/%s", folder, slash != NULL ? slash + 1 : mapping->filename), NULL,
        OF_NAME);
    add(list, hp_binary_places_by_id(folder, "/.build-id", mapping->build_id, ""), NULL, OF_ID);
    add(list, hp_binary_places_by_id(folder, "", mapping->build_id, ""), NULL, OF_ID);
}

static void add_debug_files(struct list *list, const struct hp_mapping *mapping, const char *folder) {
    add(list, hp_binary_places_by_id(folder, "/.build-id", mapping->build_id, ".debug"), NULL, OF_ID);
    add(list, hp_binary_places_by_id(folder, "", mapping->build_id, ".debug"), NULL, OF_ID);
}

struct hp_binary_place *hp_binary_places_of(const struct hp_mapping *mapping,
                                            const struct hp_binary_places *places, size_t *count) {
    struct list list = {0};
    const char *root = places->root != NULL ? places->root : "";
    if (places->pid > 0)
        add_mapped(&list, mapping, places->pid, root);
    for (size_t i = 0; i < places->n_folders; i++)
        add_folder(&list, mapping, places->folders[i]);
    add(&list, hp_memory_format("%s%s", root, mapping->filename), NULL, OF_OWN);
    /* A file of this name on our side is only the process's own when it can prove it. */
    if (places->root != NULL)
        add(&list, hp_memory_format("%s", mapping->filename), NULL, OF_ID);
    add(&list, hp_binary_places_by_id(debug_folder, "/.build-id", mapping->build_id, ""), NULL, OF_ID);
    for (size_t i = 0; i < places->n_folders; i++)
        add_debug_files(&list, mapping, places->folders[i]);
    if (places->root != NULL) {
        char *folder = hp_memory_format("%s%s", root, debug_folder);
        add_debug_files(&list, mapping, folder);
        free(folder);
    }
    add_debug_files(&list, mapping, debug_folder);
    *count = list.count;
    return list.places;
}

void hp_binary_places_free(struct hp_binary_place *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(list[i].path);
        free(list[i].name);
    }
    free(list);
}

char *hp_binary_places_debug_path(const struct hp_binary_places *places) {
    /* "": beside the binary; relative: in such a folder beside it. In another's root elf_binary.c looks. */
    char *path = hp_memory_format(places->root != NULL ? "" : ":.debug");
    for (size_t i = 0; i < places->n_folders; i++) {
        char *longer = hp_memory_format("%s:%s", path, places->folders[i]);
        free(path);
        path = longer;
    }
    char *whole = hp_memory_format("%s:%s", path, debug_folder);
    free(path);
    return whole;
}

char *hp_binary_places_by_id(const char *folder, const char *infix, const char *build_id,
                             const char *suffix) {
    /* It becomes part of a path: nothing but digits may get there. */
    if (strlen(build_id) < 4 || build_id[strspn(build_id, "0123456789abcdef")] != '\0')
        return NULL;
    return hp_memory_format("%s%s/%.2s/%s%s", folder, infix, build_id, build_id + 2, suffix);
}
