/*
 * interrupted_code: a timer's signals hit code of all kinds that does not allocate, in the vdso, in libc's
 * assembly, behind the PLT, in this program; each handler allocates, so that there is a stack through the
 * signal frame.
 */
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

static volatile sig_atomic_t hits;

static void on_signal(int number) {
    (void)number;
    free(malloc(100));
    hits++;
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int main(void) {
    static char text[5000];
    static int numbers[512];
    struct timespec now;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval = {.tv_usec = 500}, .it_value = {.tv_usec = 500}};
    memset(text, 'x', sizeof text - 1);
    CHECK(sigaction(SIGPROF, &action, NULL) == 0 && setitimer(ITIMER_PROF, &often, NULL) == 0);
    for (unsigned turn = 0; hits < 150; turn++) {
        for (int i = 0; i < 2000; i++) {
            CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
        }
        for (int i = 0; i < 512; i++) {
            numbers[i] = (int)((unsigned)i * 7919 % 509 + turn % 3);
        }
        qsort(numbers, 512, sizeof numbers[0], compare); /* from a buffer on the stack */
        CHECK(strlen(text) == sizeof text - 1 && strchr(text, 'y') == NULL &&
              getenv("NO_SUCH_VARIABLE") == NULL);
    }
    printf("done\n");
    return 0;
}
