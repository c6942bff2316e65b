/*
 * grow STEP…: each step in turn; prints "done" in the end and exits with 42.
 *
 *   +N  N MiB more in pieces of 32 KiB, touched    -N  so much freed     .N  N milliseconds of sleep
 *   fds every descriptor that can be had is opened  fds- and closed again
 *   absurd  asks for 4 EiB, in vain
 *   as:N no more address space than now and N MiB  as:max  as much as there was
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { PIECE = 32 << 10, PIECES_MAX = 1 << 16 };

static void *pieces[PIECES_MAX];
static size_t count;
static int lowest_fd;

static __attribute__((noinline)) void more(size_t mebibytes) {
    for (size_t n = mebibytes * 32; n > 0 && count < PIECES_MAX; n--) {
        pieces[count] = malloc(PIECE);
        if (pieces[count] == NULL) {
            return;
        }
        memset(pieces[count++], 1, PIECE);
    }
}

static void less(size_t mebibytes) {
    for (size_t n = mebibytes * 32; n > 0 && count > 0; n--) {
        free(pieces[--count]);
    }
}

static void take_descriptors(void) {
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    lowest_fd = dup(1);
    while (dup(1) >= 0) {
    }
    CHECK(errno == EMFILE);
}

static void give_descriptors_back(void) {
    for (int fd = lowest_fd; fd < 64; fd++) {
        close(fd);
    }
}

static size_t mapped_bytes(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

static void limit_address_space(const char *text) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur =
        strcmp(text, "max") == 0 ? limit.rlim_max : mapped_bytes() + (strtoul(text, NULL, 10) << 20);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *step = argv[i];
        if (strcmp(step, "fds") == 0) {
            take_descriptors();
        } else if (strcmp(step, "fds-") == 0) {
            give_descriptors_back();
        } else if (strcmp(step, "absurd") == 0) {
            CHECK(malloc((size_t)1 << 62) == NULL);
        } else if (strncmp(step, "as:", 3) == 0) {
            limit_address_space(step + 3);
        } else if (step[0] == '+') {
            more(strtoul(step + 1, NULL, 10));
        } else if (step[0] == '-') {
            less(strtoul(step + 1, NULL, 10));
        } else {
            usleep((unsigned)strtoul(step + 1, NULL, 10) * 1000);
        }
    }
    less(SIZE_MAX / 64);
    printf("done\n");
    return 42;
}
