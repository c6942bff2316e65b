#include "guard/usage.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "heapprof/base/parse.h"
#include "heapprof/base/procfs.h"

enum { SMALL = 4096 }; /* statm, status and meminfo begin with what is wanted */

/* "size resident shared text lib data dirty", in pages. */
static int read_statm(struct guard_scratch *scratch, struct guard_process *usage) {
    uint64_t pages[6];
    if (hp_procfs_read("/proc/self/statm", scratch->text, SMALL) < 0) {
        return -1;
    }
    const char *at = scratch->text;
    for (unsigned i = 0; i < 6; i++) {
        at += *at == ' ';
        if (hp_parse_u64(at, &pages[i], &at) != 0) {
            errno = EINVAL;
            return -1;
        }
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t anonymous = pages[1] > pages[2] ? pages[1] - pages[2] : 0; /* the third: of files and shared */
    *usage = (struct guard_process){
        .resident = pages[1] * page,
        .mapped = pages[0] * page,
        .data = pages[5] * page,
        .untouched = pages[5] > anonymous ? (pages[5] - anonymous) * page : 0,
    };
    return 0;
}

static int read_status(struct guard_scratch *scratch, struct guard_process *usage) {
    uint64_t rss = 0;
    uint64_t swap = 0;
    uint64_t size = 0;
    uint64_t data = 0;
    if (hp_procfs_read("/proc/self/status", scratch->text, SMALL) < 0) {
        return -1;
    }
    if (hp_procfs_field(scratch->text, "VmRSS:", &rss) != 0 ||
        hp_procfs_field(scratch->text, "VmSize:", &size) != 0 ||
        hp_procfs_field(scratch->text, "VmData:", &data) != 0) {
        errno = EINVAL;
        return -1;
    }
    uint64_t anonymous = data;
    (void)hp_procfs_field(scratch->text, "VmSwap:", &swap); /* not there in a kernel without swap, … */
    (void)hp_procfs_field(scratch->text, "RssAnon:", &anonymous); /* … nor this before 4.5 */
    *usage = (struct guard_process){
        .resident = (rss + swap) * 1024,
        .mapped = size * 1024,
        .data = data * 1024,
        .untouched = data > anonymous + swap ? (data - anonymous - swap) * 1024 : 0,
    };
    return 0;
}

int guard_process_usage(bool wants_status, struct guard_scratch *scratch, struct guard_process *usage) {
    return wants_status ? read_status(scratch, usage) : read_statm(scratch, usage);
}

int guard_machine_memory(struct guard_scratch *scratch, uint64_t *ram, uint64_t *swap) {
    uint64_t total = 0;
    if (hp_procfs_read("/proc/meminfo", scratch->text, SMALL) < 0) {
        return -1;
    }
    if (hp_procfs_field(scratch->text, "MemTotal:", &total) != 0) {
        errno = EINVAL;
        return -1;
    }
    *ram = total * 1024;
    *swap = hp_procfs_field(scratch->text, "SwapTotal:", &total) == 0 ? total * 1024 : 0;
    return 0;
}
