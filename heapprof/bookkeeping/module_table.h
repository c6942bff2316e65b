/*
 * The binaries that sampled code lies in: what the profile calls mappings.
 *
 * Each is copied the first time a frame of it is seen, name and build id with it, and kept: a library that is
 * closed or deleted later still has its place in the profile. Module 1 is the main program; 0 means none
 * (generated code). Bounded; a module that does not fit is none.
 *
 * Lookups and additions: any thread, muted. Reading a module that an id was handed out for needs no lock.
 */
#ifndef HP_BOOKKEEPING_MODULE_TABLE_H
#define HP_BOOKKEEPING_MODULE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_BUILD_ID_MAX = 32 };

/* One executable segment of a binary, as the kernel mapped it. */
struct hp_module {
    uintptr_t start; /* page aligned; what /proc/self/maps says for its r-xp line */
    uintptr_t end;
    uint64_t offset; /* of `start` in the file */
    const char *path; /* absolute; in a lookup the caller's, in the table the table's own */
    uint8_t build_id[HP_BUILD_ID_MAX];
    uint32_t build_id_len; /* 0: the binary has none */
};

/* Maps the table. False when there is no address space. */
bool hp_module_table_init(void);

/* The id of *module, added when it is not there yet; 0 when the table is full. */
uint32_t hp_module_table_add(const struct hp_module *module);

/* Ids 1..count are valid. */
uint32_t hp_module_table_count(void);
const struct hp_module *hp_module_table_get(uint32_t id);

void hp_module_table_fork_prepare(void);
void hp_module_table_fork_parent(void);
void hp_module_table_fork_child(void);

#endif
