/*
 * dump_now(PATH): a dump of this process at PATH, by the signal when HEAPPROF_SIGNAL=USR2 is set (the way of
 * a program that only preloads heapprof), by heapprof_dump() otherwise. Ends the program when there is none.
 */
#ifndef INTEGRATION_DUMP_NOW_H
#define INTEGRATION_DUMP_NOW_H

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAPPROF_OPTIONAL
#include "heapprof/heapprof.h"

static inline int dump_now_take_file(const char *folder, const char *path) {
    char found[4096] = "";
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return 0;
    }
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (strncmp(e->d_name, "heapprof.", 9) == 0 && strstr(e->d_name, ".signal.pb.gz") != NULL) {
            snprintf(found, sizeof found, "%s/%s", folder, e->d_name);
        }
    }
    closedir(dir);
    return found[0] != '\0' && rename(found, path) == 0;
}

static inline void dump_now(const char *path) {
    if (getenv("HEAPPROF_SIGNAL") == NULL) {
        int error = heapprof_is_linked() ? heapprof_dump(path) : ENOSYS;
        if (error != 0) {
            fprintf(stderr, "heapprof_dump(%s): %s\n", path, strerror(error));
            exit(1);
        }
        return;
    }
    raise(SIGUSR2);
    for (int i = 0; i < 1000; i++) {
        if (dump_now_take_file(getenv("HEAPPROF_DUMP_DIR"), path)) {
            return;
        }
        usleep(10000);
    }
    fprintf(stderr, "no dump came within 10 s of SIGUSR2\n");
    exit(1);
}

#endif
