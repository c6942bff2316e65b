#include "tools/base/error.h"

#include <stdarg.h>
#include <stdio.h>

bool hp_error_set(struct hp_error *error, const char *format, ...) {
    if (error == NULL)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}
