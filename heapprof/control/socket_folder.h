/*
 * The folder with the control sockets of one user's processes: nobody else can enter it, so nobody else can
 * connect, or put something in a socket's place.
 *
 * All that changes it is done under the folder's lock (flock(2)). A socket gets its name when it listens
 * already: one that refuses is a dead process's, never one that is just being made.
 *
 * No allocation; not a cancellation point. The descriptors are in the caller's table.
 */
#ifndef HP_CONTROL_SOCKET_FOLDER_H
#define HP_CONTROL_SOCKET_FOLDER_H

#include <stdbool.h>

enum { HP_SOCKET_NAME_MAX = 32 };

/* Why it does not work. */
struct hp_socket_fault {
    const char *complaint; /* completes the sentence "<folder> …"; static */
    int error;             /* errno, when that says more; else 0 */
    bool is_unsafe;        /* the folder is there, but not ours alone */
};

/* Opens the folder at `path`, making it where it is missing (not what is above it). It must be a folder, no
 * symlink, the effective user's, and 0700. Returns a descriptor; -1 with *fault set. */
int hp_socket_folder_open(const char *path, struct hp_socket_fault *fault);

/* Removes what dead processes left in the open folder, and makes a listening socket of this process there:
 * "<pid>.sock", or "<pid>.2.sock" … when a process of the same number in another pid namespace has that name.
 * Returns its descriptor, and its name in `name`; -1 with *fault set. Waits at most two seconds for other
 * processes that do the same. */
int hp_socket_folder_listen(int folder, const char *path, char name[HP_SOCKET_NAME_MAX],
                            struct hp_socket_fault *fault);

#endif
