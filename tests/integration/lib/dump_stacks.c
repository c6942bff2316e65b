/*
 * dump_stacks SITES <RAW: the samples of what `pprof -raw` printed, a line each:
 *
 *     alloc_objects alloc_space inuse_objects inuse_space leaf;caller;…
 *
 * A frame is the name of the site whose range it lies in (lines "site NAME START END …" in the file SITES,
 * addresses in hexadecimal), else the name of its function, else [its binary's name].
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 200, SAMPLES_MAX = 200000, LOCATIONS_MAX = 400000, MAPPINGS_MAX = 2000 };

static struct {
    char name[64];
    uint64_t start;
    uint64_t end;
} sites[SITES_MAX];
static unsigned site_count;

static struct {
    uint64_t address;
    unsigned mapping;
    char *function;
} locations[LOCATIONS_MAX];

static char *mappings[MAPPINGS_MAX];
static char *samples[SAMPLES_MAX];
static unsigned sample_count;

static void die(const char *what, const char *line) {
    fprintf(stderr, "dump_stacks: %s: %s", what, line);
    exit(2);
}

static void read_sites(const char *path) {
    char line[1024];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        die("can't be opened", path);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "site ", 5) != 0) {
            continue;
        }
        if (site_count == SITES_MAX || sscanf(line, "site %63s %lx %lx", sites[site_count].name,
                                              &sites[site_count].start, &sites[site_count].end) != 3) {
            die("bad site", line);
        }
        site_count++;
    }
    fclose(file);
}

/* "     1: 0x55d0 M=1 name file:0 s=0", the rest from M= on optional. */
static void read_location(const char *line) {
    unsigned id = 0;
    unsigned long address = 0;
    int used = 0;
    if (sscanf(line, " %u: 0x%lx%n", &id, &address, &used) != 2 || id >= LOCATIONS_MAX) {
        if (line[0] == ' ') { /* an inlined function's line */
            return;
        }
        die("bad location", line);
    }
    locations[id].address = address;
    const char *rest = line + used;
    const char *mapping = strstr(rest, " M=");
    if (mapping != NULL) {
        char *end = NULL;
        locations[id].mapping = (unsigned)strtoul(mapping + 3, &end, 10);
        rest = end;
    }
    rest += strspn(rest, " \n");
    if (*rest != '\0') {
        size_t length = strcspn(rest, ":\n");
        while (length > 0 && rest[length] == ':' && rest[length - 1] != ' ') { /* "name file:line" */
            length--;
        }
        locations[id].function = strndup(rest, length);
        for (char *p = locations[id].function; *p != '\0'; p++) {
            *p = *p == ' ' ? '_' : *p;
        }
        size_t n = strlen(locations[id].function);
        if (n > 0 && locations[id].function[n - 1] == '_') {
            locations[id].function[n - 1] = '\0';
        }
    }
}

/* "1: 0x55/0x56/0x0 /path build-id [FN]" */
static void read_mapping(const char *line) {
    unsigned id = 0;
    char path[4096] = "";
    if (sscanf(line, "%u: 0x%*x/0x%*x/0x%*x %4095s", &id, path) < 1 || id >= MAPPINGS_MAX) {
        die("bad mapping", line);
    }
    const char *slash = strrchr(path, '/');
    mappings[id] = strdup(slash == NULL ? path : slash + 1);
}

static void print_frame(unsigned id) {
    for (unsigned i = 0; i < site_count; i++) {
        if (locations[id].address >= sites[i].start && locations[id].address < sites[i].end) {
            fputs(sites[i].name, stdout);
            return;
        }
    }
    if (locations[id].function != NULL) {
        fputs(locations[id].function, stdout);
    } else {
        printf("[%s]", mappings[locations[id].mapping] != NULL ? mappings[locations[id].mapping] : "?");
    }
}

static void print_sample(const char *line) {
    long values[4];
    int used = 0;
    if (sscanf(line, "%ld %ld %ld %ld:%n", &values[0], &values[1], &values[2], &values[3], &used) != 4 ||
        used == 0) {
        die("bad sample", line);
    }
    printf("%ld %ld %ld %ld ", values[0], values[1], values[2], values[3]);
    char *rest = NULL;
    const char *at = line + used;
    for (bool is_first = true;; is_first = false) {
        unsigned long id = strtoul(at, &rest, 10);
        if (rest == at) {
            break;
        }
        at = rest;
        if (id == 0 || id >= LOCATIONS_MAX) {
            die("bad location number", line);
        }
        fputs(is_first ? "" : ";", stdout);
        print_frame((unsigned)id);
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    static char line[1 << 16];
    enum { BEFORE, SAMPLES, LOCATIONS, MAPPINGS } part = BEFORE;
    if (argc != 2) {
        return 2;
    }
    read_sites(argv[1]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strcmp(line, "Samples:\n") == 0) {
            part = SAMPLES;
        } else if (strcmp(line, "Locations\n") == 0) {
            part = LOCATIONS;
        } else if (strcmp(line, "Mappings\n") == 0) {
            part = MAPPINGS;
        } else if (part == SAMPLES && strspn(line, " -0123456789") > 0 && strstr(line, ":[") == NULL &&
                   strspn(line, " ") < 12) {
            if (sample_count == SAMPLES_MAX) {
                die("too many samples", line);
            }
            samples[sample_count++] = strdup(line);
        } else if (part == LOCATIONS) {
            read_location(line);
        } else if (part == MAPPINGS) {
            read_mapping(line);
        }
    }
    for (unsigned i = 0; i < sample_count; i++) {
        print_sample(samples[i]);
    }
    return 0;
}
