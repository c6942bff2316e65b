#include "tools/command/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"

static bool is_executable(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static char *find_in_path(const char *name) {
    const char *at = getenv("PATH");
    if (at == NULL)
        at = "/bin:/usr/bin"; /* as execvp does */
    for (;;) {
        size_t length = strcspn(at, ":");
        char *path =
            length > 0 ? hp_memory_format("%.*s/%s", (int)length, at, name) : hp_memory_format("./%s", name);
        if (is_executable(path))
            return path;
        free(path);
        if (at[length] == '\0')
            return NULL;
        at += length + 1;
    }
}

char *hp_program_find(const char *name, struct hp_error *error) {
    struct stat status;
    if (strchr(name, '/') == NULL) {
        char *found = *name != '\0' ? find_in_path(name) : NULL;
        if (found == NULL)
            hp_error_set(error, "%s: there is no such program in PATH", name);
        return found;
    }
    if (is_executable(name))
        return hp_memory_format("%s", name);
    if (stat(name, &status) != 0)
        hp_error_set(error, "%s: %s", name, strerror(errno));
    else
        hp_error_set(error, "%s: not an executable file", name);
    return NULL;
}

static bool lacks_loader(int fd) {
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    size_t count = 0;
    bool is_elf = elf != NULL && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &count) == 0 && count > 0;
    bool has_loader = false;
    for (size_t i = 0; is_elf && i < count; i++) {
        GElf_Phdr header;
        has_loader |= gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_INTERP;
    }
    elf_end(elf);
    return is_elf && !has_loader;
}

static bool changes_rights(const struct stat *status) {
    return ((status->st_mode & S_ISUID) != 0 && status->st_uid != getuid()) ||
           ((status->st_mode & S_ISGID) != 0 && status->st_gid != getgid());
}

bool hp_program_can_preload(const char *path, struct hp_error *error) {
    struct stat status;
    if (stat(path, &status) == 0 && changes_rights(&status))
        return hp_error_set(error, "%s: runs with other rights than yours, so the loader preloads nothing",
                            path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    bool is_static = lacks_loader(fd);
    close(fd);
    if (is_static)
        return hp_error_set(
            error, "%s: is linked statically, so nothing can be preloaded: link libheapprof.a into it", path);
    return true;
}
