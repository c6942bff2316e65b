/*
 * The profiled processes of this machine, found through /proc: those that have libheapprof.so mapped, or
 * whose control socket is there (a program that is linked to libheapprof.a maps nothing of that name).
 * Processes in containers, too: their sockets are looked for in their own mount namespace (/proc/PID/root),
 * under their own pid.
 *
 *   struct hp_process_list list = hp_process_list_find(argv[1], &error);       a pid or a service's name
 *   if (list.count == 1 && hp_process_ask(&list.items[0], HP_REQUEST_PROFILE, HP_CONTROL_PATIENCE_MS, &reply,
 * &error)) … hp_process_list_free(&list);
 */
#ifndef HP_TOOLS_PROCESS_LIST_H
#define HP_TOOLS_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/live/control_client.h"
#include "tools/base/error.h"

enum hp_process_standing {
    HP_PROCESS_REACHABLE,    /* has a socket: it can be asked */
    HP_PROCESS_UNREACHABLE,  /* carries heapprof, but has no socket; `why` says it */
    HP_PROCESS_NOT_PROFILED, /* … or switched off */
    HP_PROCESS_FOREIGN,      /* somebody else's, who may not be looked at */
    HP_PROCESS_GONE,         /* there is none, or it has just ended */
};

struct hp_process {
    int pid;     /* as this process numbers it */
    int own_pid; /* as it is numbered in its own, innermost, pid namespace */
    enum hp_process_standing standing;
    char service[65]; /* as it says itself after hp_process_list_find() by service; else a guess:
                         HEAPPROF_SERVICE, or the program's name */
    char *folder;     /* of its socket, as it sees it; NULL unless reachable */
    char why[256];    /* one line: why it can't be asked, without the pid; "" when reachable */
};

struct hp_process_list {
    struct hp_process *items; /* by pid */
    size_t count;
    size_t foreign; /* processes of others, left out because they could not be looked at */
};

/* Looks at one process. Frees nothing of *process before; hp_process_free() it afterwards. */
void hp_process_look(int pid, struct hp_process *process);
void hp_process_free(struct hp_process *process);

/* All that carry heapprof, reachable or not. */
struct hp_process_list hp_process_list_all(void);

/*
 * The reachable processes that `who` names: one, when it is a pid; else all of that service. Empty, with
 * `error` set to one line that names it, when there is none. More than one: the caller lists them and asks
 * the user which.
 */
struct hp_process_list hp_process_list_find(const char *who, struct hp_error *error);

void hp_process_list_free(struct hp_process_list *list);

/*
 * Asks a reachable process, again while it is busy, `patience_ms` at the most. False with `error` set; see
 * hp_control_ask().
 */
bool hp_process_ask(const struct hp_process *process, enum hp_request request, int patience_ms,
                    struct hp_control_reply *reply, struct hp_error *error);

#endif
