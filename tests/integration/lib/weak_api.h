/* What the C library's headers lack, C23's and jemalloc(3)'s, weak: there when heapprof is. */
#ifndef INTEGRATION_WEAK_API_H
#define INTEGRATION_WEAK_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEAK __attribute__((weak))

WEAK void free_sized(void *object, size_t size);
WEAK void free_aligned_sized(void *object, size_t alignment, size_t size);
WEAK void *mallocx(size_t size, int flags);
WEAK void *rallocx(void *object, size_t size, int flags);
WEAK size_t xallocx(void *object, size_t size, size_t extra, int flags);
WEAK size_t sallocx(const void *object, int flags);
WEAK void dallocx(void *object, int flags);
WEAK void sdallocx(void *object, size_t size, int flags);
WEAK size_t nallocx(size_t size, int flags);
WEAK int mallctl(const char *name, void *old, size_t *old_len, void *value, size_t value_len);
WEAK int mallctlnametomib(const char *name, size_t *mib, size_t *mib_len);
WEAK int mallctlbymib(const size_t *mib, size_t mib_len, void *old, size_t *old_len, void *value,
                      size_t value_len);
WEAK void malloc_stats_print(void (*write)(void *, const char *), void *arg, const char *options);

#ifdef __cplusplus
}
#endif

#endif
