/* Calls every allocation function of libc and of jemalloc and checks what its manual promises. */
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"
#include "weak_api.h"

/* So that the compiler knows nothing of them. */
static volatile size_t absurd = SIZE_MAX / 2 + 1;
static volatile size_t half = SIZE_MAX / 2;
static volatile size_t zero;

static void fill(void *p, size_t n, int seed) {
    for (size_t i = 0; i < n; i++) {
        ((unsigned char *)p)[i] = (unsigned char)(seed + (int)(i * 7));
    }
}

static bool is_filled(const void *p, size_t n, int seed) {
    for (size_t i = 0; i < n; i++) {
        if (((const unsigned char *)p)[i] != (unsigned char)(seed + (int)(i * 7))) {
            return false;
        }
    }
    return true;
}

static bool is_zero(const void *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (((const unsigned char *)p)[i] != 0) {
            return false;
        }
    }
    return true;
}

/* A success leaves errno alone. */
#define KEEPS_ERRNO(statement)                                                                               \
    errno = 4711;                                                                                            \
    statement;                                                                                               \
    CHECK(errno == 4711)

static const size_t sizes[] = {0,    1,    7,    8,     16,    17,     100,    1000,
                               4095, 4096, 4097, 14336, 20000, 100000, 3 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void plain_functions(void) {
    for (int i = 0; i < SIZES; i++) {
        size_t n = sizes[i];
        KEEPS_ERRNO(void *p = malloc(n));
        CHECK(p != NULL && is_aligned(p, n >= 16 ? 16 : 8) && malloc_usable_size(p) >= n);
        fill(p, malloc_usable_size(p), i);
        KEEPS_ERRNO(free(p));
        KEEPS_ERRNO(p = calloc(n, 1));
        CHECK(p != NULL && is_zero(p, n) && malloc_usable_size(p) >= n);
        fill(p, n, i); /* dirty, for the next one that should be zeroed */
        KEEPS_ERRNO(free(p));
        KEEPS_ERRNO(p = calloc(3, n));
        CHECK(p != NULL && is_zero(p, 3 * n));
        KEEPS_ERRNO(free_sized(p, 3 * n));
    }
    KEEPS_ERRNO(free(NULL));
    void *a = malloc(zero);
    void *b = malloc(zero);
    void *c = calloc(zero, 5);
    CHECK(a != NULL && b != NULL && c != NULL && a != b && b != c && a != c);
    free(a);
    free_sized(b, 0);
    free(c);
    free_sized(NULL, 0);
    free_aligned_sized(NULL, 8, 0);
}

static void failures(void) {
    errno = 0;
    CHECK(malloc(absurd) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(half, 3) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(absurd, 1) == NULL && errno == ENOMEM);
    char *p = malloc(100);
    fill(p, 100, 3);
    errno = 0;
    CHECK(realloc(p, absurd) == NULL && errno == ENOMEM && is_filled(p, 100, 3));
    errno = 0;
    CHECK(reallocarray(p, half, 3) == NULL && errno == ENOMEM && is_filled(p, 100, 3));
    CHECK(rallocx(p, absurd, 0) == NULL && is_filled(p, 100, 3));
    errno = 0;
    CHECK(realloc(NULL, absurd) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(memalign(64, absurd) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(aligned_alloc(64, absurd) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(valloc(absurd) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(pvalloc(absurd) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(pvalloc(SIZE_MAX - zero) == NULL && errno == ENOMEM);
    CHECK(mallocx(absurd, 0) == NULL);
    void *q = p;
    errno = 4711; /* posix_memalign's error is its value, and out is left alone */
    CHECK(posix_memalign(&q, 64, absurd) == ENOMEM && q == p);
    CHECK(posix_memalign(&q, 3, 100) == EINVAL && q == p);
    CHECK(posix_memalign(&q, 0, 100) == EINVAL && q == p);
    CHECK(posix_memalign(&q, sizeof(void *) / 2, 100) == EINVAL && q == p);
    errno = 0;
    CHECK(aligned_alloc(3 + zero, 99) == NULL && errno == EINVAL);
    free(p);
}

static void aligned_functions(void) {
    for (size_t alignment = 8; alignment <= 1 << 21; alignment *= 4) {
        for (int i = 0; i < SIZES; i++) {
            size_t n = sizes[i];
            void *p = NULL;
            KEEPS_ERRNO(CHECK(posix_memalign(&p, alignment, n) == 0));
            CHECK(p != NULL && is_aligned(p, alignment) && malloc_usable_size(p) >= n);
            fill(p, n, i);
            free_aligned_sized(p, alignment, n);
            KEEPS_ERRNO(p = aligned_alloc(alignment, n));
            CHECK(p != NULL && is_aligned(p, alignment) && malloc_usable_size(p) >= n);
            fill(p, n, i);
            KEEPS_ERRNO(free_aligned_sized(p, alignment, n));
            KEEPS_ERRNO(p = memalign(alignment, n));
            CHECK(p != NULL && is_aligned(p, alignment));
            fill(p, n, i);
            free(p);
            int flag = __builtin_ctzl(alignment);
            p = mallocx(n + 1, flag | 0x40);
            CHECK(p != NULL && is_aligned(p, alignment) && is_zero(p, n + 1) && sallocx(p, flag) >= n + 1);
            CHECK(nallocx(n + 1, flag) >= n + 1);
            fill(p, n + 1, i);
            sdallocx(p, n + 1, flag);
        }
    }
    for (int i = 0; i < SIZES; i++) {
        void *p = valloc(sizes[i]);
        CHECK(p != NULL && is_aligned(p, 4096));
        fill(p, sizes[i], i);
        free(p);
        p = pvalloc(sizes[i]);
        CHECK(p != NULL && is_aligned(p, 4096) && malloc_usable_size(p) >= (sizes[i] + 4095) / 4096 * 4096);
        fill(p, malloc_usable_size(p), i);
        free(p);
    }
}

/* In every direction between sizes; what is sampled and what is not alternates by chance. */
static void reallocations(void) {
    for (int from = 0; from < SIZES; from++) {
        for (int to = 0; to < SIZES; to++) {
            size_t least = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
            char *p = malloc(sizes[from]);
            fill(p, sizes[from], from);
            if (sizes[to] == 0) {
                CHECK(realloc(p, 0) == NULL); /* is free(), as in glibc */
                continue;
            }
            KEEPS_ERRNO(p = realloc(p, sizes[to]));
            CHECK(p != NULL && is_filled(p, least, from) && malloc_usable_size(p) >= sizes[to]);
            fill(p, sizes[to], to);
            KEEPS_ERRNO(p = reallocarray(p, sizes[from] + 1, 2));
            CHECK(p != NULL && is_filled(p, least, to));
            p = rallocx(p, sizes[to], 0x40);
            CHECK(p != NULL && is_filled(p, least, to));
            dallocx(p, 0);
        }
    }
    char *p = realloc(NULL, 77);
    CHECK(p != NULL);
    fill(p, 77, 9);
    for (size_t n = 77; n < 2 << 20; n += n / 3) { /* a ladder, by both ways */
        p = n % 2 == 0 ? realloc(p, n) : reallocarray(p, n, 1);
        CHECK(p != NULL && is_filled(p, 77, 9));
    }
    free_sized(p, 0 * zero + malloc_usable_size(p));
    CHECK(reallocarray(NULL, zero, 8) != (void *)-1);
}

static void in_place(void) {
    char *p = mallocx(64 << 10, 0);
    fill(p, 64 << 10, 5);
    for (size_t n = 32 << 10; n <= 256 << 10; n += 8 << 10) {
        size_t usable = xallocx(p, n, 4096, 0);
        CHECK(usable == malloc_usable_size(p) && is_filled(p, 32 << 10, 5));
    }
    dallocx(p, 0);
    p = mallocx(40, 0);
    CHECK(xallocx(p, 1 << 20, 0, 0) == sallocx(p, 0));
    dallocx(p, 0);
}

static void count_text(void *count, const char *text) {
    *(size_t *)count += strlen(text);
}

static void control(void) {
    const char *version = NULL;
    size_t length = sizeof version;
    CHECK(mallctl("version", &version, &length, NULL, 0) == 0 && version != NULL && version[0] == '5');
    size_t mib[4];
    size_t mib_length = 4;
    unsigned bins = 0;
    length = sizeof bins;
    CHECK(mallctlnametomib("arenas.nbins", mib, &mib_length) == 0 && mib_length == 2);
    CHECK(mallctlbymib(mib, mib_length, &bins, &length, NULL, 0) == 0 && bins > 10);
    CHECK(mallctl("no.such.name", NULL, NULL, NULL, 0) == ENOENT);
    size_t printed = 0;
    malloc_stats_print(count_text, &printed, "gblxe");
    CHECK(printed > 1000);
    CHECK(malloc_trim(0) == 0 || malloc_trim(0) == 1);
    CHECK(malloc_usable_size(NULL) == 0);
}

/* Each destructor run allocates and frees once more, until glibc gives up: after our thread's own TLS is
 * used. */
static pthread_key_t key;
static int destructor_runs;

static void on_thread_end(void *value) {
    free(value);
    void *again = malloc(333);
    CHECK(again != NULL);
    memset(again, 1, 333);
    if (__atomic_add_fetch(&destructor_runs, 1, __ATOMIC_RELAXED) % 3 != 0) {
        pthread_setspecific(key, again);
    } else {
        free(realloc(again, 5000));
    }
}

static void *thread(void *unused) {
    (void)unused;
    pthread_setspecific(key, malloc(10));
    return malloc(50);
}

static void threads(void) {
    CHECK(pthread_key_create(&key, on_thread_end) == 0);
    for (int i = 0; i < 50; i++) {
        pthread_t t;
        void *result = NULL;
        CHECK(pthread_create(&t, NULL, thread, NULL) == 0 && pthread_join(t, &result) == 0 && result != NULL);
        free(result);
    }
    CHECK(destructor_runs == 150);
}

static void at_exit(void) {
    char *p = malloc(1000);
    CHECK(p != NULL);
    fill(p, 1000, 1);
    p = realloc(p, 100000);
    CHECK(is_filled(p, 1000, 1));
    free(p);
}

int main(void) {
    CHECK(atexit(at_exit) == 0);
    for (int round = 0; round < 3; round++) {
        plain_functions();
        failures();
        reallocations();
        in_place();
        control();
    }
    aligned_functions();
    threads();
    return 0;
}
