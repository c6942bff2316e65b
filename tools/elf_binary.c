#include "elf_binary.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BUILD_ID = 64 };

static char *debuginfo_path; /* NULL: libdw's own, ":.debug:/usr/lib/debug" */

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .section_address = dwfl_offline_section_address,
                                         .debuginfo_path = &debuginfo_path};

/* A name in a profile may be anything: a FIFO, say, must not be waited for. */
static int open_regular_file(const char *path, struct hp_error *error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        hp_error_set(error, "%s", strerror(errno));
        return -1;
    }
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    hp_error_set(error, "not a regular file");
    return -1;
}

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

static int open_matching(const char *path, const char *build_id, struct hp_error *error) {
    char found[2 * MAX_BUILD_ID + 1];
    int fd = open_regular_file(path, error);
    if (fd < 0)
        return -1;
    if (!read_build_id(fd, found))
        hp_error_set(error, "not an ELF executable or library");
    else if (build_id[0] == '\0' || strcmp(found, build_id) == 0)
        return fd;
    else
        hp_error_set(error, "another build than the one that ran (its build id is %s, not %s)",
                     found[0] != '\0' ? found : "missing", build_id);
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

/* The path of a binary found by its build id alone; NULL without. The caller frees it. */
static char *find_by_build_id(const char *name, const char *build_id) {
    unsigned char bits[MAX_BUILD_ID];
    size_t length = parse_hex(build_id, bits);
    Dwfl *dwfl = length > 0 ? dwfl_begin(&callbacks) : NULL;
    if (dwfl == NULL)
        return NULL;
    char *path = NULL;
    /* The range is a stand-in: libdw only needs a module to look an id up for. */
    Dwfl_Module *module = dwfl_report_module(dwfl, name, 0, 4096);
    if (module != NULL && dwfl_module_report_build_id(module, bits, length, 0) == 0) {
        Elf *elf = NULL;
        char *found = NULL;
        int fd = dwfl_build_id_find_elf(module, NULL, name, 0, &found, &elf);
        if (fd >= 0) {
            close(fd);
            path = found;
        } else {
            free(found);
        }
        elf_end(elf);
    }
    dwfl_end(dwfl);
    return path;
}

static bool start_session(struct hp_elf_binary *binary, const char *path, int fd, struct hp_error *error) {
    binary->dwfl = dwfl_begin(&callbacks);
    if (binary->dwfl == NULL) {
        close(fd);
        return hp_error_set(error, "%s", dwfl_errmsg(-1));
    }
    /* Base 0 with the file's own addresses on top: the module's addresses are those of the file. */
    binary->module = dwfl_report_elf(binary->dwfl, path, path, fd, 0, true);
    if (binary->module == NULL) {
        hp_error_set(error, "%s", dwfl_errmsg(-1));
        close(fd);
        hp_elf_binary_close(binary);
        return false;
    }
    dwfl_report_end(binary->dwfl, NULL, NULL);
    return true;
}

bool hp_elf_binary_open(struct hp_elf_binary *binary, const char *path, const char *build_id,
                        struct hp_error *error) {
    *binary = (struct hp_elf_binary){0};
    elf_version(EV_CURRENT);
    int fd = open_matching(path, build_id, error);
    if (fd >= 0)
        return start_session(binary, path, fd, error);
    char *found = build_id[0] != '\0' ? find_by_build_id(path, build_id) : NULL;
    struct hp_error ignored;
    fd = found != NULL ? open_matching(found, build_id, &ignored) : -1;
    bool done = fd >= 0 && start_session(binary, found, fd, error);
    free(found);
    return done;
}

bool hp_elf_binary_address(const struct hp_elf_binary *binary, uint64_t file_offset, uint64_t *address) {
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

void hp_elf_binary_close(struct hp_elf_binary *binary) {
    if (binary->dwfl != NULL)
        dwfl_end(binary->dwfl);
    *binary = (struct hp_elf_binary){0};
}
