/* Preloaded beside heapprof: each process dumps when it exits, to $DUMPS_AT_EXIT/PROGRAM.PID.pb.gz. */
#define HEAPPROF_OPTIONAL
#include "heapprof/heapprof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((destructor)) static void dump(void) {
    char path[4096];
    const char *folder = getenv("DUMPS_AT_EXIT");
    if (folder != NULL && heapprof_is_linked() && heapprof_is_active()) {
        (void)snprintf(path, sizeof path, "%s/%s.%d.pb.gz", folder, program_invocation_short_name,
                       (int)getpid());
        (void)heapprof_dump(path);
    }
}
