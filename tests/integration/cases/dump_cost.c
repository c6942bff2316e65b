/*
 * dump_cost DUMP: allocates from a few places, dumps (dump_now.h), and prints by how many KiB the process's
 * resident memory was higher at its highest meanwhile than before (P12).
 */
#include "check.h"
#include "dump_now.h"

static unsigned long status_field(const char *key) {
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kib = strtoul(line + strlen(key), NULL, 10);
        }
    }
    fclose(file);
    CHECK(kib > 0);
    return kib;
}

static void reset_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    CHECK(file != NULL && fputs("5", file) >= 0 && fclose(file) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (size_t i = 0; i < 2000; i++) {
        char *p = i % 2 == 0 ? malloc(i) : calloc(1, i);
        CHECK(p != NULL);
    }
    (void)status_field("VmRSS:"); /* stdio's memory is there */
    reset_peak();
    unsigned long before = status_field("VmRSS:");
    dump_now(argv[1]);
    printf("%lu\n", status_field("VmHWM:") - before);
    return 0;
}
