/* cmocka.h wants these before it. */
#ifndef TESTS_CMOCKA_FIRST_H
#define TESTS_CMOCKA_FIRST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The number of elements of an array. */
#define ROWS(array) (sizeof(array) / sizeof(array)[0])

#endif
