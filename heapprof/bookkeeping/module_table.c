#include "heapprof/bookkeeping/module_table.h"

#include <stdatomic.h>
#include <string.h>

#include "heapprof/base/arena.h"
#include "heapprof/base/lock.h"

enum { MODULES_MAX = 4096, NAMES_CHUNK = 16 << 10, NAMES_CAP = 2 << 20 };

static struct hp_lock lock = HP_LOCK_INIT(HP_RANK_FRAMES); /* one writer at a time */
static struct hp_arena names;
static struct hp_module *modules;
static _Atomic uint32_t count;

bool hp_module_table_init(void) {
    hp_arena_init(&names, NAMES_CHUNK, NAMES_CAP);
    modules = hp_pages_map(MODULES_MAX * sizeof *modules);
    return modules != NULL;
}

uint32_t hp_module_table_count(void) {
    return atomic_load_explicit(&count, memory_order_acquire);
}

const struct hp_module *hp_module_table_get(uint32_t id) {
    return &modules[id - 1];
}

static bool same(const struct hp_module *a, const struct hp_module *b) {
    return a->start == b->start && a->end == b->end && a->offset == b->offset &&
           a->build_id_len == b->build_id_len && memcmp(a->build_id, b->build_id, a->build_id_len) == 0 &&
           strcmp(a->path, b->path) == 0;
}

static uint32_t find(const struct hp_module *module, uint32_t from, uint32_t to) {
    for (uint32_t id = from; id <= to; id++) {
        if (same(module, hp_module_table_get(id))) {
            return id;
        }
    }
    return 0;
}

static uint32_t append(const struct hp_module *module, uint32_t known) {
    size_t bytes = strlen(module->path) + 1;
    char *path = known < MODULES_MAX ? hp_arena_take(&names, bytes) : NULL;
    if (path == NULL) {
        return 0;
    }
    memcpy(path, module->path, bytes);
    modules[known] = *module;
    modules[known].path = path;
    atomic_store_explicit(&count, known + 1, memory_order_release);
    return known + 1;
}

uint32_t hp_module_table_add(const struct hp_module *module) {
    uint32_t known = hp_module_table_count();
    uint32_t id = find(module, 1, known);
    if (id != 0) {
        return id;
    }
    hp_lock_take(&lock);
    uint32_t now = hp_module_table_count();
    id = find(module, known + 1, now);
    if (id == 0) {
        id = append(module, now);
    }
    hp_lock_release(&lock);
    return id;
}

void hp_module_table_fork_prepare(void) {
    hp_lock_take_unranked(&lock);
    hp_lock_take_unranked(&names.lock);
}

void hp_module_table_fork_parent(void) {
    hp_lock_release_unranked(&names.lock);
    hp_lock_release_unranked(&lock);
}

void hp_module_table_fork_child(void) {
    hp_lock_reset(&names.lock);
    hp_lock_reset(&lock);
}
