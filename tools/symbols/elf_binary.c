#include "tools/symbols/elf_binary.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/regular_file.h"

enum { MAX_BUILD_ID = (HP_BUILD_ID_HEX - 1) / 2, PAGE = 4096 /* what a mapping's offset is a multiple of */ };

/* Only to look for an id, before there is a binary. */
static char *no_debug_path;
static const Dwfl_Callbacks lookup_callbacks = {.find_elf = dwfl_build_id_find_elf,
                                                .find_debuginfo = dwfl_standard_find_debuginfo,
                                                .section_address = dwfl_offline_section_address,
                                                .debuginfo_path = &no_debug_path};

/* The build id of an ELF executable or library as hex, "" when it has none. False: it is no such file. */
static bool read_build_id(int fd, char hex[2 * MAX_BUILD_ID + 1]) {
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    bool is_binary = elf != NULL && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != NULL &&
                     (header.e_type == ET_EXEC || header.e_type == ET_DYN);
    hex[0] = '\0';
    if (is_binary) {
        const void *bits = NULL;
        ssize_t length = dwelf_elf_gnu_build_id(elf, &bits);
        for (ssize_t i = 0; i < length && i < MAX_BUILD_ID; i++)
            snprintf(hex + 2 * i, 3, "%02x", ((const unsigned char *)bits)[i]);
    }
    elf_end(elf);
    return is_binary;
}

static bool is_matching(int fd, const char *build_id, struct hp_error *error) {
    char found[2 * MAX_BUILD_ID + 1];
    if (!read_build_id(fd, found))
        return hp_error_set(error, "not an ELF executable or library");
    if (build_id[0] == '\0' || strcmp(found, build_id) == 0)
        return true;
    return hp_error_set(error, "another build than the one that ran (its build id is %s, not %s)",
                        found[0] != '\0' ? found : "missing", build_id);
}

static int open_matching(const char *path, const char *root, const char *build_id, struct hp_error *error) {
    int fd = hp_regular_file_open(path, root, error);
    if (fd < 0 || is_matching(fd, build_id, error))
        return fd;
    close(fd);
    return -1;
}

static size_t parse_hex(const char *hex, unsigned char bits[MAX_BUILD_ID]) {
    size_t length = 0;
    for (; length < MAX_BUILD_ID && hex[2 * length] != '\0'; length++) {
        unsigned value = 0;
        if (sscanf(hex + 2 * length, "%2x", &value) != 1)
            return 0;
        bits[length] = (unsigned char)value;
    }
    return length;
}

/* Takes the descriptor if it is one of the binary, else closes it. */
static int only_matching(int fd, const char *build_id) {
    if (fd < 0 || is_matching(fd, build_id, NULL))
        return fd;
    close(fd);
    return -1;
}

static int ask_for_binary(Dwfl_Module *module, const struct hp_mapping *mapping) {
    Elf *elf = NULL;
    char *path = NULL; /* debuginfod's has none */
    int fd = dwfl_build_id_find_elf(module, NULL, mapping->filename, 0, &path, &elf);
    free(path);
    elf_end(elf);
    return only_matching(fd, mapping->build_id);
}

/* Many a debuginfod server has the debug info of packages and not the packages. */
static int ask_for_debug_info(Dwfl_Module *module, const struct hp_mapping *mapping) {
    void *user_data = NULL;
    char *path = NULL;
    /* Without a name: by the id alone. What has that name now may be a FIFO, which libdw would wait for. */
    int fd = dwfl_standard_find_debuginfo(module, &user_data, NULL, 0, NULL, NULL, 0, &path);
    free(path);
    return only_matching(fd, mapping->build_id);
}

/* Asks libdw for a binary of this build id, wherever, or its debug info: a descriptor; -1 without. */
static int find_by_build_id(const struct hp_mapping *mapping) {
    unsigned char bits[MAX_BUILD_ID];
    size_t length = parse_hex(mapping->build_id, bits);
    Dwfl *dwfl = length > 0 ? dwfl_begin(&lookup_callbacks) : NULL;
    if (dwfl == NULL)
        return -1;
    int fd = -1;
    /* The range is a stand-in: libdw only needs a module to look an id up for. */
    Dwfl_Module *module = dwfl_report_module(dwfl, mapping->filename, 0, PAGE);
    if (module != NULL && dwfl_module_report_build_id(module, bits, length, 0) == 0) {
        fd = ask_for_binary(module, mapping);
        if (fd < 0)
            fd = ask_for_debug_info(module, mapping);
    }
    dwfl_end(dwfl);
    return fd;
}

/* Takes `path` over (NULL: nothing), and gives it to *found when it is the binary's debug file. */
static int try_debug_file(const struct hp_elf_binary *binary, char *path, char **found) {
    int fd = path != NULL ? open_matching(path, binary->places->root, binary->build_id, NULL) : -1;
    if (fd >= 0)
        *found = path;
    else
        free(path);
    return fd;
}

/* The file `link` in the folder of `file_name`, or below that. malloc'ed; NULL without a link. */
static char *beside(const char *file_name, const char *below, const char *link) {
    const char *slash = file_name != NULL && link != NULL ? strrchr(file_name, '/') : NULL;
    return slash != NULL ? hp_memory_format("%.*s/%s%s", (int)(slash - file_name), file_name, below, link) : NULL;
}

/* Below the root of another process: libdw would open whatever has the name there, a FIFO or a device, and follow
 * links out of it. Only a build id can show that it is the one. */
static int find_in_their_root(const struct hp_elf_binary *binary, const char *file_name, const char *link,
                              char **found) {
    if (binary->build_id[0] == '\0')
        return -1;
    char *debug = hp_memory_format("%s/usr/lib/debug", binary->places->root);
    char *by_id = hp_binary_places_by_id(debug, "/.build-id", binary->build_id, ".debug");
    free(debug);
    int fd = try_debug_file(binary, by_id, found);
    fd = fd >= 0 ? fd : try_debug_file(binary, beside(file_name, "", link), found);
    return fd >= 0 ? fd : try_debug_file(binary, beside(file_name, ".debug/", link), found);
}

/* What several debug files have in common (dwz), in the same root. */
static int find_common_part(const struct hp_elf_binary *binary, const char *file_name, const char *link,
                            char **found) {
    char *path = beside(file_name, "", link);
    int fd = path != NULL ? hp_regular_file_open(path, binary->places->root, NULL) : -1;
    if (fd >= 0)
        *found = path;
    else
        free(path);
    return fd;
}

static int find_debug_file_ourselves(const struct hp_elf_binary *binary, const char *file_name, const char *link,
                                     char **found) {
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < binary->places->n_folders; i++)
        fd = try_debug_file(
            binary, hp_binary_places_by_id(binary->places->folders[i], "", binary->build_id, ".debug"), found);
    bool is_in_their_root = fd < 0 && binary->places->root != NULL;
    return is_in_their_root ? find_in_their_root(binary, file_name, link, found) : fd;
}

/*
 * libdw's callback for a binary without debug info of its own, and for what its debug file has in common with others,
 * which has a link without a checksum. libdw looks for .build-id below its folders, for .gnu_debuglink, and asks
 * debuginfod; not for a debug file by its id right in a folder. In another process's root we look ourselves, and leave
 * libdw what is on our side, by the id alone.
 */
static int find_debug_file(Dwfl_Module *module, void **user_data, const char *module_name, GElf_Addr base,
                           const char *file_name, const char *link, GElf_Word checksum, char **found) {
    const struct hp_elf_binary *binary = *user_data;
    bool is_common_part = link != NULL && checksum == 0;
    bool is_theirs = binary->places->root != NULL;
    int fd = !is_common_part ? find_debug_file_ourselves(binary, file_name, link, found)
             : is_theirs     ? find_common_part(binary, file_name, link, found)
                             : -1;
    if (fd >= 0 || (is_common_part && is_theirs))
        return fd;
    return dwfl_standard_find_debuginfo(module, user_data, module_name, base, is_theirs ? NULL : file_name,
                                        is_theirs ? NULL : link, checksum, found);
}

/*
 * A file with debug info alone (objcopy --only-keep-debug) keeps its segments' addresses, but not all that
 * was in them; where in the binary they were is not said. But the mapping is of the executable segment, or,
 * when it starts at 0, of all, and so shows which address its offset has.
 */
static void relate_to_code(struct hp_elf_binary *binary, const struct hp_mapping *mapping) {
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(binary->module, &bias);
    GElf_Phdr header, first = {0}, code = {0};
    size_t count = 0;
    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = count; i-- > 0;) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD)
            continue;
        first = header;
        if ((header.p_flags & PF_X) != 0)
            code = header;
    }
    if (code.p_type != PT_LOAD || code.p_filesz >= code.p_memsz)
        return;
    const GElf_Phdr *mapped = mapping->offset == 0 ? &first : &code;
    binary->lacks_code = true;
    binary->offset = mapping->offset;
    binary->address = mapped->p_vaddr - mapped->p_vaddr % PAGE + bias;
}

static bool start_session(struct hp_elf_binary *binary, int fd, struct hp_error *error) {
    binary->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = find_debug_file,
                                         .section_address = dwfl_offline_section_address,
                                         .debuginfo_path = &binary->debug_path};
    binary->debug_path = hp_binary_places_debug_path(binary->places);
    binary->dwfl = dwfl_begin(&binary->callbacks);
    /* Base 0 with the file's own addresses on top: the module's addresses are those of the file. */
    if (binary->dwfl != NULL)
        binary->module = dwfl_report_elf(binary->dwfl, binary->name, binary->name, fd, 0, true);
    if (binary->module == NULL) {
        hp_error_set(error, "%s", dwfl_errmsg(-1));
        close(fd);
        return false;
    }
    void **user_data = NULL;
    dwfl_report_end(binary->dwfl, NULL, NULL);
    dwfl_module_info(binary->module, &user_data, NULL, NULL, NULL, NULL, NULL, NULL);
    *user_data = binary;
    return true;
}

/* The first place that has the binary: an open descriptor, and the name to open it under; -1 without. */
static int find_in_places(const struct hp_elf_binary *binary, const struct hp_mapping *mapping, char **name,
                          struct hp_error *error) {
    size_t count = 0;
    struct hp_binary_place *places = hp_binary_places_of(mapping, binary->places, &count);
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < count; i++) {
        if (places[i].by_build_id && mapping->build_id[0] == '\0')
            continue;
        fd = open_matching(places[i].path, binary->places->root, mapping->build_id,
                           places[i].is_own ? error : NULL);
        if (fd >= 0)
            *name = hp_memory_format("%s", places[i].name != NULL ? places[i].name : places[i].path);
    }
    hp_binary_places_free(places, count);
    return fd;
}

bool hp_elf_binary_open(struct hp_elf_binary *binary, const struct hp_mapping *mapping,
                        const struct hp_binary_places *places, struct hp_error *error) {
    *binary = (struct hp_elf_binary){.places = places, .build_id = mapping->build_id};
    elf_version(EV_CURRENT);
    char *name = NULL;
    int fd = find_in_places(binary, mapping, &name, error);
    if (fd < 0)
        fd = find_by_build_id(mapping);
    binary->name = name != NULL ? name : hp_memory_format("%s", mapping->filename);
    if (fd >= 0 && start_session(binary, fd, error)) {
        relate_to_code(binary, mapping);
        return true;
    }
    hp_elf_binary_close(binary);
    return false;
}

bool hp_elf_binary_address(const struct hp_elf_binary *binary, uint64_t file_offset, uint64_t *address) {
    if (binary->lacks_code) {
        *address = file_offset - binary->offset + binary->address;
        return true;
    }
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(binary->module, &bias);
    size_t count = 0;
    bool found = false;
    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            file_offset < header.p_offset || file_offset - header.p_offset >= header.p_filesz)
            continue;
        *address = file_offset - header.p_offset + header.p_vaddr + bias;
        found = true;
        /* Two segments may share a page of the file; code lies in the executable one. */
        if ((header.p_flags & PF_X) != 0)
            break;
    }
    return found;
}

bool hp_elf_binary_may_be_split(const struct hp_elf_binary *binary) {
    return binary->places->root == NULL;
}

bool hp_elf_binary_has_package(const struct hp_elf_binary *binary) {
    char *package = hp_memory_format("%s.dwp", binary->name);
    bool found = access(package, F_OK) == 0;
    free(package);
    return found;
}

void hp_elf_binary_close(struct hp_elf_binary *binary) {
    if (binary->dwfl != NULL)
        dwfl_end(binary->dwfl);
    free(binary->debug_path);
    free(binary->name);
    *binary = (struct hp_elf_binary){0};
}

void hp_elf_binary_build_id(const char *path, char hex[HP_BUILD_ID_HEX]) {
    hex[0] = '\0';
    elf_version(EV_CURRENT);
    int fd = hp_regular_file_open(path, NULL, NULL);
    if (fd < 0)
        return;
    if (!read_build_id(fd, hex))
        hex[0] = '\0';
    close(fd);
}
