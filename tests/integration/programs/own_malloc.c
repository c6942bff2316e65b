/*
 * own_malloc: a program with a malloc of its own inside, which stands before any library's: first fit in
 * memory from sbrk, and the functions that go with it. What libc allocates for it comes from there, too.
 * Prints how much did.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { UNIT = 16 };

/* Before each block; free ones are listed. */
struct block {
    size_t bytes;
    struct block *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *list;
static unsigned long calls;

void *malloc(size_t bytes);
void free(void *p);
void *calloc(size_t n, size_t bytes);
void *realloc(void *p, size_t bytes);
void *memalign(size_t alignment, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **p, size_t alignment, size_t bytes);
size_t malloc_usable_size(void *p);

static struct block *take(size_t bytes) {
    for (struct block **at = &list; *at != NULL; at = &(*at)->next) {
        if ((*at)->bytes >= bytes) {
            struct block *found = *at;
            *at = found->next;
            return found;
        }
    }
    struct block *fresh = sbrk((intptr_t)(bytes + sizeof *fresh));
    if (fresh == (void *)-1) {
        return NULL;
    }
    fresh->bytes = bytes;
    return fresh;
}

void *malloc(size_t bytes) {
    bytes = bytes == 0 ? UNIT : (bytes + UNIT - 1) & ~(size_t)(UNIT - 1);
    pthread_mutex_lock(&lock);
    calls++;
    struct block *b = take(bytes);
    pthread_mutex_unlock(&lock);
    if (b == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    return b + 1;
}

void free(void *p) {
    if (p != NULL) {
        struct block *b = (struct block *)p - 1;
        pthread_mutex_lock(&lock);
        b->next = list;
        list = b;
        pthread_mutex_unlock(&lock);
    }
}

size_t malloc_usable_size(void *p) {
    return p == NULL ? 0 : ((struct block *)p - 1)->bytes;
}

void *calloc(size_t n, size_t bytes) {
    void *p = malloc(n * bytes);
    return p == NULL ? NULL : memset(p, 0, n * bytes);
}

void *realloc(void *p, size_t bytes) {
    void *moved = malloc(bytes);
    if (p != NULL && moved != NULL) {
        memcpy(moved, p, bytes < malloc_usable_size(p) ? bytes : malloc_usable_size(p));
        free(p);
    }
    return moved;
}

/* Only what the block has anyway, or once and for good. */
void *memalign(size_t alignment, size_t bytes) {
    char *p = malloc(bytes + alignment + sizeof(struct block));
    if (p == NULL || ((uintptr_t)p & (alignment - 1)) == 0) {
        return p;
    }
    char *aligned =
        (char *)(((uintptr_t)p + sizeof(struct block) + alignment - 1) & ~(uintptr_t)(alignment - 1));
    ((struct block *)aligned - 1)->bytes = bytes;
    return aligned;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

int posix_memalign(void **p, size_t alignment, size_t bytes) {
    *p = memalign(alignment, bytes);
    return *p == NULL ? ENOMEM : 0;
}

static void *work(void *seed) {
    size_t sum = (size_t)(uintptr_t)seed;
    char *kept[20] = {NULL};
    for (size_t i = 0; i < 3000; i++) {
        char **place = &kept[i % 20];
        free(*place);
        *place = i % 3 == 0 ? aligned_alloc(64, 64 * (1 + i % 20)) : calloc(1 + i % 100, 7);
        if (*place == NULL) {
            return NULL;
        }
        (*place)[1] = (char)i;
        sum += (unsigned char)(*place)[1];
    }
    for (int i = 0; i < 20; i++) {
        free(kept[i]);
    }
    return (void *)(uintptr_t)sum;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 4; i++) {
        void *sum = NULL;
        if (pthread_join(threads[i], &sum) != 0) {
            return 1;
        }
        printf("%zu\n", (size_t)(uintptr_t)sum);
    }
    char *text = strdup("libc's strdup");
    printf("%s, %s\n", text, calls > 12000 ? "ours" : "not ours");
    free(text);
    return 9;
}
