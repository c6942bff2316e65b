/* optional PATH: says whether heapprof is there, and if so dumps to PATH. */
#define HEAPPROF_OPTIONAL
#include <heapprof/heapprof.h>

#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    if (!heapprof_is_linked()) {
        puts("without heapprof");
        return 0;
    }
    puts(heapprof_is_active() ? "with heapprof" : "heapprof is not active");
    return heapprof_dump(argv[1]) != 0;
}
