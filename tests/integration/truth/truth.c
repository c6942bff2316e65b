/*
 * truth SCALE SITES FIRST SECOND: allocates at named sites in every way that there is, counting itself; then
 * writes what it counted to SITES and a dump to FIRST; then frees everything and dumps to SECOND.
 *
 * The exact-period site allocates SCALE * 1000 objects of HEAPPROF_SAMPLE bytes (P19).
 */
#include <malloc.h>
#include <stdbool.h>

#include "dump_now.h"
#include "sites.h"
#include "weak_api.h"

enum { KEPT_MAX = 1 << 20 };

/* Every live object, for the end. */
static struct kept {
    void *object;
    size_t bytes; /* as the profile should count it */
    size_t asked; /* as it was allocated, 0: the same; xallocx may have changed it since */
    struct site *site;
    enum { BY_FREE, BY_SIZE, BY_ALIGNED_SIZE, BY_REALLOC, BY_DALLOCX, BY_SDALLOCX } by;
} * kept;
static size_t kept_count;

SITE(one_size);
SITE(mixed_sizes);
SITE(tiny);
SITE(huge);
SITE(exactly_period);
SITE(zeroed);
SITE(empty);
SITE(ladder_start);
SITE(ladder_step);
SITE(array_step);
SITE(in_place);
SITE(moved_by_rallocx);
SITE(aligned_posix);
SITE(aligned_c11);
SITE(aligned_old);
SITE(page);
SITE(whole_pages);
SITE(handed_over);
SITE(sized);
SITE(sized_aligned);
SITE(failing);

#define ALLOCATING(name, expression)                                                                         \
    SITE_FUNCTION(name) void *name(size_t n) {                                                               \
        void *p = expression;                                                                                \
        if (p != NULL) {                                                                                     \
            site_add(&site_##name, n);                                                                       \
        }                                                                                                    \
        return p;                                                                                            \
    }

ALLOCATING(one_size, malloc(n))
ALLOCATING(mixed_sizes, malloc(n))
ALLOCATING(tiny, malloc(n))
ALLOCATING(huge, malloc(n))
ALLOCATING(exactly_period, malloc(n))
ALLOCATING(zeroed, calloc(n, 1))
ALLOCATING(empty, malloc(n))
ALLOCATING(ladder_start, malloc(n))
ALLOCATING(handed_over, malloc(n))
ALLOCATING(sized, malloc(n))
ALLOCATING(failing, malloc(n))
ALLOCATING(page, valloc(n))

static void keep(struct kept object) {
    if (object.object == NULL || kept_count == KEPT_MAX) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    kept[kept_count++] = object;
}

static unsigned next_random(void) {
    static uint64_t state = 42;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 40);
}

static size_t asked_for(const struct kept *k) {
    return k->asked == 0 ? k->bytes : k->asked;
}

static void let_go(const struct kept *k) {
    switch (k->by) {
    case BY_FREE:
        free(k->object);
        break;
    case BY_SIZE:
        free_sized(k->object, asked_for(k));
        break;
    case BY_ALIGNED_SIZE:
        free_aligned_sized(k->object, 256, asked_for(k));
        break;
    case BY_REALLOC:
        if (realloc(k->object, 0) != NULL) {
            fprintf(stderr, "realloc(p, 0) is not free(p) here\n");
            exit(1);
        }
        break;
    case BY_DALLOCX:
        dallocx(k->object, 0);
        break;
    case BY_SDALLOCX:
        sdallocx(k->object, asked_for(k), 0);
        break;
    }
    site_count(k->site, -1, -(double)k->bytes, (double)asked_for(k), 2);
}

static void simple_sites(size_t scale) {
    for (size_t i = 0; i < 2000 * scale; i++) {
        struct kept one = {.object = one_size(64), .bytes = 64, .site = &site_one_size};
        size_t n = 1 + next_random() % 5000;
        struct kept mixed = {.object = mixed_sizes(n), .bytes = n, .site = &site_mixed_sizes};
        struct kept small = {.object = tiny(8), .bytes = 8, .site = &site_tiny};
        i % 2 == 0 ? let_go(&one) : keep(one);
        i % 3 == 0 ? let_go(&mixed) : keep(mixed);
        keep(small);
    }
    for (size_t i = 0; i < 10; i++) {
        struct kept big = {.object = huge(3 << 20), .bytes = 3 << 20, .site = &site_huge};
        i % 3 == 0 ? let_go(&big) : keep(big);
    }
    for (size_t i = 0; i < 100 * scale; i++) {
        keep((struct kept){.object = zeroed(1000), .bytes = 1000, .site = &site_zeroed});
    }
    for (size_t i = 0; i < 50; i++) {
        struct kept nothing = {.object = empty(0), .bytes = 0, .site = &site_empty};
        i % 2 == 0 ? let_go(&nothing) : keep(nothing);
    }
}

static void period_site(size_t scale) {
    size_t period = (size_t)site_period();
    for (size_t i = 0; i < 1000 * scale; i++) {
        struct kept exact = {
            .object = exactly_period(period), .bytes = period, .asked = period, .site = &site_exactly_period};
        i % 100 == 0 ? keep(exact) : let_go(&exact);
    }
}

/* realloc moves the account from one site to another, whether it moves the object or not (P21). */
SITE_FUNCTION(ladder_step) void ladder_step(struct kept *k, size_t n) {
    void *moved = realloc(k->object, n);
    if (moved == NULL) {
        exit(1);
    }
    site_remove(k->site, k->bytes);
    site_add(&site_ladder_step, n);
    k->object = moved;
    k->bytes = k->asked = n;
    k->site = &site_ladder_step;
}

SITE_FUNCTION(array_step) void array_step(struct kept *k, size_t n) {
    void *moved = reallocarray(k->object, n, 4);
    if (moved == NULL) {
        exit(1);
    }
    if (k->object != NULL) {
        site_remove(k->site, k->bytes);
    }
    site_add(&site_array_step, n * 4);
    k->object = moved;
    k->bytes = k->asked = n * 4;
    k->site = &site_array_step;
}

static void ladders(size_t scale) {
    for (size_t i = 0; i < 10 * scale; i++) {
        struct kept k = {.object = ladder_start(16), .bytes = 16, .site = &site_ladder_start};
        for (size_t n = 24; n < 1 << 18; n += n / 2) {
            ladder_step(&k, n);
        }
        for (size_t n = 1 << 17; n > 100; n /= 3) {
            ladder_step(&k, n);
        }
        k.by = i % 2 == 0 ? BY_REALLOC : BY_FREE;
        i % 3 == 0 ? let_go(&k) : keep(k);
        struct kept array = {.object = NULL};
        for (size_t n = 1; n < 1 << 12; n *= 2) {
            array_step(&array, n);
        }
        array.by = BY_REALLOC;
        i % 2 == 0 ? let_go(&array) : keep(array);
    }
}

SITE_FUNCTION(in_place) void *in_place(size_t n) {
    void *p = mallocx(n, 0);
    site_add(&site_in_place, n);
    return p;
}

SITE_FUNCTION(moved_by_rallocx) void moved_by_rallocx(struct kept *k, size_t n) {
    k->object = rallocx(k->object, n, 0);
    site_count(k->site, -1, -(double)k->bytes, (double)asked_for(k), 2);
    site_add(&site_moved_by_rallocx, n);
    k->bytes = k->asked = n;
    k->site = &site_moved_by_rallocx;
}

/* Grows or shrinks without moving, where that is possible; the object stays its site's. */
static unsigned resize(struct kept *k, size_t n) {
    size_t before = malloc_usable_size(k->object);
    size_t usable = xallocx(k->object, n, 0, 0);
    if (usable == before || usable < n) {
        return 0;
    }
    double change = (double)n - (double)k->bytes;
    pthread_mutex_lock(&sites_lock);
    double p = site_period() <= 1 ? 1 : -expm1(-((double)asked_for(k) + 1) / site_period());
    double variance = ((double)n * (double)n - (double)k->bytes * (double)k->bytes) * (1 - p) / p;
    k->site->sum[3] += change;
    k->site->variance[3] += variance;
    if (change > 0) {
        k->site->sum[1] += change;
        k->site->variance[1] += variance;
    }
    pthread_mutex_unlock(&sites_lock);
    k->bytes = n;
    return 1;
}

/* The growth of an object whose sample stands for 1/p of its first size. A later free needs its class again.
 */
static void grow_in_place(size_t scale) {
    unsigned resized = 0;
    for (size_t i = 0; i < 20 * scale; i++) {
        struct kept k = {
            .object = in_place(64 << 10), .bytes = 64 << 10, .asked = 64 << 10, .site = &site_in_place};
        resized += resize(&k, 80 << 10);
        if (i % 2 == 0) {
            resized += resize(&k, 32 << 10);
        }
        if (i % 5 == 0) {
            moved_by_rallocx(&k, 200 << 10);
            k.by = BY_SDALLOCX;
        } else {
            k.by = BY_DALLOCX;
        }
        i % 4 == 0 ? let_go(&k) : keep(k);
    }
    if (resized < 5) {
        fprintf(stderr, "jemalloc resized next to nothing in place; this proves nothing\n");
        exit(1);
    }
}

SITE_FUNCTION(aligned_posix) void *aligned_posix(size_t alignment, size_t n) {
    void *p = NULL;
    if (posix_memalign(&p, alignment, n) != 0) {
        exit(1);
    }
    site_add(&site_aligned_posix, n);
    return p;
}

SITE_FUNCTION(aligned_c11) void *aligned_c11(size_t alignment, size_t n) {
    void *p = aligned_alloc(alignment, n);
    site_add(&site_aligned_c11, n);
    return p;
}

SITE_FUNCTION(aligned_old) void *aligned_old(size_t alignment, size_t n) {
    void *p = memalign(alignment, n);
    site_add(&site_aligned_old, n);
    return p;
}

SITE_FUNCTION(sized_aligned) void *sized_aligned(size_t n) {
    void *p = aligned_alloc(256, n);
    site_add(&site_sized_aligned, n);
    return p;
}

/* pvalloc asks for whole pages. */
SITE_FUNCTION(whole_pages) void *whole_pages(size_t n) {
    void *p = pvalloc(n);
    site_add(&site_whole_pages, (n + 4095) / 4096 * 4096);
    return p;
}

static void aligned_sites(size_t scale) {
    for (size_t i = 0; i < 40 * scale; i++) {
        size_t alignment = (size_t)16 << i % 11;
        size_t n = 1 + next_random() % 9000;
        keep((struct kept){.object = aligned_posix(alignment, n), .bytes = n, .site = &site_aligned_posix});
        keep((struct kept){.object = aligned_old(alignment, n), .bytes = n, .site = &site_aligned_old});
        struct kept c11 = {.object = aligned_c11(alignment, n), .bytes = n, .site = &site_aligned_c11};
        i % 2 == 0 ? let_go(&c11) : keep(c11);
        keep((struct kept){.object = page(n), .bytes = n, .site = &site_page});
        size_t rounded = (n + 4095) / 4096 * 4096;
        keep((struct kept){.object = whole_pages(n), .bytes = rounded, .site = &site_whole_pages});
        struct kept s = {.object = sized(n), .bytes = n, .site = &site_sized, .by = BY_SIZE};
        i % 2 == 0 ? let_go(&s) : keep(s);
        struct kept a = {
            .object = sized_aligned(n), .bytes = n, .site = &site_sized_aligned, .by = BY_ALIGNED_SIZE};
        i % 3 == 0 ? let_go(&a) : keep(a);
    }
}

/* What one thread allocates another one frees. */
enum { HANDED = 2000 };
static struct kept handed[4][HANDED];

static void *produce(void *which) {
    struct kept *mine = which;
    for (size_t i = 0; i < HANDED; i++) {
        size_t n = 1 + i % 700;
        mine[i] = (struct kept){.object = handed_over(n),
                                .bytes = n,
                                .asked = n,
                                .site = &site_handed_over,
                                .by = i % 2 ? BY_FREE : BY_SIZE};
    }
    return NULL;
}

static void *consume(void *which) {
    struct kept *theirs = which;
    for (size_t i = 0; i < HANDED; i += 2) {
        let_go(&theirs[i]);
        theirs[i].object = NULL;
    }
    return NULL;
}

static void run_in_threads(void *(*body)(void *)) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        if (pthread_create(&threads[i], NULL, body, handed[(i + (body == consume)) % 4]) != 0) {
            exit(1);
        }
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void hand_over(void) {
    run_in_threads(produce);
    run_in_threads(consume);
    for (int t = 0; t < 4; t++) {
        for (size_t i = 1; i < HANDED; i += 2) {
            keep(handed[t][i]);
        }
    }
}

/* What fails counts nowhere, and a realloc that fails leaves the account as it was. */
static void failures(void) {
    volatile size_t absurd = SIZE_MAX / 2 + 1;
    struct kept k = {.object = one_size(64), .bytes = 64, .asked = 64, .site = &site_one_size};
    if (failing(absurd) != NULL || realloc(k.object, absurd) != NULL) {
        exit(1);
    }
    keep(k);
}

static void report(const char *sites, const char *dump) {
    FILE *file = fopen(sites, "w");
    if (file == NULL) {
        exit(1);
    }
    dump_now(dump);
    site_print_all(file);
    fclose(file);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        return 2;
    }
    size_t scale = strtoul(argv[1], NULL, 10);
    kept = malloc(KEPT_MAX * sizeof *kept);
    simple_sites(scale);
    period_site(scale);
    ladders(scale);
    grow_in_place(scale);
    aligned_sites(scale);
    hand_over();
    failures();
    report(argv[2], argv[3]);
    for (size_t i = 0; i < kept_count; i++) {
        let_go(&kept[i]);
    }
    char after[4096];
    snprintf(after, sizeof after, "%s.end", argv[2]);
    report(after, argv[4]);
    return 0;
}
