#include "tools/live/capture_target.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/profile/profile_reader.h"

enum { EXIT_MS = 200 };

/* In a container a path means something else; elsewhere it is best taken as it is. */
static bool shares_our_view(int pid, int root_fd) {
    char path[40];
    struct stat theirs, ours;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
    if (stat(path, &theirs) != 0 || stat("/proc/self/ns/mnt", &ours) != 0 || theirs.st_ino != ours.st_ino)
        return false;
    return fstat(root_fd, &theirs) == 0 && stat("/", &ours) == 0 && theirs.st_ino == ours.st_ino &&
           theirs.st_dev == ours.st_dev;
}

void hp_capture_target_init(struct hp_capture_target *target, const struct hp_process *process) {
    char path[40];
    *target = (struct hp_capture_target){.process = process};
    target->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    snprintf(path, sizeof path, "/proc/%d/root", process->pid);
    target->root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (target->root_fd >= 0 && !shares_our_view(process->pid, target->root_fd))
        snprintf(target->root, sizeof target->root, "/proc/self/fd/%d", target->root_fd);
}

char *hp_capture_target_name(const struct hp_capture_target *target) {
    return hp_memory_format("%s (pid %d)", target->process->service, target->process->pid);
}

/* An exiting process closes its sockets a moment before it is gone. */
static bool has_exited(const struct hp_capture_target *target) {
    struct pollfd process = {.fd = target->pidfd, .events = POLLIN};
    return poll(&process, 1, EXIT_MS) > 0;
}

struct hp_profile *hp_capture_target_profile(const struct hp_capture_target *target,
                                             struct hp_control_reply *raw, struct hp_error *error) {
    struct hp_error fault = {""};
    *raw = (struct hp_control_reply){0};
    if (!hp_process_ask(target->process, HP_REQUEST_PROFILE, HP_CONTROL_PATIENCE_MS, raw, error)) {
        if (has_exited(target))
            hp_error_set(error, "has exited");
        return NULL;
    }
    struct hp_profile *profile =
        hp_profile_parse((const uint8_t *)raw->bytes, raw->length, &hp_input_limits_default, &fault);
    if (profile == NULL) {
        hp_error_set(error, "sent a profile that %s", fault.text);
        free(raw->bytes);
        raw->bytes = NULL;
    }
    return profile;
}

struct hp_binary_places hp_capture_target_places(const struct hp_capture_target *target,
                                                 const char *const *folders, size_t n_folders) {
    return (struct hp_binary_places){.folders = folders,
                                     .n_folders = n_folders,
                                     .root = target->root[0] != '\0' ? target->root : NULL,
                                     .pid = target->process->pid};
}

void hp_capture_target_fini(struct hp_capture_target *target) {
    if (target->pidfd >= 0)
        close(target->pidfd);
    if (target->root_fd >= 0)
        close(target->root_fd);
    *target = (struct hp_capture_target){.pidfd = -1, .root_fd = -1};
}
