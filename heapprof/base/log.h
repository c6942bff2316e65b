/*
 * Lines for people on standard error: by write(2), one call a line, capped for each process, so that a
 * fault that repeats cannot flood a service's log.
 */
#ifndef HP_BASE_LOG_H
#define HP_BASE_LOG_H

enum hp_log_level { HP_LOG_ERROR, HP_LOG_WARN, HP_LOG_INFO };

/* Lines above `level` are not written. Default: warn. */
void hp_log_set_level(enum hp_log_level level);

/* Writes "heapprof: " and the text (hp_writer_format's part of printf) as one line. Keeps errno; any
 * thread. Never waits: a line that standard error does not take at once is lost. After HP_LOG_LINES lines it falls
 * silent, saying so. */
void hp_log(enum hp_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The calling thread has a table of descriptors of its own (unshare(2), CLONE_FILES), where number 2 is not
 * the process's standard error: its lines go to what that is at the time of each. A line for which it can't
 * be had is lost. */
void hp_log_find_standard_error(void);

enum { HP_LOG_LINES = 100 };

#endif
