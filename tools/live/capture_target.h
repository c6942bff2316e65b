/* One process that is captured, from before the first question to it until its symbols are known. */
#ifndef HP_TOOLS_CAPTURE_TARGET_H
#define HP_TOOLS_CAPTURE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/symbols/binary_places.h"
#include "tools/base/error.h"
#include "tools/live/process_list.h"
#include "tools/profile/profile.h"

struct hp_capture_target {
    const struct hp_process *process;
    int pidfd;     /* readable once it has exited; -1: unknown to the kernel */
    int root_fd;   /* its "/": stays open, and in reach, when it exits; -1: out of reach */
    char root[40]; /* a path to that; "": it sees the same files as we do */
};

/* Begins; `process` is the caller's and must outlive the target. */
void hp_capture_target_init(struct hp_capture_target *target, const struct hp_process *process);

/* "edge_service (pid 4711)": malloc'ed, the caller frees it. */
char *hp_capture_target_name(const struct hp_capture_target *target);

/*
 * Asks the process for a profile of this moment. `raw`: the file as it came. NULL: `error` says why.
 * The caller frees the profile with hp_profile_free, and raw->bytes.
 */
struct hp_profile *hp_capture_target_profile(const struct hp_capture_target *target,
                                             struct hp_control_reply *raw, struct hp_error *error);

/* Where the process's binaries are; `folders` are the user's. */
struct hp_binary_places hp_capture_target_places(const struct hp_capture_target *target,
                                                 const char *const *folders, size_t n_folders);

void hp_capture_target_fini(struct hp_capture_target *target);

#endif
