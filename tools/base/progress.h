/*
 * One line on standard error that says what is going on, and is overwritten; only for somebody who watches:
 * without a terminal there is none.
 */
#ifndef HP_TOOLS_PROGRESS_H
#define HP_TOOLS_PROGRESS_H

/* Shows the line in place of the last one, in the width of a terminal of 80 columns. */
void hp_progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Removes it; needed before anything else is written to the terminal. */
void hp_progress_clear(void);

#endif
