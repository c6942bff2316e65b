/*
 * The names of dump files: heapprof.<service>.<host>.<pid>.<start time>.<seq>.<reason>.pb.gz
 *
 * Two processes never share one: a container has its own host name, a process its start time to the
 * millisecond, a dump its number. Service and host hold no dots, so a name splits into its parts again.
 */
#ifndef HP_CAPTURE_DUMP_NAME_H
#define HP_CAPTURE_DUMP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_DUMP_NAME_MAX = 255, HP_DUMP_PART_MAX = 65 };

/* The parts that a process's dumps have in common. */
struct hp_dump_identity {
    char service[HP_DUMP_PART_MAX];
    char host[HP_DUMP_PART_MAX];
    char start[24];   /* 20261201T141355123: UTC, to the millisecond */
    int64_t start_ns; /* the same since the Unix epoch */
    int pid;
};

/* Fills in who this process is. `service` is cleaned for use in a file name. Uses uname() and the clock; at
 * start and in a forked child. */
void hp_dump_identity_init(struct hp_dump_identity *identity, const char *service);

/* Writes the name of dump number `seq` into `name` (HP_DUMP_NAME_MAX + 1 bytes). */
void hp_dump_name_write(char *name, const struct hp_dump_identity *identity, unsigned seq,
                        const char *reason);

/* Writes what the names of all dumps of this process begin with (HP_DUMP_NAME_MAX + 1 bytes). */
void hp_dump_name_own(char *name, const struct hp_dump_identity *identity);

/* How much of a dump's name the names of all dumps of its process begin with; of other names, all of it. */
size_t hp_dump_name_own_bytes(const char *name);

/* Whether `name` is a finished dump of `service` (as the identity has it). */
bool hp_dump_name_is_dump(const char *name, const char *service);

/* Whether `name` is what a dump of `service` is called while it is written. */
bool hp_dump_name_is_temporary(const char *name, const char *service);

#endif
