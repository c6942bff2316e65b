/*
 * From an address to its compilation unit, for a whole binary.
 *
 * libdw's own look-up reads .debug_aranges, which clang does not write. The units' own ranges are
 * always there: one walk over the units' first DIEs, sorted, finds them all.
 */
#ifndef HP_TOOLS_DWARF_INDEX_H
#define HP_TOOLS_DWARF_INDEX_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/symbols/dwarf_unit.h"

struct hp_dwarf_index;

/*
 * The index of the module's debug info, which libdw looks for in the binary, beside it and in its debug
 * folders; without any, an empty index. Never NULL. Must be freed, by hp_dwarf_index_free, before the
 * module's session ends.
 */
struct hp_dwarf_index *hp_dwarf_index_new(Dwfl_Module *module, bool opens_split);

/* The unit at `address` (as the module's symbols have it), and that address as the unit has it. NULL: none.
 */
struct hp_dwarf_unit *hp_dwarf_index_unit(struct hp_dwarf_index *index, Dwarf_Addr address, Dwarf_Addr *own);

/* True when there is no debug info, or none of any code. */
bool hp_dwarf_index_is_empty(const struct hp_dwarf_index *index);

/* True when a unit that was asked for is incomplete because its .dwo file was not found. */
bool hp_dwarf_index_lacks_split(const struct hp_dwarf_index *index);

void hp_dwarf_index_free(struct hp_dwarf_index *index);

#endif
