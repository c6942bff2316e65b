/*
 * Which binary a program counter belongs to, without the loader's lock: glibc's _dl_find_object (2.35), made
 * for unwinders, over the ELF headers that every binary has mapped.
 */
#ifndef HP_UNWIND_LOADER_VIEW_H
#define HP_UNWIND_LOADER_VIEW_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the dynamic loader knows of one loaded binary. Pointers are the loader's and the binary's own: valid
 * while the binary is loaded, which it is while its code is on the caller's stack. */
struct hp_loaded {
    uintptr_t base; /* what is added to the file's addresses */
    const char *name; /* as the loader has it; "" for a main program that the kernel started */
    const ElfW(Phdr) * headers;
    size_t header_count;
    uintptr_t map_start;
    uintptr_t map_end;
    uintptr_t eh_frame_header; /* .eh_frame_hdr; 0: it has none */
};

/* The executable segment of a loaded binary. */
struct hp_segment {
    uintptr_t start; /* page aligned, as mapped */
    uintptr_t end;
    uint64_t offset; /* of `start` in the file */
};

/* The part of the address space that one loaded binary takes. */
struct hp_place {
    uintptr_t start;
    uintptr_t end;
    uint16_t tag; /* of this binary: another one in the same place later has, all but surely, another */
};

/* Finds the place around `pc`, as hp_loader_view_find() does, in a few ns. */
bool hp_loader_view_place(uintptr_t pc, struct hp_place *place);

/* Finds the binary that `pc` lies in. False when there is none (generated code) or its headers are not
 * mapped. Any thread and any context; takes no lock. */
bool hp_loader_view_find(uintptr_t pc, struct hp_loaded *loaded);

/* The bounds of the mapped segment of `loaded` that `address` lies in. False when there is none. */
bool hp_loader_view_bounds(const struct hp_loaded *loaded, uintptr_t address, uintptr_t *start, uintptr_t *end);

/* The executable segment of `loaded` around `pc`. False when pc lies in none. */
bool hp_loader_view_segment(const struct hp_loaded *loaded, uintptr_t pc, struct hp_segment *segment);

/* The NT_GNU_BUILD_ID of `loaded`, read from its mapped notes; NULL when it has none. */
const uint8_t *hp_loader_view_build_id(const struct hp_loaded *loaded, size_t *bytes);

#endif
