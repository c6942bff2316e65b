/*
 * edge_service: a small HTTP-like service under its own load, with a memory fault worth finding (metrics.h).
 * A plain program: run it as it is, with heapprof preloaded, or linked.
 */
#include "load.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    CACHE_BYTES = 8 << 20,
    MAX_SESSIONS = 20000,
    SEED = 20240611,
    BATCH = 64 /* requests between two looks at the clock */
};

struct options {
    unsigned long requests, rate, threads;
    bool fixed, export, exact;
};

static const char help[] =
    "usage: edge_service [options]\n"
    "A small HTTP-like service under its own load. Its metrics registry was switched off only in part, so "
    "its\n"
    "memory grows with every request. One line a second on standard error says how far it is.\n"
    "  --requests N  end after N requests (400000)\n"
    "  --rate N      requests a second; 0: as fast as possible (12000)\n"
    "  --threads N   worker threads, 1 to 64 (2)\n"
    "  --fixed       the metrics registry is really off: memory stays bounded\n"
    "  --export      serve /metrics, as before it was switched off\n"
    "  --exact       print the exact live heap bytes by subsystem, too, every second and at the end\n"
    "  --help        this text\n";

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Resident memory in MiB, of /proc/self/statm; 0 if that cannot be read. Allocates nothing. */
static double resident_mib(void) {
    char line[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, line, sizeof line - 1);
    close(fd);
    const char *second = length > 0 ? strchr(line, ' ') : NULL;
    return second ? (double)strtoul(second, NULL, 10) * (double)sysconf(_SC_PAGESIZE) / (1 << 20) : 0;
}

static void print_status(const struct options *options, double seconds, unsigned long requests) {
    fprintf(stderr, "edge_service: %4.0f s %8lu requests %6.1f MiB resident\n", seconds, requests,
            resident_mib());
    if (options->exact)
        account_print(stderr);
}

/* Waits until request number `sent` is due, in seconds since the start. */
static void pace(double start, unsigned long sent, unsigned long rate) {
    if (rate == 0)
        return;
    double early = start + (double)sent / (double)rate - now_seconds();
    if (early > 0) {
        struct timespec sleep = {.tv_sec = (time_t)early,
                                 .tv_nsec = (long)(1e9 * (early - (double)(time_t)early))};
        nanosleep(&sleep, NULL);
    }
}

static void send_requests(struct server *server, const struct options *options) {
    struct load load;
    load_init(&load, SEED);
    double start = now_seconds(), next_status = 1;
    for (unsigned long sent = 0; sent < options->requests; sent++) {
        if (sent % BATCH == 0) {
            pace(start, sent, options->rate);
            double seconds = now_seconds() - start;
            if (seconds >= next_status) {
                print_status(options, seconds, sent);
                next_status = (double)(long)seconds + 1;
            }
        }
        struct connection *connection = server_take(server);
        struct slice response = {connection->output, connection->output_length};
        connection->input_length =
            load_next(&load, connection->number, response, connection->input, CONNECTION_BUFFER);
        server_submit(server, connection);
    }
    print_status(options, now_seconds() - start, options->requests);
}

static int run(const struct options *options) {
    static struct service service;
    static struct server server;
    metrics_init(&service.metrics, !options->fixed, options->export);
    cache_init(&service.cache, CACHE_BYTES);
    sessions_init(&service.sessions, MAX_SESSIONS, SEED);
    bool started = server_start(&server, &service, (unsigned)options->threads);
    if (started)
        send_requests(&server, options);
    else
        fprintf(stderr, "edge_service: cannot start: %s\n", strerror(errno));
    server_stop(&server);
    metrics_fini(&service.metrics);
    cache_fini(&service.cache);
    sessions_fini(&service.sessions);
    if (account_total() != 0) {
        fputs("edge_service: the books do not balance: ", stderr);
        account_print(stderr);
        return 1;
    }
    return started ? 0 : 1;
}

/* Reads a whole number from `low` to `high`; ends the program with status 2 if it is none. */
static unsigned long number(const char *name, const char *text, unsigned long low, unsigned long high) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value < low || value > high) {
        fprintf(stderr, "edge_service: --%s takes a whole number from %lu to %lu, not '%s'\n", name, low,
                high, text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv) {
    static const struct option table[] = {
        {"requests", required_argument, NULL, 'r'}, {"rate", required_argument, NULL, 'R'},
        {"threads", required_argument, NULL, 't'},  {"fixed", no_argument, NULL, 'f'},
        {"export", no_argument, NULL, 'e'},         {"exact", no_argument, NULL, 'x'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    struct options options = {.requests = 400000, .rate = 12000, .threads = 2};
    int option, index = 0;
    while ((option = getopt_long(argc, argv, "", table, &index)) != -1) {
        switch (option) {
        case 'r':
            options.requests = number(table[index].name, optarg, 1, 100000000);
            break;
        case 'R':
            options.rate = number(table[index].name, optarg, 0, 100000000);
            break;
        case 't':
            options.threads = number(table[index].name, optarg, 1, SERVER_MAX_THREADS);
            break;
        case 'f':
            options.fixed = true;
            break;
        case 'e':
            options.export = true;
            break;
        case 'x':
            options.exact = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "edge_service: unexpected argument '%s'; --help says what there is\n", argv[optind]);
        return 2;
    }
    return run(&options);
}
