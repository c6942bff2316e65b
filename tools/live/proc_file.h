/* Files of another process under /proc. */
#ifndef HP_TOOLS_PROC_FILE_H
#define HP_TOOLS_PROC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The whole of /proc/PID/FILE, with a NUL behind it; `length` may be NULL. malloc'ed, the caller frees it.
 * NULL with errno set: EACCES, EPERM for somebody else's process, ENOENT, ESRCH for one that has ended. */
char *hp_proc_read(pid_t pid, const char *file, size_t *length);

/* Where the target of the link /proc/PID/FILE is; likewise. */
char *hp_proc_read_link(pid_t pid, const char *file);

/* The text behind "NAME:" and blanks in the text of a status file; NULL when there is no such line. It ends
 * at the line's end. */
const char *hp_proc_field(const char *status, const char *name);

/* Opens `folder`, an absolute path, as the process sees it: in its mount namespace, below its root, which no
 * symlink leaves. For use as the folder of *at() calls. -1 with errno set. */
int hp_proc_open_folder(pid_t pid, const char *folder);

#endif
