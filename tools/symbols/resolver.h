/*
 * All that is known about an address of one binary: the functions inlined there and the one around
 * them, from the debug info; else the symbol's name alone.
 */
#ifndef HP_TOOLS_RESOLVER_H
#define HP_TOOLS_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/symbols/binary_places.h"
#include "tools/symbols/dwarf_unit.h"
#include "tools/base/error.h"
#include "tools/profile/profile.h"

struct hp_resolver;

/*
 * Opens the mapping's binary as hp_elf_binary_open does. NULL: `error` says why. The caller closes it with
 * hp_resolver_close. It holds the binary's debug info until then: one at a time is enough.
 */
struct hp_resolver *hp_resolver_open(const struct hp_mapping *mapping, const struct hp_binary_places *places,
                                     struct hp_error *error);

/*
 * The functions at an offset of the file, innermost inlined first, at most `room`; 0: nothing is
 * known. Strings in `frames` live until hp_resolver_close.
 */
size_t hp_resolver_frames(struct hp_resolver *resolver, uint64_t file_offset, struct hp_dwarf_frame *frames,
                          size_t room);

/* The name of a frame's function for people: malloc'ed, the caller frees it; never NULL. */
char *hp_resolver_readable_name(const struct hp_dwarf_frame *frame);

/* The name of a frame's function as the binary has it; owned by the frame's resolver; never NULL. */
const char *hp_resolver_system_name(const struct hp_dwarf_frame *frame);

/* The path of a frame's source file, "" when unknown: malloc'ed, the caller frees it; never NULL. */
char *hp_resolver_file(const struct hp_dwarf_frame *frame);

/* True when the binary has debug info, here or elsewhere; else there are names of symbols, and no lines. */
bool hp_resolver_has_debug_info(const struct hp_resolver *resolver);

/* True when inlined functions may be missing in what was asked for, because .dwo files are. */
bool hp_resolver_lacks_split(const struct hp_resolver *resolver);

/* True when they may be in a .dwp file beside the binary, which can't be read. */
bool hp_resolver_has_package(const struct hp_resolver *resolver);

void hp_resolver_close(struct hp_resolver *resolver);

#endif
