/*
 * The clock and the host name as a test wants them: clock_gettime, uname and getpid of the code under test
 * come here (linked with --wrap). Without a setting they are the real ones.
 */
#ifndef TESTS_FAKED_IDENTITY_H
#define TESTS_FAKED_IDENTITY_H

#include <stdint.h>

/* What CLOCK_REALTIME says, in ns since the epoch; < 0: the truth. */
void fake_wall_clock(int64_t ns);

/* What uname() calls this host (NULL: the truth; "!": it fails) and getpid() this process (0: the truth). */
void fake_host(const char *name, int pid);

#endif
