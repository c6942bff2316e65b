/* heapprof status: what the guard of one process knows. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command/command.h"
#include "tools/base/memory.h"
#include "tools/live/process_list.h"
#include "tools/live/process_state.h"
#include "tools/report/status_report.h"
#include "tools/base/text.h"

enum { WATCH_MS = 1000 };

struct settings {
    bool as_json, watches, is_difference;
    char **arguments;
    int count;
};

static void print_help(FILE *stream) {
    fputs("usage: heapprof status [OPTION...] PID|SERVICE\n"
          "       heapprof status --diff BEFORE AFTER\n"
          "\n"
          "Shows what the guard of a process knows: its usage of memory against the limit,\n"
          "now and since it started; when thresholds were reached; its last dump; samples\n"
          "taken and lost.\n"
          "\n"
          "  -w, --watch           again every second, until Ctrl-C or the process's end\n"
          "  -j, --json            as JSON: to keep, and to compare later\n"
          "      --diff            compares two such files: percentiles of usage before and\n"
          "                        after a change, against the limit\n"
          "  -h, --help            this text\n"
          "\n"
          "Example: heapprof status --json edge_service >before.json\n",
          stream);
}

/* -- One process -- */

/* Asks once and shows it. */
static bool show(const struct settings *settings, const struct hp_process *process, struct hp_error *error) {
    struct hp_control_reply reply;
    if (!hp_process_ask(process, HP_REQUEST_STATUS, HP_CONTROL_PATIENCE_MS, &reply, error))
        return false;
    struct hp_process_state *state = hp_process_state_parse(reply.bytes, reply.length, error);
    if (state != NULL && settings->watches && !settings->as_json && isatty(STDOUT_FILENO))
        fputs("\033[H\033[2J", stdout); /* home, and clear */
    if (state != NULL && settings->as_json)
        puts(reply.bytes);
    else if (state != NULL)
        hp_status_report(stdout, state, process->pid);
    free(reply.bytes);
    bool shown = state != NULL;
    hp_process_state_free(state);
    return shown;
}

/* Until something ends it: Ctrl-C the command itself. */
static int show_process(const struct settings *settings, const struct hp_process *process) {
    struct hp_error error = {""};
    while (show(settings, process, &error)) {
        if (!settings->watches)
            return HP_STATUS_DONE;
        if (!settings->as_json && !isatty(STDOUT_FILENO))
            putchar('\n');
        if (fflush(stdout) != 0)
            return HP_STATUS_DONE; /* hp_command_finish() says it */
        (void)poll(NULL, 0, WATCH_MS);
    }
    hp_command_say("%d (%s) %s", process->pid, process->service, error.text);
    return HP_STATUS_FAULT;
}

static void show_choice(const char *who, const struct hp_process_list *list) {
    hp_command_say("%zu processes are called %s; which one?", list->count, who);
    for (size_t i = 0; i < list->count; i++)
        fprintf(stderr, "  heapprof status %d\n", list->items[i].pid);
}

static int show_named(const struct settings *settings) {
    struct hp_error error = {""};
    struct hp_process_list list = hp_process_list_find(settings->arguments[0], &error);
    int status = HP_STATUS_FAULT;
    if (list.count == 0)
        hp_command_say("%s", error.text);
    else if (list.count > 1)
        show_choice(settings->arguments[0], &list);
    else
        status = show_process(settings, &list.items[0]);
    hp_process_list_free(&list);
    return status;
}

/* -- Two files -- */

static struct hp_process_state *read_state(const char *path) {
    struct hp_error error = {""};
    struct hp_process_state *state = hp_process_state_read(path, &error);
    if (state == NULL)
        hp_command_say("%s: %s", path, error.text);
    return state;
}

static int show_difference(const struct settings *settings) {
    struct hp_process_state *before = read_state(settings->arguments[0]);
    struct hp_process_state *after = before != NULL ? read_state(settings->arguments[1]) : NULL;
    if (after != NULL)
        hp_status_difference(stdout, before, after);
    int status = after != NULL ? HP_STATUS_DONE : HP_STATUS_FAULT;
    hp_process_state_free(before);
    hp_process_state_free(after);
    return status;
}

static int run_with(const struct settings *settings) {
    if (settings->is_difference && (settings->watches || settings->as_json))
        return hp_command_usage("status", "--diff goes with no other option");
    if (settings->is_difference && settings->count != 2)
        return hp_command_usage("status", "--diff takes two files");
    if (!settings->is_difference && settings->count != 1)
        return hp_command_usage("status", settings->count == 0 ? "status needs a process's number or service"
                                                               : "status takes one process");
    return settings->is_difference ? show_difference(settings) : show_named(settings);
}

static int run(int argc, char **argv) {
    static const struct option options[] = {{"watch", no_argument, NULL, 'w'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"diff", no_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct settings settings = {0};
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "wjh", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        if (letter != 'w' && letter != 'j' && letter != 'd')
            return HP_STATUS_USAGE;
        settings.watches |= letter == 'w';
        settings.as_json |= letter == 'j';
        settings.is_difference |= letter == 'd';
    }
    settings.arguments = argv + optind;
    settings.count = argc - optind;
    return run_with(&settings);
}

const struct hp_command hp_command_status = {"status", "show what the guard of a process knows", run,
                                             print_help};
