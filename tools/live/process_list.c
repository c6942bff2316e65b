#include "tools/live/process_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/live/proc_file.h"
#include "tools/live/process_state.h"
#include "tools/live/process_view.h"

enum { STATE_PATIENCE_MS = 3000, BUSY_PAUSE_MS = 50 };

/* -- One process -- */

/* Whether a file of the name libheapprof*.so* is mapped; errno is set when that can't be known. */
static bool maps_library(pid_t pid) {
    errno = 0;
    char *maps = hp_proc_read(pid, "maps", NULL);
    bool does = false;
    for (const char *at = maps; at != NULL && !does && (at = strstr(at, "/libheapprof")) != NULL; at++) {
        const char *so = strstr(at, ".so");
        size_t rest = strcspn(at + 1, "/\n");
        does = so != NULL && so < at + 1 + rest;
    }
    free(maps);
    return does;
}

/* As the library cleans it (dump_name.c). */
static void set_service(struct hp_process *process, const char *name) {
    size_t n = 0;
    for (; name[n] != '\0' && n + 1 < sizeof process->service; n++)
        process->service[n] = isalnum((unsigned char)name[n]) || name[n] == '-' ? name[n] : '_';
    process->service[n] = '\0';
}

static void guess_service(struct hp_process *process, const struct hp_process_view *view) {
    const char *chosen = hp_process_view_variable(view, "HEAPPROF_SERVICE");
    char *program = hp_proc_read_link(process->pid, "exe");
    static const char deleted[] = " (deleted)";
    size_t length = program != NULL ? strlen(program) : 0, tail = sizeof deleted - 1;
    if (length > tail && strcmp(program + length - tail, deleted) == 0)
        program[length - tail] = '\0';
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    set_service(process, chosen != NULL && *chosen != '\0' ? chosen : slash != NULL ? slash + 1 : "");
    free(program);
}

static void stand(struct hp_process *process, enum hp_process_standing standing, const char *why) {
    process->standing = standing;
    snprintf(process->why, sizeof process->why, "%s", why);
}

static void stand_foreign(struct hp_process *process, unsigned uid) {
    char why[sizeof process->why];
    const struct passwd *user = getpwuid(uid);
    if (geteuid() == 0)
        snprintf(why, sizeof why, "may not be looked at, not even by root");
    else if (uid == geteuid())
        snprintf(why, sizeof why, "may not be looked at: it runs with other rights; ask as root");
    else if (user != NULL)
        snprintf(why, sizeof why, "belongs to %s: ask as that user, or as root", user->pw_name);
    else
        snprintf(why, sizeof why, "belongs to user %u: ask as that user, or as root", uid);
    stand(process, HP_PROCESS_FOREIGN, why);
}

static bool is_value(const char *value, const char *a, const char *b) {
    return value != NULL && (strcasecmp(value, a) == 0 || strcasecmp(value, b) == 0);
}

/* Whether it has taken a sample: then there is a guard. */
static bool has_guard(pid_t pid) {
    char *tasks = hp_memory_format("/proc/%d/task", (int)pid);
    DIR *folder = opendir(tasks);
    const struct dirent *entry = NULL;
    bool has = false;
    free(tasks);
    while (folder != NULL && !has && (entry = readdir(folder)) != NULL) {
        char *file = hp_memory_format("task/%s/comm", entry->d_name);
        char *name = hp_proc_read(pid, file, NULL);
        has = name != NULL && strcmp(name, "heapprof-guard\n") == 0;
        free(name);
        free(file);
    }
    if (folder != NULL)
        closedir(folder);
    return has;
}

/* No socket: why? */
static void stand_without_socket(struct hp_process *process, const struct hp_process_view *view) {
    const char *socket = hp_process_view_variable(view, "HEAPPROF_SOCKET");
    if (is_value(hp_process_view_variable(view, "HEAPPROF"), "off", "0"))
        stand(process, HP_PROCESS_NOT_PROFILED, "is not profiled: HEAPPROF=off");
    else if (is_value(socket, "off", "off"))
        stand(process, HP_PROCESS_UNREACHABLE, "has no control socket: HEAPPROF_SOCKET=off");
    else if (has_guard(process->pid))
        stand(process, HP_PROCESS_UNREACHABLE, "has no control socket: it found no folder for one");
    else if (hp_process_view_variable(view, "HEAPPROF_PROGRAM") != NULL)
        stand(process, HP_PROCESS_UNREACHABLE, "has no control socket: HEAPPROF_PROGRAM may leave it out");
    else
        stand(process, HP_PROCESS_UNREACHABLE, "has no control socket: it has sampled nothing yet");
}

/* Tries the names in turn: of several processes of one pid in one folder, only the right one answers. */
static int connect_in(int folder, const struct hp_process *process, struct hp_error *error) {
    char name[HP_SOCKET_NAME];
    int fd = -1;
    for (int n = 1; n <= HP_SOCKET_NAMES && fd < 0; n++) {
        hp_process_view_socket_name(name, process->own_pid, n);
        if (n == 1 || faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            fd = hp_control_connect(folder, name, process->pid, error);
    }
    return fd;
}

/*
 * Finds its socket. Without the library in its map it may be linked to the archive; or the socket is another
 * one's, of the same number in another pid namespace, or of a process before it: then the one that listens
 * tells.
 */
static void find_socket(struct hp_process *process, const struct hp_process_view *view, bool is_mapped) {
    int folder = hp_process_view_open_socket_folder(view, &process->folder);
    int fd = folder >= 0 && !is_mapped ? connect_in(folder, process, NULL) : -1;
    if (folder >= 0)
        close(folder);
    if (!is_mapped && fd < 0)
        hp_process_free(process);
    if (fd >= 0)
        close(fd);
}

static void look_closer(struct hp_process *process, const struct hp_process_view *view) {
    bool is_mapped = maps_library(process->pid);
    int failure = is_mapped ? 0 : errno;
    process->own_pid = view->own_pid;
    guess_service(process, view);
    if (view->has_ended || failure == ENOENT || failure == ESRCH) {
        stand(process, HP_PROCESS_GONE, "has exited");
        return;
    }
    if (failure == EACCES || failure == EPERM) {
        stand_foreign(process, view->outer_uid);
        return;
    }
    find_socket(process, view, is_mapped);
    if (process->folder != NULL)
        stand(process, HP_PROCESS_REACHABLE, "");
    else if (is_mapped)
        stand_without_socket(process, view);
    else
        stand(process, HP_PROCESS_NOT_PROFILED, "is not profiled: it was started without libheapprof.so");
}

void hp_process_look(int pid, struct hp_process *process) {
    struct hp_process_view view;
    *process = (struct hp_process){.pid = pid, .own_pid = pid};
    int failure = hp_process_view_open(&view, pid);
    if (failure == 0)
        look_closer(process, &view);
    else if (failure == ESRCH)
        stand(process, HP_PROCESS_GONE, "there is no such process");
    else
        stand(process, HP_PROCESS_FOREIGN, strerror(failure));
    hp_process_view_close(&view);
}

void hp_process_free(struct hp_process *process) {
    free(process->folder);
    process->folder = NULL;
}

/* -- Asking -- */

static bool ask_once(const struct hp_process *process, enum hp_request request, int patience_ms,
                     struct hp_control_reply *reply, struct hp_error *error) {
    *reply = (struct hp_control_reply){.fault = HP_FAULTS};
    int folder = hp_proc_open_folder(process->pid, process->folder);
    if (folder < 0)
        return hp_error_set(error, "%s", errno == ENOENT || errno == ESRCH ? "has exited" : strerror(errno));
    int fd = connect_in(folder, process, error);
    close(folder);
    bool done = fd >= 0 && hp_control_ask(fd, request, patience_ms, reply, error);
    if (fd >= 0)
        close(fd);
    return done;
}

static long now_ms(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool hp_process_ask(const struct hp_process *process, enum hp_request request, int patience_ms,
                    struct hp_control_reply *reply, struct hp_error *error) {
    long deadline = now_ms() + patience_ms;
    for (;;) {
        long left = deadline - now_ms();
        if (ask_once(process, request, left > 1 ? (int)left : 1, reply, error))
            return true;
        if (reply->fault != HP_FAULT_BUSY || now_ms() + BUSY_PAUSE_MS >= deadline)
            break;
        if (poll(NULL, 0, BUSY_PAUSE_MS) != 0)
            break; /* a signal */
    }
    struct hp_process now;
    hp_process_look(process->pid, &now);
    if (now.standing == HP_PROCESS_GONE)
        hp_error_set(error, "has exited");
    hp_process_free(&now);
    return false;
}

/* -- All of them -- */

static void append(struct hp_process_list *list, size_t *capacity, const struct hp_process *process) {
    list->items = hp_memory_grow(list->items, list->count, capacity, sizeof *list->items);
    list->items[list->count++] = *process;
}

static int by_pid(const void *a, const void *b) {
    const struct hp_process *left = a, *right = b;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

struct hp_process_list hp_process_list_all(void) {
    struct hp_process_list list = {0};
    size_t capacity = 0;
    DIR *proc = opendir("/proc");
    const struct dirent *entry = NULL;
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        struct hp_process process;
        char *end = NULL;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || pid > INT_MAX || *end != '\0')
            continue;
        hp_process_look((int)pid, &process);
        list.foreign += process.standing == HP_PROCESS_FOREIGN;
        if (process.standing == HP_PROCESS_REACHABLE || process.standing == HP_PROCESS_UNREACHABLE)
            append(&list, &capacity, &process);
        else
            hp_process_free(&process);
    }
    if (proc != NULL)
        closedir(proc);
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, by_pid);
    return list;
}

void hp_process_list_free(struct hp_process_list *list) {
    for (size_t i = 0; i < list->count; i++)
        hp_process_free(&list->items[i]);
    free(list->items);
    *list = (struct hp_process_list){0};
}

/* -- By pid or name -- */

static struct hp_process_list find_pid(int pid, struct hp_error *error) {
    struct hp_process_list list = {0};
    size_t capacity = 0;
    struct hp_process process;
    hp_process_look(pid, &process);
    if (process.standing == HP_PROCESS_REACHABLE)
        append(&list, &capacity, &process);
    else if (process.standing == HP_PROCESS_GONE)
        hp_error_set(error, "%d: %s", pid, process.why);
    else if (process.service[0] == '\0')
        hp_error_set(error, "%d %s", pid, process.why);
    else
        hp_error_set(error, "%d (%s) %s", pid, process.service, process.why);
    if (list.count == 0)
        hp_process_free(&process);
    return list;
}

/* What a process calls itself, when it says so. */
static void ask_service(struct hp_process *process) {
    struct hp_control_reply reply;
    struct hp_error unused = {""};
    if (!hp_process_ask(process, HP_REQUEST_STATUS, STATE_PATIENCE_MS, &reply, &unused))
        return;
    struct hp_process_state *state = hp_process_state_parse(reply.bytes, reply.length, &unused);
    if (state != NULL)
        set_service(process, state->service);
    hp_process_state_free(state);
    free(reply.bytes);
}

/* Removes from the list, and frees, all but the `standing` ones of that service. */
static void keep(struct hp_process_list *list, enum hp_process_standing standing, const char *service) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].standing == standing && strcmp(list->items[i].service, service) == 0)
            list->items[kept++] = list->items[i];
        else
            hp_process_free(&list->items[i]);
    list->count = kept;
}

static const struct hp_process *first_unreachable(const struct hp_process_list *list, const char *service) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].standing == HP_PROCESS_UNREACHABLE && strcmp(list->items[i].service, service) == 0)
            return &list->items[i];
    return NULL;
}

static struct hp_process_list find_service(const char *name, struct hp_error *error) {
    struct hp_process wanted = {0};
    struct hp_process_list list = hp_process_list_all();
    set_service(&wanted, name);
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].standing == HP_PROCESS_REACHABLE)
            ask_service(&list.items[i]);
    const struct hp_process *unreachable = first_unreachable(&list, wanted.service);
    if (unreachable != NULL)
        hp_error_set(error, "%d (%s) %s", unreachable->pid, unreachable->service, unreachable->why);
    else
        hp_error_set(error, "no profiled process is called %s%s; `heapprof list` shows those that there are",
                     name, list.foreign > 0 ? " (or it belongs to another user)" : "");
    keep(&list, HP_PROCESS_REACHABLE, wanted.service);
    return list;
}

struct hp_process_list hp_process_list_find(const char *who, struct hp_error *error) {
    char *end = NULL;
    long pid = strtol(who, &end, 10);
    bool is_pid = *who >= '0' && *who <= '9' && *end == '\0' && pid > 0 && pid <= INT_MAX;
    return is_pid ? find_pid((int)pid, error) : find_service(who, error);
}
