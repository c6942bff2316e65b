/* Dates for people and for file names, in UTC. gmtime() takes a lock. */
#ifndef HP_BASE_DATE_H
#define HP_BASE_DATE_H

#include <stdint.h>

struct hp_date {
    uint64_t year, month, day, hour, minute, second, millisecond;
};

/* The civil time of `wall_ns` ns since the Unix epoch, which are not negative. Pure. */
struct hp_date hp_date_of(int64_t wall_ns);

#endif
