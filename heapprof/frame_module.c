#include "heapprof/frame_module.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"
#include "heapprof/bookkeeping/module_table.h"
#include "heapprof/unwind/loader_view.h"

/* On the stack of an allocating thread: not PATH_MAX. A longer path is cut. */
enum { PATH_BYTES = 1024 };

static char program[PATH_BYTES];
static uintptr_t loader_start;
static uintptr_t loader_end;

/* The absolute path for a name as the loader has it. One without a slash is no file (linux-vdso.so.1). */
static void write_path(char *path, const char *name) {
    struct hp_writer w = hp_writer_over(path, PATH_BYTES);
    if (name[0] == '\0') {
        name = program;
    }
    if (name[0] != '/' && strchr(name, '/') != NULL && hp_sys_getcwd(path, PATH_BYTES) == 0) {
        w.len = strlen(path);
        hp_writer_text(&w, "/");
        name += strncmp(name, "./", 2) == 0 ? 2 : 0;
    }
    hp_writer_text(&w, name);
    hp_writer_make_utf8(path);
}

static uint32_t add(const struct hp_loaded *loaded, uintptr_t pc) {
    struct hp_segment segment;
    if (!hp_loader_view_segment(loaded, pc, &segment)) {
        return 0;
    }
    char path[PATH_BYTES];
    write_path(path, loaded->name);
    struct hp_module module = {.start = segment.start, .end = segment.end, .offset = segment.offset, .path = path};
    size_t bytes = 0;
    const uint8_t *id = hp_loader_view_build_id(loaded, &bytes);
    if (id != NULL && bytes <= HP_BUILD_ID_MAX) {
        memcpy(module.build_id, id, bytes);
        module.build_id_len = (uint32_t)bytes;
    }
    return hp_module_table_add(&module);
}

uint32_t hp_frame_module_of(uintptr_t pc) {
    struct hp_loaded loaded;
    return hp_loader_view_find(pc, &loaded) ? add(&loaded, pc) : 0;
}

bool hp_frame_module_is_loader(uintptr_t pc) {
    return pc >= loader_start && pc < loader_end;
}

const char *hp_frame_module_program(void) {
    return program;
}

/* Started as `ld.so program`, the kernel's idea of the program is ld.so (which has no loader of its own: no
 * AT_BASE), and the loader has made the program's name argv[0]. */
static const char *name_through_loader(const char *invoked_as) {
    return getauxval(AT_BASE) == 0 && strchr(invoked_as, '/') != NULL ? invoked_as : "";
}

void hp_frame_module_find_program(const char *invoked_as) {
    const struct link_map *main_program = _r_debug.r_map;
    const char *name = main_program->l_name[0] != '\0' ? main_program->l_name : name_through_loader(invoked_as);
    if (name[0] != '\0') {
        char path[PATH_BYTES];
        write_path(path, name);
        memcpy(program, path, sizeof program);
        return;
    }
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) {
        const char *started_as = (const char *)getauxval(AT_EXECFN);
        struct hp_writer w = hp_writer_over(program, sizeof program);
        hp_writer_text(&w, started_as != NULL ? started_as : "unknown");
    } else {
        static const char deleted[] = " (deleted)";
        size_t length = (size_t)n;
        size_t tail = sizeof deleted - 1;
        program[length] = '\0';
        if (length > tail && strcmp(program + length - tail, deleted) == 0) {
            program[length - tail] = '\0';
        }
    }
}

void hp_frame_module_init(void) {
    const struct link_map *main_program = _r_debug.r_map;
    struct hp_loaded loaded;
    if (hp_loader_view_find((uintptr_t)main_program->l_ld, &loaded)) {
        for (size_t i = 0; i < loaded.header_count; i++) {
            if (loaded.headers[i].p_type == PT_LOAD && (loaded.headers[i].p_flags & PF_X) != 0) {
                (void)add(&loaded, loaded.base + loaded.headers[i].p_vaddr);
                break;
            }
        }
    }
    if (hp_loader_view_find(_r_debug.r_ldbase, &loaded)) {
        loader_start = loaded.map_start;
        loader_end = loaded.map_end;
    }
}
