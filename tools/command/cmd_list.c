/* heapprof list: the profiled processes of this machine, containers included. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command/command.h"
#include "tools/base/memory.h"
#include "tools/live/process_list.h"
#include "tools/live/process_state.h"
#include "tools/report/status_report.h"
#include "tools/base/text.h"

enum { PATIENCE_MS = 5000 };

static void print_help(FILE *stream) {
    fputs("usage: heapprof list [OPTION...]\n"
          "\n"
          "Lists the processes that heapprof profiles, in containers, too: their usage and\n"
          "limit of memory, what is left, the mean distance of samples, and how many dumps\n"
          "they have written. Processes of other users are seen by root only.\n"
          "\n"
          "  -j, --json            one JSON object, with all that `heapprof status` knows\n"
          "  -h, --help            this text\n"
          "\n"
          "Example: heapprof list\n",
          stream);
}

/* All that was asked: as many of each as there are processes. */
struct answers {
    struct hp_process_state **states; /* NULL: none came, … */
    char **whys;                      /* … and why, or NULL: the process's own words say it */
};

static void ask(const struct hp_process *process, struct hp_process_state **state, char **why) {
    struct hp_control_reply reply;
    struct hp_error error = {""};
    if (hp_process_ask(process, HP_REQUEST_STATUS, PATIENCE_MS, &reply, &error)) {
        *state = hp_process_state_parse(reply.bytes, reply.length, &error);
        free(reply.bytes);
    }
    if (*state == NULL)
        *why = hp_memory_format("can't be asked: %s", error.text);
}

static struct answers ask_all(const struct hp_process_list *list) {
    struct answers answers = {.states = hp_memory_new(list->count, sizeof *answers.states),
                              .whys = hp_memory_new(list->count, sizeof *answers.whys)};
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].standing == HP_PROCESS_REACHABLE)
            ask(&list->items[i], &answers.states[i], &answers.whys[i]);
    return answers;
}

static void free_answers(struct answers *answers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        hp_process_state_free(answers->states[i]);
        free(answers->whys[i]);
    }
    free(answers->states);
    free(answers->whys);
}

static const char *why_not(const struct hp_process_list *list, const struct answers *answers, size_t i) {
    return answers->whys[i] != NULL ? answers->whys[i] : list->items[i].why;
}

static void show_foreign(size_t foreign) {
    if (foreign > 0 && geteuid() != 0)
        printf("%zu %s of other users could not be looked at; root sees them.\n", foreign,
               foreign == 1 ? "process" : "processes");
}

static void show_table(const struct hp_process_list *list, const struct answers *answers) {
    struct hp_status_row *rows = hp_memory_new(list->count, sizeof *rows);
    for (size_t i = 0; i < list->count; i++)
        rows[i] = (struct hp_status_row){&list->items[i], answers->states[i], why_not(list, answers, i)};
    if (list->count == 0)
        puts("No profiled process is running. This starts one:\n"
             "\n"
             "    heapprof run -- PROGRAM");
    if (list->count == 0 && list->foreign > 0 && geteuid() != 0)
        putchar('\n');
    hp_status_table(stdout, rows, list->count, hp_text_terminal_width(stdout));
    show_foreign(list->foreign);
    free(rows);
}

static json_t *json_of(const struct hp_process *process, const struct hp_process_state *state,
                       const char *why) {
    json_t *item = json_pack("{s:i, s:s, s:b}", "pid", process->pid, "service",
                             state != NULL ? state->service : process->service, "reachable", state != NULL);
    if (state != NULL)
        json_object_set(item, "state", state->json);
    else
        json_object_set_new(item, "why", json_string(why));
    return item;
}

static void show_json(const struct hp_process_list *list, const struct answers *answers) {
    json_t *processes = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(processes,
                              json_of(&list->items[i], answers->states[i], why_not(list, answers, i)));
    json_t *all = json_pack("{s:o, s:I}", "processes", processes, "foreign", (json_int_t)list->foreign);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

static int run(int argc, char **argv) {
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool as_json = false;
    optind = 1;
    for (int letter; (letter = hp_command_option(argc, argv, "jh", options, false)) != -1;) {
        if (letter == 'h') {
            print_help(stdout);
            return HP_STATUS_DONE;
        }
        if (letter != 'j')
            return HP_STATUS_USAGE;
        as_json = true;
    }
    if (optind < argc)
        return hp_command_usage("list", "list takes no argument");
    struct hp_process_list list = hp_process_list_all();
    struct answers answers = ask_all(&list);
    if (as_json)
        show_json(&list, &answers);
    else
        show_table(&list, &answers);
    free_answers(&answers, list.count);
    hp_process_list_free(&list);
    return HP_STATUS_DONE;
}

const struct hp_command hp_command_list = {"list", "list the profiled processes of this machine", run,
                                           print_help};
