#include "heapprof/capture/rotation.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "heapprof/base/arena.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"
#include "heapprof/capture/dump_name.h"

#define NEWEST INT64_MAX /* when a file was written that is the newest, whatever the clocks say */
#define STALE_NS (INT64_C(600) * 1000000000)

/* A record of getdents64(2). */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

enum { FILES_USUAL = 32 };

static struct memory {
    char path[4096];
    char entries[16 << 10] __attribute__((aligned(8)));
    struct hp_rotation_file files[HP_ROTATION_FILES_MAX];
} * memory;

bool hp_rotation_prepare(void) {
    if (memory == NULL) {
        memory = hp_pages_map(sizeof *memory);
    }
    if (memory != NULL) { /* more files take more pages */
        hp_pages_touch(memory, offsetof(struct memory, files[FILES_USUAL]));
    }
    return memory != NULL;
}

static bool newer(const struct hp_rotation_file *a, const struct hp_rotation_file *b) {
    return a->written_ns != b->written_ns ? a->written_ns > b->written_ns : strcmp(a->name, b->name) > 0;
}

static uint32_t index_of_newest(const struct hp_rotation_file *files, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        best = newer(&files[i], &files[best]) ? i : best;
    }
    return best;
}

/* Of those that stay so far; `newest` is one. */
static uint32_t index_of_largest(const struct hp_rotation_file *files, uint32_t count, uint32_t newest) {
    uint32_t best = newest;
    for (uint32_t i = 0; i < count; i++) {
        best = files[i].goes == 0 && files[i].bytes > files[best].bytes ? i : best;
    }
    return best;
}

static void note_newer(struct hp_rotation_file *files, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        size_t own = hp_dump_name_own_bytes(files[i].name);
        files[i].has_newer = 0;
        for (uint32_t j = 0; j < count && files[i].has_newer == 0; j++) {
            files[i].has_newer =
                newer(&files[j], &files[i]) && strncmp(files[j].name, files[i].name, own) == 0;
        }
    }
}

/* Whether `a` goes before `b`. */
static bool is_worth_less(const struct hp_rotation_file *a, const struct hp_rotation_file *b) {
    return a->has_newer != b->has_newer ? a->has_newer != 0 : newer(b, a);
}

/* Of those that stay so far, the two protected ones left out; `count` when there is none. */
static uint32_t index_of_least(const struct hp_rotation_file *files, uint32_t count, uint32_t newest,
                               uint32_t largest) {
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++) {
        bool open = files[i].goes == 0 && i != newest && i != largest;
        if (open && (best == count || is_worth_less(&files[i], &files[best]))) {
            best = i;
        }
    }
    return best;
}

void hp_rotation_decide(struct hp_rotation_file *files, uint32_t count, uint32_t keep, uint64_t budget) {
    uint32_t newest = index_of_newest(files, count);
    uint32_t left = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        /* What does not fit beside the newest can't stay, and must not drive out what does. */
        files[i].goes = i != newest && files[i].bytes + files[newest].bytes > budget;
        left += files[i].goes == 0;
        bytes += files[i].goes == 0 ? files[i].bytes : 0;
    }
    uint32_t largest = index_of_largest(files, count, newest);
    if (left > keep || bytes > budget) {
        note_newer(files, count);
    }
    for (; left > 1 && (left > keep || bytes > budget); left--) {
        uint32_t victim = index_of_least(files, count, newest, largest);
        if (victim == count) {
            victim = largest; /* only the two are left, and `keep` is 1: the newest stays */
        }
        if (victim == newest) {
            break;
        }
        files[victim].goes = 1;
        bytes -= files[victim].bytes;
    }
}

static const char *path_of(const char *folder, const char *name) {
    struct hp_writer w = hp_writer_over(memory->path, sizeof memory->path);
    hp_writer_format(&w, "%s/%s", folder, name);
    return memory->path;
}

static void add_file(const char *name, uint64_t bytes, int64_t written_ns, uint32_t *count) {
    struct hp_rotation_file *f = &memory->files[(*count)++];
    struct hp_writer w = hp_writer_over(f->name, sizeof f->name);
    hp_writer_text(&w, name);
    f->bytes = bytes;
    f->written_ns = written_ns;
}

static void note_file(const struct hp_rotation_scope *scope, const char *name, uint32_t *count) {
    struct hp_file_info info;
    bool is_dump = hp_dump_name_is_dump(name, scope->service);
    bool is_temporary = hp_dump_name_is_temporary(name, scope->service);
    if ((!is_dump && !is_temporary) || hp_sys_file_info(path_of(scope->folder, name), &info) != 0 ||
        info.owner != scope->owner) {
        return;
    }
    if (is_temporary) {
        if (hp_clock_wall_ns() - info.written_ns > STALE_NS) {
            (void)hp_sys_unlink(memory->path);
        }
    } else if (*count < HP_ROTATION_FILES_MAX) {
        add_file(name, info.bytes, info.written_ns, count);
    }
}

static uint32_t list_dumps(const struct hp_rotation_scope *scope) {
    uint32_t count = 0;
    int fd = hp_sys_open(scope->folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        return 0;
    }
    ssize_t n = 0;
    while ((n = hp_sys_getdents(fd, memory->entries, sizeof memory->entries)) > 0) {
        for (size_t at = 0; at < (size_t)n;) {
            const struct entry *e = (const struct entry *)(const void *)(memory->entries + at);
            note_file(scope, e->name, &count);
            at += e->bytes;
        }
    }
    (void)hp_sys_close(fd);
    return count;
}

/* The newest by the order of writing: a clock that was set back, or another host's, must not make it old. */
static void note_own(const char *own, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct hp_rotation_file *f = &memory->files[i];
        f->written_ns = strcmp(f->name, own) == 0 ? NEWEST : f->written_ns;
    }
}

/* Processes that do this at the same time need no lock: each has put its own file there before, so the one
 * that lists last sees them all, and what several want gone goes once. */
void hp_rotation_apply(const struct hp_rotation_scope *scope, uint32_t keep, uint64_t budget,
                       const char *own) {
    uint32_t count = list_dumps(scope);
    if (own != NULL) {
        note_own(own, count);
    }
    hp_rotation_decide(memory->files, count, keep, budget);
    for (uint32_t i = 0; i < count; i++) {
        if (memory->files[i].goes != 0) {
            (void)hp_sys_unlink(path_of(scope->folder, memory->files[i].name));
        }
    }
}

uint32_t hp_rotation_count_recent(const struct hp_rotation_scope *scope, const char *own, int64_t since_ns) {
    uint32_t recent = 0;
    uint32_t count = list_dumps(scope);
    for (uint32_t i = 0; i < count; i++) {
        const struct hp_rotation_file *f = &memory->files[i];
        recent += f->written_ns > since_ns && strncmp(f->name, own, strlen(own)) != 0;
    }
    return recent;
}
