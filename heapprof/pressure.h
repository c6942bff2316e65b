/* The application's callbacks for memory pressure: registered by the API, called by the guard. */
#ifndef HP_PRESSURE_H
#define HP_PRESSURE_H

#include "guard/guard.h"
#include "heapprof/heapprof.h"

/* As heapprof_on_pressure(). Any thread. */
int hp_pressure_add(heapprof_pressure *callback, void *context);

/* Calls all of them, on the guard's thread, without a lock. */
void hp_pressure_call(const struct guard_crossing *crossing);

#endif
