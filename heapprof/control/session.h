/*
 * The sessions of the control socket: one request and its reply each, on a thread of its own. At most
 * HP_SESSIONS at once; their threads are made when they are first needed, and stay. What a client does, or
 * does not do, holds up its own session only, and that for seconds at the most.
 */
#ifndef HP_CONTROL_SESSION_H
#define HP_CONTROL_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "heapprof/control/protocol.h"

enum { HP_SESSIONS = 4, HP_STATUS_BYTES_MAX = 48 * 1024 };

/* What the answers are made of. Called on a session's thread, several at a time. */
struct hp_control_host {
    /* A thread of ours has just begun: nothing that it does is the application's. */
    void (*thread_begin)(void);
    /* Writes the state as JSON; its length, or 0 when it can't be had. */
    size_t (*write_status)(char *text, size_t cap);
    /* Writes a profile to the open file. 0, or an errno value. */
    int (*write_profile)(int fd);
    /* A file without a name for it: on disk, or in memory. -1 when there can be none. */
    int (*open_scratch)(bool in_memory);
};

/* Gives the connection, in the table of descriptors that the caller's threads share, to a session. False when
 * all are busy; it is still the caller's then. Called by the listener only. */
bool hp_session_begin(int connection, const struct hp_control_host *host);

/* Tells who has connected why there is no session. Does not wait, and does not close. */
void hp_session_refuse(int connection, enum hp_fault fault, const char *text);

/* After guard_threads_close(): sessions without a connection shall end, the others when they are done. */
void hp_session_end_all(void);

/* In a forked child: there are no sessions. */
void hp_session_forget(void);

#endif
