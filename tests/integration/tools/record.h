/* A stand-in for the library: records stacks of the running program and writes them as an unsymbolized
 * profile, so that the command can be tested on real addresses without it. */
#ifndef TESTS_INTEGRATION_TOOLS_RECORD_H
#define TESTS_INTEGRATION_TOOLS_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

/* A sample of this many bytes at the caller's stack. */
void record_sample(long bytes);

/* Writes the profile to `path`, gzipped; ends the program when it can't. */
void record_write(const char *path);

#ifdef __cplusplus
}
#endif

#endif
