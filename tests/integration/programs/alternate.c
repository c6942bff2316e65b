/*
 * alternate BYTES: each of four threads has an alternate signal stack of so many bytes, below which lies a
 * page that may not be touched, and raises signals whose handler allocates there, and is interrupted by
 * another. Prints sums.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "check.h"

enum { THREADS = 4, SIGNALS = 300 };

static size_t stack_bytes;
static __thread char *kept;
static __thread unsigned handled;

static void on_signal(int number) {
    char *p = malloc(100 + handled % 3000);
    kept = realloc(kept, 50 + handled * 7 % 5000);
    if (p == NULL || kept == NULL) {
        abort();
    }
    p[0] = 1;
    kept[0] = p[0];
    handled++;
    if (number == SIGUSR1) {
        raise(SIGUSR2); /* on the same stack, further down */
    }
    free(p);
}

static void *work(void *unused) {
    char *stack = mmap(NULL, stack_bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED && mprotect(stack, 4096, PROT_NONE) == 0);
    stack_t own = {.ss_sp = stack + 4096, .ss_size = stack_bytes};
    CHECK(sigaltstack(&own, NULL) == 0);
    for (int i = 0; i < SIGNALS; i++) {
        CHECK(raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2) == 0);
    }
    own.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&own, NULL) == 0 && munmap(stack, stack_bytes + 4096) == 0);
    free(kept);
    CHECK(handled == SIGNALS / 2 * 3);
    return unused;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    stack_bytes = strtoul(argv[1], NULL, 10);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGUSR2, &action, NULL) == 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    printf("done\n");
    return 0;
}
