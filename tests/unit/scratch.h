/*
 * A temporary folder for a test, one a process. What goes wrong here ends the test program.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Makes an empty folder, in place of the last one; removes it. As cmocka's setup and teardown. */
int scratch_make(void **state);
int scratch_remove(void **state);

/* The absolute path of `name` ("": the folder itself). Good for the next 8 calls. */
const char *scratch_path(const char *name);

/* Writes a file, last written `age_s` seconds ago. */
void scratch_write(const char *name, const void *bytes, size_t length, long age_s);

/* Whether there is anything, a dangling symlink too, of that name. */
bool scratch_has(const char *name);

/* How many entries, hidden ones too, lie in the folder `name`; their names, sorted, one a line, in `list`
 * (which may be NULL). */
unsigned scratch_list(const char *name, char *list, size_t cap);

/* The bytes of a file, in `buffer`; returns how many there are, at most `cap`. */
size_t scratch_read(const char *name, void *buffer, size_t cap);

#endif
