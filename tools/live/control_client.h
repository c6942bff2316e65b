/*
 * One request to a profiled process over its control socket (docs/protocol.md). Every wait has an end. A
 * target can send what it likes: what is kept is bounded, and grows only as it arrives.
 *
 *   int fd = hp_control_connect(folder, "4711.sock", 4711, &error);
 *   if (fd >= 0 && hp_control_ask(fd, HP_REQUEST_PROFILE, HP_CONTROL_PATIENCE_MS, &reply, &error)) …
 *
 * process_list.h has the whole of it for a process: hp_process_ask().
 */
#ifndef HP_TOOLS_CONTROL_CLIENT_H
#define HP_TOOLS_CONTROL_CLIENT_H

#include <stddef.h>

#include "tools/base/error.h"
#include "heapprof/control/protocol.h"

/* For a whole exchange: a process may have to wait for its own dump, a loaded machine for the process. */
enum { HP_CONTROL_PATIENCE_MS = 30000 };

/* The longest body that is taken, bytes. */
#define HP_CONTROL_BODY_MAX ((size_t)1 << 30)

struct hp_control_reply {
    char *bytes; /* the body, and a NUL behind it; free() it. NULL when there was no reply */
    size_t length;
    enum hp_fault fault; /* after an error reply: its code; else HP_FAULTS */
};

/*
 * Connects to the socket `name` in the open folder `folder`, and makes sure that process `pid` (as this
 * process numbers it) listens there: a socket may be a left-over, or a trap. Returns the descriptor, the
 * caller's to close; -1 with `error` set.
 */
int hp_control_connect(int folder, const char *name, int pid, struct hp_error *error);

/*
 * Asks, and waits for the whole reply, `patience_ms` at the most. A signal without SA_RESTART ends the wait,
 * too. False with `error` set when the other end refuses, answers in part or not at all; then reply->bytes is
 * NULL.
 */
bool hp_control_ask(int fd, enum hp_request request, int patience_ms, struct hp_control_reply *reply,
                    struct hp_error *error);

#endif
