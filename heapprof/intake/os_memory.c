/*
 * The mmap that jemalloc calls (Library.cmake renames it in jemalloc's objects): where the kernel refuses memory
 * to the allocator, and so, a moment before an allocation returns NULL, the one place to notice that without a
 * single instruction more in malloc.
 *
 * A refusal alone does not mean that: jemalloc first asks for more than it needs, to grow in larger steps, and
 * then for just what it needs. It is out of memory when it is refused the second, smaller time as well.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "heapprof/intake/allocator.h"
#include "heapprof/recorder.h"

/* More was never to be had: that is no shortage. */
#define ADDRESS_SPACE_BYTES ((size_t)1 << 47)

/* What this thread was refused last, with nothing granted since (0: nothing), and whether that was told: jemalloc
 * tries again in vain before it gives up. */
static __thread size_t refused __attribute__((tls_model("initial-exec")));
static __thread bool is_told __attribute__((tls_model("initial-exec")));

void *hp_os_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    void *mapped = mmap(address, bytes, protection, flags, fd, offset);
    if (__builtin_expect(mapped != MAP_FAILED, 1)) {
        refused = 0;
        is_told = false;
        return mapped;
    }
    bool is_last_resort = errno == ENOMEM && refused > bytes && bytes < ADDRESS_SPACE_BYTES;
    refused = errno == ENOMEM ? bytes : 0;
    if (is_last_resort && !is_told) {
        is_told = true;
        hp_recorder_out_of_memory(bytes);
    }
    return mapped;
}
