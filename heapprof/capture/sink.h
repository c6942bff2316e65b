/*
 * Where a dump's bytes go: a new file that appears whole or not at all, or a descriptor of the caller's.
 *
 * A file is written without a name (O_TMPFILE) and gets it when it is whole: a process that is killed in
 * between leaves nothing behind. Where the file system can't do that, or the file is to replace another, it
 * is written under a hidden temporary name in its own folder, and renamed. Then it is fsynced, with its
 * folder. In this order, because the end that dumps are made for is SIGKILL: that loses nothing of the page
 * cache, while an fsync takes from one to hundreds of milliseconds, in which a file without its name would be
 * lost to people. A reader sees a whole file or none; a disk that fails afterwards takes it back.
 *
 * No allocation; not a cancellation point. One user at a time (the capture lock).
 */
#ifndef HP_CAPTURE_SINK_H
#define HP_CAPTURE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_SINK_PATH_MAX = 4096 };

struct hp_sink {
    int fd;
    bool is_file;     /* else the caller's descriptor */
    bool replaces;    /* an existing file of that name may be replaced */
    bool is_nameless; /* until it is published; else it has its temporary name */
    uint64_t bytes;   /* written so far */
    int error;        /* errno of the first failure; 0 */
    char path[HP_SINK_PATH_MAX];
    char temporary[HP_SINK_PATH_MAX];
};

/* Begins the file `folder`/`name`, making the folder where it is missing. 0, or -1 with sink->error set. */
int hp_sink_open_file(struct hp_sink *sink, const char *folder, const char *name);

/* Begins the file at `path`, which it replaces when it commits. */
int hp_sink_open_path(struct hp_sink *sink, const char *path);

/* Begins writing to `fd`, which stays open and the caller's. */
void hp_sink_open_fd(struct hp_sink *sink, int fd);

/* Writes all of it. 0, or -1 with sink->error set; then only abort is left. An hp_gzip_output. */
int hp_sink_write(void *sink, const void *data, size_t bytes);

/* The user whom the open file belongs to. */
unsigned hp_sink_owner(const struct hp_sink *sink);

/* Gives the file its name: from now on it is there, and whole. 0; or -1 with sink->error set and nothing left
 * behind. EEXIST: the name is taken, the caller picks another. */
int hp_sink_publish(struct hp_sink *sink);

/* A published file that is not durable yet; fd -1: nothing. */
struct hp_settling {
    int fd;
    int folder; /* -1: can't be opened */
    char name[256];
};

/* Takes a published file out of the sink, which is free for the next one. */
void hp_sink_detach(struct hp_sink *sink, struct hp_settling *file);

/* Makes it durable: waits for the disk, or, unless `waits`, only sets it to work. 0; or an errno value and the file
 * removed. Closes it. Needs no lock, and is called without one: a disk may take its time. */
int hp_sink_settle(const struct hp_settling *file, bool waits);

/* Removes what was written so far. */
void hp_sink_abort(struct hp_sink *sink);

#endif
