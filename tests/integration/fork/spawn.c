/* spawn ROUNDS: vfork, posix_spawn, system and popen, again and again, while threads allocate. */
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;
static volatile bool done;

static void *churn(void *unused) {
    (void)unused;
    for (unsigned turn = 0; !done; turn++) {
        if (turn % 100 == 0) {
            usleep(500);
        }
        void *p = malloc(100);
        CHECK((p = realloc(p, 5000)) != NULL);
        free(p);
    }
    return NULL;
}

static void wait_for(pid_t pid, int wanted) {
    int status = 0;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == wanted);
}

static void by_vfork(void) {
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(1);
    }
    wait_for(pid, 7);
}

static void by_spawn(void) {
    char program[] = "/bin/sh";
    char option[] = "-c";
    char command[] = "exit 8";
    char *arguments[] = {program, option, command, NULL};
    pid_t pid = 0;
    CHECK(posix_spawn(&pid, program, NULL, NULL, arguments, environ) == 0);
    wait_for(pid, 8);
}

static void by_popen(void) {
    char line[100] = "";
    FILE *pipe = popen("echo out", "r");
    CHECK(pipe != NULL && fgets(line, sizeof line, pipe) != NULL && strcmp(line, "out\n") == 0);
    CHECK(pclose(pipe) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    alarm(50);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, churn, NULL) == 0);
    }
    for (int i = atoi(argv[1]); i > 0; i--) {
        by_vfork();
        by_spawn();
        int status = system("exit 9");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
        by_popen();
    }
    done = true;
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return 0;
}
