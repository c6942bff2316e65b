/*
 * Making a dump: the one way for the guard, a signal, a request and the API.
 *
 * Takes a snapshot, writes it as gzipped pprof into a sink, publishes, rotates, makes it durable. All but the last
 * one at a time: a second caller waits for the first a bounded time, but not for its disk. No allocation: all memory is
 * mapped and touched by hp_capture_prepare(). The caller is muted and holds no lock of rank capture or above.
 */
#ifndef HP_CAPTURE_CAPTURE_H
#define HP_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "heapprof/capture/dump_name.h"

/* Numbers for the profile's comments, which only the callers know. */
struct hp_capture_facts {
    const char *reason; /* limit95, request, signal … */
    bool is_early;      /* a lower threshold's: not worth it when the folder tells of a restart loop */
    bool is_hurried;    /* an application's thread makes it, at the gate: it waits for no other dump for long */
    uint64_t usage;     /* bytes; with limit and source: the guard's reading */
    uint64_t limit;     /* UINT64_MAX: none */
    const char *source;
    uint64_t threshold;           /* bytes; 0: none */
    uint64_t allocator_allocated; /* jemalloc's stats.allocated and stats.resident; 0: not known */
    uint64_t allocator_resident;
    uint64_t samples_lost;
    uint64_t bytes_lost;
    uint64_t stacks_truncated;
};

/* Where dumps go and how they are named; the folders must live on. Called once by init.c. */
struct hp_capture_config {
    const char *folder;    /* absolute */
    bool is_folder_chosen; /* by somebody, who will want to know if it is of no use before there is a dump */
    const char *spare;     /* where a dump goes that can't be written there; NULL: nowhere */
    const char *service;
    uint32_t keep;
    uint64_t budget;
    uint64_t period;
};
void hp_capture_init(const struct hp_capture_config *config);

/* Maps what a dump needs; cheap when done before. False when there is no memory. Any thread. */
bool hp_capture_prepare(void);

/*
 * The first thing on the guard's thread, in a forked child again: prepares, and makes a small dump to the
 * last byte but for its name. So the folder is made if it is missing, and one line says so if it can't be
 * written to; and whatever a dump touches, the code's pages too, is there and this process's own: a real one
 * needs no page more.
 */
void hp_capture_rehearse(const struct hp_capture_facts *facts);

/* A dump into the dump folder, or else into the spare one, named by the house's rule, and rotation. Early
 * dumps of processes that share the folder take turns, the largest first, but none waits longer than 30 ms,
 * nor for the disk. One is left out when others have filled the folder within the last minute: a service that
 * restarts and fails in a loop would only push its first dumps out. True when a whole file is there, or none
 * is owed; the path is logged at info. Failure is one line on standard error, once for each cause. */
bool hp_capture_to_folder(const struct hp_capture_facts *facts);

/* A dump to `path` (replaced) or to the open `fd`. 0, or an errno value. */
int hp_capture_to_path(const struct hp_capture_facts *facts, const char *path);
int hp_capture_to_fd(const struct hp_capture_facts *facts, int fd);

/* A file without a name, for a dump that goes elsewhere: in the dump folder, where the file system can, or in
 * memory. Its descriptor; -1 with errno set. */
int hp_capture_open_scratch(bool in_memory);

/* What became of the dumps of this process so far, those to a descriptor aside; sizes in bytes. */
struct hp_capture_history {
    uint64_t written;
    uint64_t failed;
    int64_t last_ns; /* when the last one was whole, since the Unix epoch; 0: there is none */
    uint64_t last_bytes;
    uint64_t last_took_ns;
    uint64_t last_memory; /* pages that it touched for the first time */
    char last_reason[24];
    char last_path[4096];
};
void hp_capture_history(struct hp_capture_history *history);

/* Who this process is in its dumps: the clean service and host, when it started. */
const struct hp_dump_identity *hp_capture_identity(void);
const struct hp_capture_config *hp_capture_settings(void);

void hp_capture_fork_prepare(void);
void hp_capture_fork_parent(void);
/* The child gets an identity and numbers of its own. */
void hp_capture_fork_child(void);

#endif
