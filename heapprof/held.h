/*
 * How much the application holds, by our books, and how much of that it has not touched yet.
 *
 * Usage counts what was touched. A program that asks for eight times 30 MB and then fills them crosses every
 * threshold without another call to malloc: what it holds, and is not resident, is still to come.
 */
#ifndef HP_HELD_H
#define HP_HELD_H

#include <stdint.h>

/* Counts bytes of samples (estimates) that began or ended to be held. Any thread. */
void hp_held_add(uint64_t bytes);
void hp_held_subtract(uint64_t bytes);

/* Bytes that are held and have no page yet, an estimate; 0 when /proc does not tell. Reads /proc/self/statm: some
 * 3 us. May change errno. */
uint64_t hp_held_untouched(void);

#endif
