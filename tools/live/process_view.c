#include "tools/live/process_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/live/proc_file.h"

/* -- Who it is -- */

/* The last of the numbers on a line. */
static long last_number(const char *text) {
    long number = 0;
    char *end = NULL;
    for (long next = strtol(text, &end, 10); end != text; next = strtol(text, &end, 10)) {
        number = next;
        text = end;
        if (*text == '\n' || *text == '\0')
            break;
    }
    return number;
}

/* From our user namespace into the process's: lines of "inside outside count" (user_namespaces(7)). Unchanged
 * when no line has it. */
static unsigned map_uid(const char *map, unsigned uid) {
    unsigned long inside = 0, outside = 0, count = 0;
    for (const char *line = map; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3 && uid >= outside &&
            uid - outside < count)
            return (unsigned)(uid - outside + inside);
    }
    return uid;
}

static void read_uids(struct hp_process_view *view, const char *line) {
    unsigned real = 0, effective = 0, saved = 0;
    if (sscanf(line, "%u %u %u", &real, &effective, &saved) != 3)
        return;
    char *map = hp_proc_read(view->pid, "uid_map", NULL);
    view->outer_uid = effective;
    view->uids[0] = map_uid(map, effective);
    view->uids[1] = map_uid(map, real);
    view->uids[2] = map_uid(map, saved);
    free(map);
}

int hp_process_view_open(struct hp_process_view *view, pid_t pid) {
    *view = (struct hp_process_view){.pid = pid, .own_pid = pid};
    char *status = hp_proc_read(pid, "status", NULL);
    if (status == NULL)
        return errno == ENOENT ? ESRCH : errno;
    const char *namespaces = hp_proc_field(status, "NSpid"), *uids = hp_proc_field(status, "Uid"),
               *state = hp_proc_field(status, "State");
    view->has_ended = state != NULL && (*state == 'Z' || *state == 'X');
    if (namespaces != NULL)
        view->own_pid = (pid_t)last_number(namespaces);
    if (uids != NULL)
        read_uids(view, uids);
    free(status);
    view->environment = hp_proc_read(pid, "environ", &view->environment_bytes);
    return 0;
}

void hp_process_view_close(struct hp_process_view *view) {
    free(view->environment);
    view->environment = NULL;
}

const char *hp_process_view_variable(const struct hp_process_view *view, const char *name) {
    size_t length = strlen(name);
    const char *entry = view->environment, *end = entry != NULL ? entry + view->environment_bytes : NULL;
    for (; entry < end; entry += strlen(entry) + 1)
        if (strncmp(entry, name, length) == 0 && entry[length] == '=')
            return entry + length + 1;
    return NULL;
}

/* -- Where its socket is -- */

void hp_process_view_socket_name(char name[HP_SOCKET_NAME], pid_t own_pid, int n) {
    if (n == 1)
        snprintf(name, HP_SOCKET_NAME, "%d.sock", (int)own_pid);
    else
        snprintf(name, HP_SOCKET_NAME, "%d.%d.sock", (int)own_pid, n);
}

static bool has_socket(const struct hp_process_view *view, int folder) {
    struct stat st;
    char name[HP_SOCKET_NAME];
    for (int n = 1; n <= HP_SOCKET_NAMES; n++) {
        hp_process_view_socket_name(name, view->own_pid, n);
        if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode))
            return true;
    }
    return false;
}

/* Opens the folder if a socket of the process is in it. Takes the path. */
static int try_folder(const struct hp_process_view *view, char *path, char **folder) {
    int fd = path[0] == '/' ? hp_proc_open_folder(view->pid, path) : -1;
    if (fd >= 0 && has_socket(view, fd)) {
        *folder = path;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return -1;
}

/* `base` is what the process was told; it may have had other rights when it made its socket. */
static int try_base(const struct hp_process_view *view, const char *base, char **folder) {
    int fd = -1;
    for (int i = 0; i < HP_VIEW_UIDS && fd < 0; i++)
        if (i == 0 || view->uids[i] != view->uids[i - 1])
            fd = try_folder(view, hp_memory_format("%s/heapprof-%u", base, view->uids[i]), folder);
    return fd >= 0 ? fd : try_folder(view, hp_memory_format("%s/heapprof-0", base), folder);
}

/* A server may have written a title over its environment. The kernel knows the path by which a socket was
 * bound, which was "<folder>/.<pid>.sock.new"; the line begins with seven other fields (proc_pid_net(5)). */
static int try_kernels_list(const struct hp_process_view *view, char **folder) {
    int fd = -1;
    char *sockets = hp_proc_read(view->pid, "net/unix", NULL);
    char *bound = hp_memory_format("/.%d.sock.new", (int)view->own_pid);
    char *rest = NULL;
    for (char *line = sockets != NULL ? strtok_r(sockets, "\n", &rest) : NULL; line != NULL && fd < 0;
         line = strtok_r(NULL, "\n", &rest)) {
        char *path = strchr(line, '/');
        size_t length = path != NULL ? strlen(path) : 0, tail = strlen(bound);
        if (length > tail && strcmp(path + length - tail, bound) == 0)
            fd = try_folder(view, hp_memory_format("%.*s", (int)(length - tail), path), folder);
    }
    free(bound);
    free(sockets);
    return fd;
}

int hp_process_view_open_socket_folder(const struct hp_process_view *view, char **folder) {
    static const char *const variables[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
    const char *chosen = hp_process_view_variable(view, "HEAPPROF_SOCKET");
    int fd = chosen != NULL ? try_folder(view, hp_memory_format("%s", chosen), folder) : -1;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && fd < 0; i++) {
        const char *base = hp_process_view_variable(view, variables[i]);
        fd = base != NULL ? try_base(view, base, folder) : -1;
    }
    fd = fd >= 0 ? fd : try_base(view, "/tmp", folder);
    return fd >= 0 ? fd : try_kernels_list(view, folder);
}
