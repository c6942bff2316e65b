/* How a program tells inject where its window begins and ends. */
#ifndef FAULTS_MARK_H
#define FAULTS_MARK_H

#include <sys/resource.h>

enum { MARK = 0x68707266 };

static inline void mark(void) {
    (void)getpriority(PRIO_USER, MARK);
}

#endif
