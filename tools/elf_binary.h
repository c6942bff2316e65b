/*
 * One binary of a profile, found on this machine and proven to be the one that ran, and the way from
 * an address of the profile to one of the binary.
 */
#ifndef HP_TOOLS_ELF_BINARY_H
#define HP_TOOLS_ELF_BINARY_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct hp_elf_binary {
    Dwfl *dwfl; /* a session with this module alone, so that closing it frees all that was read */
    Dwfl_Module *module;
};

/*
 * Opens the binary at `path`. With a build id (hex, "" for none) only a file that carries it is taken:
 * the one at `path`, else one that libdw finds by the id (its debug folders; debuginfod when
 * DEBUGINFOD_URLS is set). False: `error` says why, and nothing is open. Close with hp_elf_binary_close.
 */
bool hp_elf_binary_open(struct hp_elf_binary *binary, const char *path, const char *build_id,
                        struct hp_error *error);

/*
 * From an offset in the file to the address that its program headers give it, which is the one that
 * symbols and DWARF use. False: no loadable segment has this offset.
 */
bool hp_elf_binary_address(const struct hp_elf_binary *binary, uint64_t file_offset, uint64_t *address);

void hp_elf_binary_close(struct hp_elf_binary *binary);

#endif
