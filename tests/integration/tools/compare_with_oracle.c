/*
 * Resolves many addresses of a binary by our resolver and by llvm-symbolizer, and compares all of it:
 * number of frames, names, files, lines, columns.
 *
 *   compare_with_oracle BINARY [SYMBOLS]
 *
 * Addresses are spread over the functions in the symbol table of SYMBOLS (default: BINARY), which is
 * the same program unstripped. Prints what differs; exit status 1 when anything does.
 */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/symbols/demangle.h"
#include "tools/base/memory.h"
#include "tools/symbols/resolver.h"

enum { EACH = 24, MOST = 4000, MOST_FRAMES = 128, SHOWN = 12 };

struct address {
    uint64_t address, offset;
};

struct differences {
    size_t addresses, frames, inlined, different;
};

/* A function's symbol, to tell other names of the same code from wrong ones. */
struct symbol {
    uint64_t start, size;
    const char *name;
};

static struct symbol *symbols;
static size_t n_symbols;

static Elf *open_elf(const char *path, int *fd) {
    elf_version(EV_CURRENT);
    *fd = open(path, O_RDONLY);
    Elf *elf = *fd >= 0 ? elf_begin(*fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf == NULL) {
        fprintf(stderr, "%s can't be opened\n", path);
        exit(1);
    }
    return elf;
}

static bool offset_of(Elf *elf, uint64_t address, uint64_t *offset) {
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            (header.p_flags & PF_X) == 0 || address < header.p_vaddr ||
            address - header.p_vaddr >= header.p_filesz)
            continue;
        *offset = address - header.p_vaddr + header.p_offset;
        return true;
    }
    return false;
}

static void read_symbols(Elf *elf) {
    size_t capacity = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) == NULL || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
                symbol.st_size == 0)
                continue;
            symbols = hp_memory_grow(symbols, n_symbols, &capacity, sizeof *symbols);
            symbols[n_symbols++] = (struct symbol){symbol.st_value, symbol.st_size,
                                                   elf_strptr(elf, header.sh_link, symbol.st_name)};
        }
    }
}

static size_t spread_addresses(Elf *binary, struct address *addresses) {
    size_t count = 0;
    /* A large program has more functions than fit: every n-th of them. */
    size_t stride = n_symbols / (MOST / EACH) + 1;
    for (size_t i = 0; i < n_symbols; i += stride) {
        uint64_t step = symbols[i].size / EACH + 1;
        for (uint64_t at = 0; at < symbols[i].size && count < MOST; at += step) {
            struct address *address = &addresses[count];
            address->address = symbols[i].start + at;
            count += offset_of(binary, address->address, &address->offset);
        }
    }
    return count;
}

/* "a/./b" and "a/x/../b" are one file. */
static void simplify_path(char *path) {
    char *parts[256];
    size_t count = 0;
    char *copy = hp_memory_format("%s", path), *rest = copy;
    bool absolute = *path == '/';
    for (char *part; (part = strsep(&rest, "/")) != NULL && count < 256;) {
        if (*part == '\0' || strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0 && count > 0)
            count--;
        else
            parts[count++] = part;
    }
    char *to = path;
    for (size_t i = 0; i < count; i++)
        to += sprintf(to, "%s%s", i > 0 || absolute ? "/" : "", parts[i]);
    free(copy);
}

struct frame {
    char name[4096], place[4096];
};

/*
 * llvm-symbolizer prefers the symbol table for the outermost name, which there has the suffix of a
 * compiler's clone and one of the aliases that a constructor has (C1, C2). Neither is another function.
 */
static void make_comparable(struct frame *frame) {
    static const char *const suffixes[] = {".constprop", ".isra", ".part", ".cold", ".llvm."};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *found = strstr(frame->name, suffixes[i]);
        if (found != NULL)
            *found = '\0';
    }
    char *readable = hp_demangle(frame->name);
    if (readable != NULL)
        snprintf(frame->name, sizeof frame->name, "%s", readable);
    free(readable);
    simplify_path(frame->place);
    /* Without line info it names the symbol table's last file symbol, which may be any; we name none. */
    size_t length = strlen(frame->place);
    if (length > 4 && strcmp(frame->place + length - 4, ":0:0") == 0 && strchr(frame->place, '/') == NULL)
        strcpy(frame->place, "??:0:0");
}

static bool read_line(FILE *file, char *line, size_t size) {
    if (fgets(line, (int)size, file) == NULL)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return line[0] != '\0';
}

static size_t read_oracle(FILE *oracle, struct frame *frames) {
    size_t count = 0;
    while (count < MOST_FRAMES && read_line(oracle, frames[count].name, sizeof frames->name)) {
        if (!read_line(oracle, frames[count].place, sizeof frames->place))
            break;
        make_comparable(&frames[count++]);
    }
    return count;
}

static size_t read_ours(struct hp_resolver *resolver, uint64_t offset, struct frame *frames) {
    struct hp_dwarf_frame found[MOST_FRAMES];
    size_t count = hp_resolver_frames(resolver, offset, found, MOST_FRAMES);
    for (size_t i = 0; i < count; i++) {
        snprintf(frames[i].name, sizeof frames->name, "%s", hp_resolver_system_name(&found[i]));
        char *file = hp_resolver_file(&found[i]);
        snprintf(frames[i].place, sizeof frames->place, "%s:%d:%d", *file != '\0' ? file : "??",
                 found[i].line, found[i].column);
        free(file);
        make_comparable(&frames[i]);
    }
    if (count == 0) {
        strcpy(frames[0].name, "??");
        strcpy(frames[0].place, "??:0:0");
        count = 1;
    }
    return count;
}

static void print_frames(const char *who, const struct frame *frames, size_t count) {
    for (size_t i = 0; i < count; i++)
        printf("    %-6s %s  %s\n", i == 0 ? who : "", frames[i].name, frames[i].place);
}

/*
 * The outermost function may have several names, when a linker or compiler folded equal code: any that
 * the symbol table has for the address is right.
 */
static bool is_another_name(uint64_t address, const struct frame *ours) {
    for (size_t i = 0; i < n_symbols; i++) {
        if (address < symbols[i].start || address - symbols[i].start >= symbols[i].size)
            continue;
        static struct frame other;
        snprintf(other.name, sizeof other.name, "%s", symbols[i].name);
        other.place[0] = '\0';
        make_comparable(&other);
        if (strcmp(other.name, ours->name) == 0)
            return true;
    }
    return false;
}

static void compare(struct differences *differences, uint64_t address, const struct frame *ours,
                    size_t n_ours, const struct frame *theirs, size_t n_theirs) {
    bool same = n_ours == n_theirs;
    for (size_t i = 0; same && i < n_ours; i++)
        same = strcmp(ours[i].place, theirs[i].place) == 0 &&
               (strcmp(ours[i].name, theirs[i].name) == 0 ||
                (i == n_ours - 1 && is_another_name(address, &ours[i])));
    differences->addresses++;
    differences->frames += n_theirs;
    differences->inlined += n_theirs > 1;
    differences->different += !same;
    if (same || differences->different > SHOWN)
        return;
    printf("0x%" PRIx64 "\n", address);
    print_frames("ours", ours, n_ours);
    print_frames("llvm", theirs, n_theirs);
}

static char *write_addresses(const struct address *addresses, size_t count) {
    char *path = hp_memory_format("addresses.%d", (int)getpid());
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    for (size_t i = 0; i < count; i++)
        fprintf(file, "0x%" PRIx64 "\n", addresses[i].address);
    fclose(file);
    return path;
}

int main(int argc, char **argv) {
    static struct address addresses[MOST];
    static struct frame ours[MOST_FRAMES], theirs[MOST_FRAMES];
    struct differences differences = {0};
    struct hp_error error;
    if (argc < 2)
        return 2;
    int binary_fd, symbols_fd;
    Elf *binary = open_elf(argv[1], &binary_fd);
    Elf *named = open_elf(argc > 2 ? argv[2] : argv[1], &symbols_fd);
    read_symbols(named);
    size_t count = spread_addresses(binary, addresses);
    const struct hp_mapping mapping = {.filename = argv[1], .build_id = ""};
    const struct hp_binary_places places = {0};
    struct hp_resolver *resolver = hp_resolver_open(&mapping, &places, &error);
    if (resolver == NULL) {
        fprintf(stderr, "%s: %s\n", argv[1], error.text);
        return 1;
    }
    char *list = write_addresses(addresses, count);
    char *command = hp_memory_format(
        "llvm-symbolizer --obj='%s' --inlines --functions=linkage --no-demangle < %s", argv[1], list);
    FILE *oracle = popen(command, "r");
    for (size_t i = 0; oracle != NULL && i < count; i++) {
        size_t n_theirs = read_oracle(oracle, theirs);
        compare(&differences, addresses[i].address, ours, read_ours(resolver, addresses[i].offset, ours),
                theirs, n_theirs);
    }
    int status = oracle != NULL ? pclose(oracle) : 1;
    unlink(list);
    free(list);
    free(command);
    hp_resolver_close(resolver);
    elf_end(binary);
    elf_end(named);
    free(symbols);
    printf("%zu addresses, %zu frames, %zu addresses with inlined calls, %zu different\n",
           differences.addresses, differences.frames, differences.inlined, differences.different);
    return status != 0 || differences.addresses < 20 || differences.different > 0;
}
