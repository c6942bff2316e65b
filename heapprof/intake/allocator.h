/*
 * The only door to jemalloc: its public functions under the prefix that the build gives them (Library.cmake
 * renames them in Debian's libjemalloc_pic.a; the rest of jemalloc is hidden inside our library). They mean
 * what jemalloc(3) says. Nothing outside intake/, the recorder, dump.c and init.c includes this.
 */
#ifndef HP_INTAKE_ALLOCATOR_H
#define HP_INTAKE_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void *je_malloc(size_t size);
void *je_calloc(size_t count, size_t size);
void *je_realloc(void *ptr, size_t size);
void je_free(void *ptr);
int je_posix_memalign(void **out, size_t alignment, size_t size);
void *je_aligned_alloc(size_t alignment, size_t size);
size_t je_malloc_usable_size(void *ptr);
void *je_mallocx(size_t size, int flags);
void *je_rallocx(void *ptr, size_t size, int flags);
size_t je_xallocx(void *ptr, size_t size, size_t extra, int flags);
size_t je_sallocx(const void *ptr, int flags);
void je_dallocx(void *ptr, int flags);
void je_sdallocx(void *ptr, size_t size, int flags);
size_t je_nallocx(size_t size, int flags);
int je_mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len);
int je_mallctlnametomib(const char *name, size_t *mib, size_t *mib_len);
int je_mallctlbymib(const size_t *mib, size_t mib_len, void *old, size_t *old_len, void *new, size_t new_len);
void je_malloc_stats_print(void (*write)(void *, const char *), void *arg, const char *options);

/* jemalloc's flags (jemalloc(3)): the low six bits are the alignment's logarithm, 0 for the natural one. */
#define HP_MALLOCX_LG_ALIGN_MASK 0x3f
#define HP_MALLOCX_ZERO 0x40
#define HP_MALLOCX_TCACHE_MASK 0xfff00 /* an explicit thread cache's number + 2 */
#define HP_MALLOCX_TCACHE_NONE 0x100

enum { HP_MALLOCX_ARENA_MAX = 4094 };

/* `flags` with at least a page's alignment. */
static inline int hp_allocator_page_aligned(int flags) {
    return (flags & HP_MALLOCX_LG_ALIGN_MASK) < 12 ? (flags & ~HP_MALLOCX_LG_ALIGN_MASK) | 12 : flags;
}

/* The flag for an alignment that is a power of two. */
static inline int hp_allocator_align_flag(size_t alignment) {
    return alignment <= 1 ? 0 : __builtin_ctzl(alignment);
}

/* The flag for an arena of at most HP_MALLOCX_ARENA_MAX. */
static inline int hp_allocator_arena_flag(unsigned arena) {
    return (int)((arena + 1) << 20);
}

/* extent_hooks_t: where an arena's memory comes from. What they mean, and which may be NULL: jemalloc(3). */
struct hp_extent_hooks {
    void *(*alloc)(struct hp_extent_hooks *, void *address, size_t bytes, size_t alignment, bool *zero,
                   bool *commit, unsigned arena);
    bool (*dalloc)(struct hp_extent_hooks *, void *, size_t, bool committed, unsigned arena);
    void (*destroy)(struct hp_extent_hooks *, void *, size_t, bool committed, unsigned arena);
    bool (*commit)(struct hp_extent_hooks *, void *, size_t, size_t offset, size_t length, unsigned arena);
    bool (*decommit)(struct hp_extent_hooks *, void *, size_t, size_t offset, size_t length, unsigned arena);
    bool (*purge_lazy)(struct hp_extent_hooks *, void *, size_t, size_t offset, size_t length,
                       unsigned arena);
    bool (*purge_forced)(struct hp_extent_hooks *, void *, size_t, size_t offset, size_t length,
                         unsigned arena);
    bool (*split)(struct hp_extent_hooks *, void *, size_t, size_t a, size_t b, bool committed,
                  unsigned arena);
    bool (*merge)(struct hp_extent_hooks *, void *, size_t a, void *, size_t b, bool committed,
                  unsigned arena);
};

/* What jemalloc calls in the place of mmap(2): that, and notes when memory is refused (os_memory.c). */
void *hp_os_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);

/*
 * Lets the calling thread into jemalloc, for the two below; returns whether it is in. jemalloc gives a thread that first
 * comes to it an arena and a cache, and 5.3.0 crashes where it has no address space for them: so nobody goes in who could
 * find none. A thread that may have to later on does so early. Takes jemalloc's locks; keeps errno.
 */
bool hp_allocator_enter(void);

/* Gives all idle pages of all arenas back to the kernel, unless hp_allocator_enter() can't. Takes jemalloc's locks. */
void hp_allocator_purge(void);

/* jemalloc's stats.allocated and stats.resident, in bytes; 0 when it keeps no statistics, or hp_allocator_enter() can't.
 * Takes its locks. */
void hp_allocator_totals(size_t *allocated, size_t *resident);

#endif
