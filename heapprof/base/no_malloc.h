/*
 * A test build's proof that a dump allocates nothing: between begin and end, malloc on this thread aborts.
 * Compiled to nothing unless HP_TEST_NO_MALLOC is defined (tools/cmake/Library.cmake, heapprof_no_malloc).
 */
#ifndef HP_BASE_NO_MALLOC_H
#define HP_BASE_NO_MALLOC_H

#ifdef HP_TEST_NO_MALLOC
void hp_no_malloc_begin(void);
void hp_no_malloc_end(void);
void hp_no_malloc_check(void);
#else
static inline void hp_no_malloc_begin(void) {
}
static inline void hp_no_malloc_end(void) {
}
static inline void hp_no_malloc_check(void) {
}
#endif

#endif
