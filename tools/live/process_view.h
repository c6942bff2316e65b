/* Where a process would have put its control socket, as it saw the world when it started. */
#ifndef HP_TOOLS_PROCESS_VIEW_H
#define HP_TOOLS_PROCESS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { HP_VIEW_UIDS = 3 };

struct hp_process_view {
    pid_t pid;                   /* as this process numbers it */
    pid_t own_pid;               /* in its own, innermost, pid namespace */
    bool has_ended;              /* a zombie */
    unsigned uids[HP_VIEW_UIDS]; /* in its own user namespace: effective, real, saved */
    unsigned outer_uid;          /* the effective one as this process sees it */
    char *environment;           /* "NAME=value" after another, each with its NUL; NULL: can't be read */
    size_t environment_bytes;
};

/* Fills *view. 0; an errno value when the process can't be looked at (ESRCH: it is not there), *view then
 * empty. */
int hp_process_view_open(struct hp_process_view *view, pid_t pid);
void hp_process_view_close(struct hp_process_view *view);

/* The variable's value; NULL when it was not set or can't be known. The view's own. */
const char *hp_process_view_variable(const struct hp_process_view *view, const char *name);

/*
 * Opens the folder that has a socket of the process, -1 when there is none. *folder becomes its path as the
 * process sees it, malloc'ed, the caller frees it.
 */
int hp_process_view_open_socket_folder(const struct hp_process_view *view, char **folder);

enum { HP_SOCKET_NAME = 32, HP_SOCKET_NAMES = 9 };

/* The name of the n-th socket (from 1) that a process of `own_pid` may have: processes of several pid
 * namespaces can share a folder. */
void hp_process_view_socket_name(char name[HP_SOCKET_NAME], pid_t own_pid, int n);

#endif
