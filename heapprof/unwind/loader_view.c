#include "heapprof/unwind/loader_view.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "heapprof/base/rng.h"

#define PAGE ((uintptr_t)4096)

/* The main program's headers are where the kernel says, unless it was ld.so that mapped them (no AT_BASE). Its
 * segments may lie apart (linked for huge pages); then the loader's map is only the one around pc. */
static bool find_headers_of_program(struct hp_loaded *loaded) {
    loaded->headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    loaded->header_count = getauxval(AT_PHNUM);
    return getauxval(AT_BASE) != 0 && loaded->headers != NULL;
}

static bool find_headers(struct hp_loaded *loaded) {
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)loaded->map_start;
    if (loaded->map_end - loaded->map_start < sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff > PAGE ||
        elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) > PAGE) {
        return false; /* headers outside the first page may not be mapped */
    }
    loaded->headers = (const ElfW(Phdr) *)(loaded->map_start + elf->e_phoff);
    loaded->header_count = elf->e_phnum;
    return true;
}

static bool find_binary(const struct dl_find_object *found, struct hp_loaded *loaded) {
    *loaded = (struct hp_loaded){
        .base = found->dlfo_link_map->l_addr,
        .name = found->dlfo_link_map->l_name,
        .map_start = (uintptr_t)found->dlfo_map_start,
        .map_end = (uintptr_t)found->dlfo_map_end,
        .eh_frame_header = (uintptr_t)found->dlfo_eh_frame,
    };
    return (found->dlfo_link_map == _r_debug.r_map && find_headers_of_program(loaded)) || find_headers(loaded);
}

bool hp_loader_view_find(uintptr_t pc, struct hp_loaded *loaded) {
    struct dl_find_object found;
    return _dl_find_object((void *)pc, &found) == 0 && found.dlfo_link_map != NULL && find_binary(&found, loaded);
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
        uintptr_t start = 0;
        uintptr_t end = 0;
        if (h->p_type != PT_NOTE || h->p_align > 4 || !hp_loader_view_bounds(loaded, at, &start, &end) ||
            h->p_filesz > end - at) {
            continue;
        }
        const uint8_t *id = find_note(at, at + h->p_filesz, bytes);
        if (id != NULL) {
            return id;
        }
    }
    return NULL;
}

/* A library that was built again and loaded again has its forerunner's addresses, sizes and even link map: what
 * differs is the build id. The main program stays. */
static uint64_t identity(const struct dl_find_object *found) {
    uint64_t id = 0;
    struct hp_loaded loaded;
    size_t bytes = 0;
    if (found->dlfo_link_map != _r_debug.r_map && find_binary(found, &loaded)) {
        const uint8_t *note = hp_loader_view_build_id(&loaded, &bytes);
        if (note != NULL) {
            memcpy(&id, note, bytes < sizeof id ? bytes : sizeof id);
        }
    }
    return id;
}

bool hp_loader_view_place(uintptr_t pc, struct hp_place *place) {
    struct dl_find_object found;
    if (_dl_find_object((void *)pc, &found) != 0 || found.dlfo_link_map == NULL) {
        return false;
    }
    place->start = (uintptr_t)found.dlfo_map_start;
    place->end = (uintptr_t)found.dlfo_map_end;
    uint64_t who = (uintptr_t)found.dlfo_link_map ^ place->start ^ (place->end << 1) ^ ((uintptr_t)found.dlfo_eh_frame << 2);
    place->tag = (uint16_t)(hp_rng_mix(who ^ identity(&found)) >> 48);
    return true;
}
