/*
 * One compilation unit's code: which function, and which calls inlined into it, an address lies in.
 *
 * libdw has dwarf_getscopes for this, but it stops at the unit's own children: functions inside a
 * namespace or a type, which is all of Rust and much of C++, are not found. So we walk the tree
 * once for each unit that is asked for, and keep its functions sorted.
 */
#ifndef HP_TOOLS_DWARF_UNIT_H
#define HP_TOOLS_DWARF_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

struct hp_dwarf_unit;

/* One function at an address; strings live as long as the unit. */
struct hp_dwarf_frame {
    const char *linkage_name; /* mangled; NULL when the debug info has none */
    const char *name;         /* as the source has it; NULL: a nameless function */
    const char *scoped_name;  /* the same within its namespaces and types */
    const char *file;         /* NULL: unknown */
    const char *directory;    /* what `file` is relative to, unless it is absolute; NULL: unknown */
    int line, column;         /* 0: unknown */
    int start_line;           /* of the function; 0: unknown */
};

/*
 * The unit of this DIE, which must stay valid as long. Where its code was split into a .dwo file,
 * that is opened here, if `opens_split`. Never NULL. The caller frees it with hp_dwarf_unit_free.
 */
struct hp_dwarf_unit *hp_dwarf_unit_new(const Dwarf_Die *die, bool opens_split);

/* True when the unit is a skeleton whose .dwo file was not found: there are lines, but no functions. */
bool hp_dwarf_unit_lacks_split(const struct hp_dwarf_unit *unit);

/*
 * The functions at `address` (the unit's own, without bias), innermost inlined first, at most `room`.
 * 0: no function is known there.
 */
size_t hp_dwarf_unit_frames(struct hp_dwarf_unit *unit, Dwarf_Addr address, struct hp_dwarf_frame *frames,
                            size_t room);

/* The source line at `address` into file, line, column of `frame`; they stay untouched when unknown. */
void hp_dwarf_unit_line(struct hp_dwarf_unit *unit, Dwarf_Addr address, struct hp_dwarf_frame *frame);

void hp_dwarf_unit_free(struct hp_dwarf_unit *unit);

#endif
