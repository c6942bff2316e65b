#include "tools/symbols/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "tools/symbols/demangle.h"
#include "tools/symbols/dwarf_index.h"
#include "tools/symbols/elf_binary.h"
#include "tools/base/memory.h"

struct hp_resolver {
    struct hp_elf_binary binary;
    struct hp_dwarf_index *index;
};

struct hp_resolver *hp_resolver_open(const struct hp_mapping *mapping, const struct hp_binary_places *places,
                                     struct hp_error *error) {
    struct hp_resolver *resolver = hp_memory_new(1, sizeof *resolver);
    if (!hp_elf_binary_open(&resolver->binary, mapping, places, error)) {
        free(resolver);
        return NULL;
    }
    resolver->index = hp_dwarf_index_new(resolver->binary.module, hp_elf_binary_may_be_split(&resolver->binary));
    return resolver;
}

/* The symbol that contains the address. Not merely the nearest one: in a stripped binary that is a lie. */
static const char *symbol_at(const struct hp_resolver *resolver, uint64_t address) {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *name =
        dwfl_module_addrinfo(resolver->binary.module, address, &offset, &symbol, NULL, NULL, NULL);
    if (name == NULL || name[0] == '\0' || (symbol.st_size != 0 && offset >= symbol.st_size))
        return NULL;
    return name;
}

/*
 * Debug info of lines alone (-g1, -gline-tables-only) has no linkage names; the symbol table still
 * knows the outermost function's, with its scope and parameters.
 */
static void complete_outermost(const struct hp_resolver *resolver, uint64_t address,
                               struct hp_dwarf_frame *frame) {
    if (frame->linkage_name != NULL)
        return;
    const char *symbol = symbol_at(resolver, address);
    bool is_mangled = symbol != NULL && (strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0);
    if (is_mangled)
        frame->linkage_name = symbol;
}

size_t hp_resolver_frames(struct hp_resolver *resolver, uint64_t file_offset, struct hp_dwarf_frame *frames,
                          size_t room) {
    uint64_t address = 0;
    Dwarf_Addr own = 0;
    if (room == 0 || !hp_elf_binary_address(&resolver->binary, file_offset, &address))
        return 0;
    struct hp_dwarf_unit *unit = hp_dwarf_index_unit(resolver->index, address, &own);
    size_t count = unit != NULL ? hp_dwarf_unit_frames(unit, own, frames, room) : 0;
    if (count > 0) {
        complete_outermost(resolver, address, &frames[count - 1]);
        return count;
    }
    frames[0] = (struct hp_dwarf_frame){.linkage_name = symbol_at(resolver, address)};
    if (frames[0].linkage_name == NULL)
        return 0;
    if (unit != NULL)
        hp_dwarf_unit_line(unit, own, &frames[0]);
    return 1;
}

char *hp_resolver_readable_name(const struct hp_dwarf_frame *frame) {
    char *demangled = frame->linkage_name != NULL ? hp_demangle(frame->linkage_name) : NULL;
    if (demangled != NULL)
        return demangled;
    return hp_memory_format("%s",
                            frame->scoped_name != NULL ? frame->scoped_name : hp_resolver_system_name(frame));
}

const char *hp_resolver_system_name(const struct hp_dwarf_frame *frame) {
    if (frame->linkage_name != NULL)
        return frame->linkage_name;
    return frame->name != NULL ? frame->name : "(anonymous)";
}

char *hp_resolver_file(const struct hp_dwarf_frame *frame) {
    if (frame->file == NULL)
        return hp_memory_format("%s", "");
    if (frame->file[0] == '/' || frame->directory == NULL)
        return hp_memory_format("%s", frame->file);
    return hp_memory_format("%s/%s", frame->directory, frame->file);
}

bool hp_resolver_has_debug_info(const struct hp_resolver *resolver) {
    return !hp_dwarf_index_is_empty(resolver->index);
}

bool hp_resolver_lacks_split(const struct hp_resolver *resolver) {
    return hp_dwarf_index_lacks_split(resolver->index);
}

bool hp_resolver_has_package(const struct hp_resolver *resolver) {
    return hp_elf_binary_has_package(&resolver->binary);
}

void hp_resolver_close(struct hp_resolver *resolver) {
    if (resolver == NULL)
        return;
    hp_dwarf_index_free(resolver->index);
    hp_elf_binary_close(&resolver->binary);
    free(resolver);
}
