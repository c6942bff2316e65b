/*
 * The state of this process for people who ask: what the guard, the dumps and the recorder know, as JSON
 * (docs/protocol.md).
 */
#ifndef HP_STATUS_H
#define HP_STATUS_H

#include <stddef.h>

/* Writes it into `text`; its length, or 0 when it can't be had now or does not fit. Any thread, muted. */
size_t hp_status_write(char *text, size_t cap);

#endif
