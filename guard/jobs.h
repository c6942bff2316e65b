/*
 * What is to be done about a crossing, or about memory that the kernel refused: queued by who finds it, done
 * by the guard's thread, waited for at the gate by those who ask for more.
 *
 *   crossing    pressure callbacks ─► purge ─► still there? ─► dump ─► abort or exit
 *   refused     dump
 *
 * At most one of each kind waits and one of each is being done; a second crossing is merged into the one that
 * waits. A refused allocation's job goes first.
 */
#ifndef GUARD_JOBS_H
#define GUARD_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "guard/watch.h"

/* The ticket for thresholds that fire now. Lock held. */
uint32_t guard_jobs_ticket(void);

/* Queues what a look has found, under guard_jobs_ticket(); closes the gate at the last threshold. Lock held.
 */
void guard_jobs_queue(const struct guard_find *find);

/* Queues a dump for refused memory, if one may be made now. False: it may not, or the lock could not be had
 * in time. True also when one is on its way already. Closes the gate for the likes of it. */
bool guard_jobs_queue_refused(uint64_t bytes);

/* Whether a job waits. Lock held. */
bool guard_jobs_has_queued(void);

/* Does all that is queued but for what another thread is at. On the guard's thread `with_pressure`. */
void guard_jobs_run(bool with_pressure);

/* Does the job for refused memory, unless it is being done, or a dump of another kind is. */
void guard_jobs_run_refused(void);

/* Whether threads that ask for memory have to wait. */
bool guard_jobs_gate_is_closed(void);

/* Waits while a dump at the last threshold is on its way: once for each, until `deadline` at the latest; and
 * makes it, when half of that time has passed and the guard's thread has not come to it. */
void guard_jobs_wait(int64_t deadline);
/* The same for refused memory. Returns whether the job has ended. */
bool guard_jobs_wait_refused(int64_t deadline);

/* In a forked child: nothing is queued, nothing has been dumped. Lock held. */
void guard_jobs_reset(void);

#endif
