/*
 * chain SITES DUMP: allocates below a known chain of calls, by each function that allocates, in main and in a
 * thread, and below a callback of libc (qsort); then dumps. The chain's functions are the sites; what leaf_N
 * allocates has 1000 + N bytes.
 */
#include <malloc.h>

#include "check.h"
#include "dump_now.h"
#include "sites.h"
#include "weak_api.h"

SITE(leaf_malloc);
SITE(leaf_calloc);
SITE(leaf_realloc);
SITE(leaf_realloc_null);
SITE(leaf_reallocarray);
SITE(leaf_posix_memalign);
SITE(leaf_aligned_alloc);
SITE(leaf_memalign);
SITE(leaf_valloc);
SITE(leaf_mallocx);
SITE(leaf_rallocx);
SITE(inner);
SITE(middle);
SITE(outer);
SITE(body);
SITE(compare);

typedef void leaf_function(void);

static void *volatile kept[100];
static volatile unsigned kept_count;

/* Counts nothing: that is the truth test's. A static variable keeps it from being a tail call. */
static void keep(void *p) {
    CHECK(p != NULL);
    kept[kept_count++] = p;
}

#define LEAF(name, expression)                                                                               \
    SITE_FUNCTION(name) void name(void) {                                                                    \
        keep(expression);                                                                                    \
    }

static void *by_posix_memalign(void **p) {
    return *p;
}

LEAF(leaf_malloc, malloc(1000))
LEAF(leaf_calloc, calloc(1, 1001))
LEAF(leaf_realloc_null, realloc(NULL, 1003))
LEAF(leaf_reallocarray, reallocarray(NULL, 1, 1004))
LEAF(leaf_aligned_alloc, aligned_alloc(64, 1006))
LEAF(leaf_memalign, memalign(64, 1007))
LEAF(leaf_valloc, valloc(1008))
LEAF(leaf_mallocx, mallocx(1009, 0))

static void *small; /* allocated elsewhere */
SITE_FUNCTION(leaf_realloc) void leaf_realloc(void) {
    keep(realloc(small, 1002));
}
SITE_FUNCTION(leaf_posix_memalign) void leaf_posix_memalign(void) {
    void *p = NULL;
    CHECK(posix_memalign(&p, 64, 1005) == 0);
    keep(by_posix_memalign(&p));
}
SITE_FUNCTION(leaf_rallocx) void leaf_rallocx(void) {
    keep(rallocx(small, 1010, 0));
}

static volatile unsigned after; /* work behind each call: it is none in tail position */

SITE_FUNCTION(inner) void inner(leaf_function *leaf) {
    leaf();
    after++;
}

SITE_FUNCTION(middle) void middle(leaf_function *leaf) {
    volatile char frame[3000]; /* a stack frame of a size of its own */
    frame[0] = 1;
    inner(leaf);
    after += (unsigned)frame[0];
}

SITE_FUNCTION(outer) void outer(leaf_function *leaf) {
    middle(leaf);
    after++;
}

static leaf_function *const leaves[] = {leaf_malloc,       leaf_calloc,        leaf_realloc_null,
                                        leaf_reallocarray, leaf_aligned_alloc, leaf_memalign,
                                        leaf_valloc,       leaf_mallocx,       leaf_posix_memalign};

SITE_FUNCTION(body) void *body(void *unused) {
    for (unsigned i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        outer(leaves[i]);
    }
    small = malloc(10);
    outer(leaf_realloc);
    small = malloc(10);
    outer(leaf_rallocx);
    return unused;
}

static leaf_function *const from_compare = leaf_malloc;
static unsigned comparisons;
SITE_FUNCTION(compare) int compare(const void *a, const void *b) {
    if (comparisons++ == 0) {
        outer(from_compare);
    }
    return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    body(NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, NULL) == 0 && pthread_join(thread, NULL) == 0);
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof numbers[0], compare);
    FILE *file = fopen(argv[1], "w");
    CHECK(file != NULL);
    dump_now(argv[2]);
    site_print_all(file);
    fclose(file);
    return 0;
}
