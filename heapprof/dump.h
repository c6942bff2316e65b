/*
 * Who asks for a dump, and what is known at that moment: puts the guard's reading, jemalloc's totals and the
 * recorder's losses together and hands them to capture. The caller's thread is muted for the while.
 */
#ifndef HP_DUMP_H
#define HP_DUMP_H

#include <stdbool.h>

#include "guard/guard.h"

/* At a threshold, or because memory was refused; from the guard, whose caller may hold jemalloc's locks in the
 * second case. Whether a whole dump is on disk, or none is owed. */
bool hp_dump_at_threshold(const struct guard_crossing *crossing);

/* Makes ready for both, on the guard's thread (hp_capture_rehearse). */
void hp_dump_rehearse(void);

/* On demand, into the dump folder; `reason` goes into the name. */
bool hp_dump_on_demand(const char *reason);

/* On demand, to the caller's place. 0, or an errno value. */
int hp_dump_to_path(const char *path);
int hp_dump_to_fd(int fd);

#endif
