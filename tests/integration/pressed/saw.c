/*
 * saw TEETH [storm]: TEETH times from 20 to 70 MiB and back, holding still for a while at both ends; prints "done" in the
 * end and exits with 42.
 *
 * storm: meanwhile a timer's signal comes each 200 us, SIGTERM is blocked in every thread but for one that waits for it
 * in sigwait(), and each that is sent must come there (G20).
 */
#include <pthread.h>
#include <stdbool.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { PIECE = 32 << 10, PIECES = 70 * 32, LEAST = 20 * 32, TERMS_A_TOOTH = 5 };

static void *pieces[PIECES];
static int count;
static _Atomic long alarms;
static _Atomic long strays; /* signals that came on one of heapprof's threads */
static sem_t waited;

static void on_alarm(int number) {
    char name[16] = "";
    (void)number;
    (void)prctl(PR_GET_NAME, name);
    strays += strncmp(name, "heapprof", 8) == 0;
    alarms++;
}

static void *wait_for_terms(void *set) {
    for (;;) {
        int number = 0;
        CHECK(sigwait(set, &number) == 0 && number == SIGTERM);
        CHECK(sem_post(&waited) == 0);
    }
    return NULL;
}

static void begin_storm(void) {
    static sigset_t set;
    pthread_t thread;
    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, SIGTERM) == 0 && sem_init(&waited, 0, 0) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_terms, &set) == 0);
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    const struct itimerval timer = {{0, 200}, {0, 200}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void send_terms(void) {
    for (int i = 0; i < TERMS_A_TOOTH; i++) {
        struct timespec deadline;
        int rc = 0;
        CHECK(kill(getpid(), SIGTERM) == 0);
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_sec += 30;
        while ((rc = sem_timedwait(&waited, &deadline)) != 0 && errno == EINTR) {
        }
        CHECK(rc == 0);
    }
}

static void rest(void) {
    struct timespec left = {.tv_nsec = 20000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

int main(int argc, char **argv) {
    bool storms = argc > 2 && strcmp(argv[2], "storm") == 0;
    CHECK(argc >= 2);
    if (storms) {
        begin_storm();
    }
    for (long teeth = strtol(argv[1], NULL, 10); teeth > 0; teeth--) {
        while (count < PIECES) {
            pieces[count] = malloc(PIECE);
            CHECK(pieces[count] != NULL);
            memset(pieces[count++], 1, PIECE);
        }
        if (storms) {
            send_terms();
        }
        rest();
        while (count > LEAST) {
            free(pieces[--count]);
        }
        rest();
    }
    CHECK(strays == 0);
    CHECK(!storms || alarms > 200);
    puts("done");
    return 42;
}
