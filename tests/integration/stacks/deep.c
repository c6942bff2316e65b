/* deep SITES DUMP: allocates 100 bytes at depths 20, 100, 200 and 100000 of a recursion, then dumps. */
#include "check.h"
#include "dump_now.h"
#include "sites.h"

SITE(recursion);

static volatile unsigned after;
static void *volatile kept;

SITE_FUNCTION(recursion) void recursion(unsigned depth) {
    if (depth == 1) {
        kept = malloc(100);
    } else {
        recursion(depth - 1);
    }
    after++;
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    recursion(20);
    recursion(100);
    recursion(200);
    recursion(50000);
    FILE *file = fopen(argv[1], "w");
    CHECK(file != NULL);
    dump_now(argv[2]);
    site_print_all(file);
    fclose(file);
    return 0;
}
