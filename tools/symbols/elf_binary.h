/*
 * One binary of a profile, found on this machine and proven to be the one that ran, and the way from
 * an address of the profile to one of the binary.
 */
#ifndef HP_TOOLS_ELF_BINARY_H
#define HP_TOOLS_ELF_BINARY_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/symbols/binary_places.h"
#include "tools/base/error.h"
#include "tools/profile/profile.h"

/* Must stay where it is while it is open: libdw points into it. */
struct hp_elf_binary {
    Dwfl *dwfl; /* a session with this module alone, so that closing it frees all that was read */
    Dwfl_Module *module;
    Dwfl_Callbacks callbacks;
    const struct hp_binary_places *places;
    const char *build_id; /* the mapping's */
    char *debug_path, *name;
    bool lacks_code;          /* a file with debug info alone: it has no offsets, only addresses … */
    uint64_t offset, address; /* … where this offset of the binary is at this address */
};

/*
 * Opens the mapping's binary. With a build id only a file that carries it is taken: from one of the
 * places (binary_places.h), else one that libdw finds by the id (debuginfod, when DEBUGINFOD_URLS is set).
 * False: `error` says why, and nothing is open. `mapping` and `places` are the caller's and must outlive it.
 * Close with hp_elf_binary_close.
 */
bool hp_elf_binary_open(struct hp_elf_binary *binary, const struct hp_mapping *mapping,
                        const struct hp_binary_places *places, struct hp_error *error);

/*
 * From an offset in the file to the address that its program headers give it, which is the one that
 * symbols and DWARF use. False: no loadable segment has this offset.
 */
bool hp_elf_binary_address(const struct hp_elf_binary *binary, uint64_t file_offset, uint64_t *address);

/* False when its .dwo files are not to be looked for: libdw opens what the debug info names, on our side, whatever it is,
 * and this binary is another root's. */
bool hp_elf_binary_may_be_split(const struct hp_elf_binary *binary);

/* True when a .dwp file, which libdw does not read, lies beside the binary. */
bool hp_elf_binary_has_package(const struct hp_elf_binary *binary);

void hp_elf_binary_close(struct hp_elf_binary *binary);

enum { HP_BUILD_ID_HEX = 2 * 64 + 1 };

/* The build id of the file at `path` as hex; "" when there is no such binary, or it has none. */
void hp_elf_binary_build_id(const char *path, char hex[HP_BUILD_ID_HEX]);

#endif
