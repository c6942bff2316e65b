#ifndef ATFORK_HANDLERS_H
#define ATFORK_HANDLERS_H

#include <pthread.h>

/* Held by the library's handler over every fork(). */
extern pthread_mutex_t handlers_lock;

#endif
