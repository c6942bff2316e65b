#include "heapprof/unwind/loader_view.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>

#include "heapprof/base/rng.h"

#define PAGE ((uintptr_t)4096)

bool hp_loader_view_place(uintptr_t pc, struct hp_place *place) {
    struct dl_find_object found;
    if (_dl_find_object((void *)pc, &found) != 0) {
        return false;
    }
    place->start = (uintptr_t)found.dlfo_map_start;
    place->end = (uintptr_t)found.dlfo_map_end;
    uint64_t who = (uintptr_t)found.dlfo_link_map ^ place->start ^ (place->end << 1) ^ ((uintptr_t)found.dlfo_eh_frame << 2);
    place->tag = (uint16_t)(hp_rng_mix(who) >> 48);
    return true;
}

bool hp_loader_view_find(uintptr_t pc, struct hp_loaded *loaded) {
    struct dl_find_object found;
    if (_dl_find_object((void *)pc, &found) != 0 || found.dlfo_link_map == NULL) {
        return false;
    }
    uintptr_t start = (uintptr_t)found.dlfo_map_start;
    uintptr_t end = (uintptr_t)found.dlfo_map_end;
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)start;
    if (end - start < sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_phentsize != sizeof(ElfW(Phdr)) ||
        elf->e_phoff + (uint64_t)elf->e_phnum * sizeof(ElfW(Phdr)) > PAGE) {
        return false; /* headers outside the first page may not be mapped */
    }
    *loaded = (struct hp_loaded){
        .base = found.dlfo_link_map->l_addr,
        .name = found.dlfo_link_map->l_name,
        .headers = (const ElfW(Phdr) *)(start + elf->e_phoff),
        .header_count = elf->e_phnum,
        .map_start = start,
        .map_end = end,
        .eh_frame_header = (uintptr_t)found.dlfo_eh_frame,
    };
    return true;
}

bool hp_loader_view_bounds(const struct hp_loaded *loaded, uintptr_t address, uintptr_t *start, uintptr_t *end) {
    for (size_t i = 0; i < loaded->header_count; i++) {
        const ElfW(Phdr) *h = &loaded->headers[i];
        uintptr_t at = loaded->base + h->p_vaddr;
        if (h->p_type == PT_LOAD && (h->p_flags & PF_R) != 0 && address >= at && address - at < h->p_filesz) {
            *start = at;
            *end = at + h->p_filesz;
            return true;
        }
    }
    return false;
}

bool hp_loader_view_segment(const struct hp_loaded *loaded, uintptr_t pc, struct hp_segment *segment) {
    for (size_t i = 0; i < loaded->header_count; i++) {
        const ElfW(Phdr) *h = &loaded->headers[i];
        uintptr_t start = loaded->base + h->p_vaddr;
        if (h->p_type == PT_LOAD && (h->p_flags & PF_X) != 0 && pc >= start && pc - start < h->p_memsz) {
            segment->start = start & ~(PAGE - 1);
            segment->end = (start + h->p_memsz + PAGE - 1) & ~(PAGE - 1);
            segment->offset = h->p_offset & ~(uint64_t)(PAGE - 1);
            return true;
        }
    }
    return false;
}

/* Notes (elf(5), Elf64_Nhdr): name and descriptor follow the header, each padded to 4 bytes. */
static const uint8_t *find_note(uintptr_t at, uintptr_t end, size_t *bytes) {
    while (end - at >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        uint64_t name_bytes = ((uint64_t)note->n_namesz + 3) & ~UINT64_C(3);
        uint64_t desc_bytes = ((uint64_t)note->n_descsz + 3) & ~UINT64_C(3);
        at += sizeof *note;
        if (name_bytes > end - at || desc_bytes > end - at - name_bytes) {
            return NULL;
        }
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp((const char *)at, "GNU", 4) == 0) {
            *bytes = note->n_descsz;
            return (const uint8_t *)(at + name_bytes);
        }
        at += name_bytes + desc_bytes;
    }
    return NULL;
}

const uint8_t *hp_loader_view_build_id(const struct hp_loaded *loaded, size_t *bytes) {
    for (size_t i = 0; i < loaded->header_count; i++) {
        const ElfW(Phdr) *h = &loaded->headers[i];
        uintptr_t at = loaded->base + h->p_vaddr;
        if (h->p_type != PT_NOTE || h->p_align > 4 || at < loaded->map_start || h->p_memsz > loaded->map_end - at) {
            continue;
        }
        const uint8_t *id = find_note(at, at + h->p_memsz, bytes);
        if (id != NULL) {
            return id;
        }
    }
    return NULL;
}
