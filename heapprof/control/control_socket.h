/*
 * The control socket: where other processes of the same user ask this one for its state or for a profile
 * (docs/protocol.md). One thread listens, others answer (session.h); they share a table of descriptors of
 * their own, in which the application never meets one, and takes none away. Without such a table (Linux
 * before 5.9, a filter that denies it) there is no socket.
 *
 * The listener begins with the first sample, as the guard's thread does, and ends with it; a forked child has
 * one of its own. When there can be no socket that is said in one line, and nothing is tried again.
 */
#ifndef HP_CONTROL_CONTROL_SOCKET_H
#define HP_CONTROL_CONTROL_SOCKET_H

#include <stdbool.h>

#include "heapprof/control/session.h"

enum { HP_CONTROL_FOLDERS = 3 };

struct hp_control_config {
    const struct hp_control_host *host;
    /* Where the socket may lie, the best first; NULL: none. Absolute; they live on. */
    const char *folders[HP_CONTROL_FOLDERS];
    /* They are where a folder heapprof-<uid> is made for it. Else the first one, which somebody chose, is it.
     */
    bool are_common;
};

/* Binds it; makes nothing. Once, by init.c; never called: there is no socket. */
void hp_control_init(const struct hp_control_config *config);

/* Whether hp_control_start() would do something. One load; any thread. */
bool hp_control_wants_start(void);

/* Starts the listener. Any thread, muted, but not below the dynamic loader or in a signal handler. */
void hp_control_start(void);

/* Removes this process's socket. At its end; async-signal-safe. In vain in a child, whoever its parent is. */
void hp_control_remove(void);

/* After guard_threads_close(): the threads shall end, and are waited for until `deadline`; a session may need
 * seconds longer. */
void hp_control_end(int64_t deadline);

/* In a forked child. */
void hp_control_fork_child(void);

#endif
