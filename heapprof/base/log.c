#include "heapprof/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"

static _Atomic int max_level = HP_LOG_WARN;
static _Atomic int lines;

void hp_log_set_level(enum hp_log_level level) {
    atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

void hp_log(enum hp_log_level level, const char *format, ...) {
    if ((int)level > atomic_load_explicit(&max_level, memory_order_relaxed)) {
        return;
    }
    int nth = atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed);
    if (nth >= HP_LOG_LINES) {
        atomic_store_explicit(&lines, HP_LOG_LINES, memory_order_relaxed);
        return;
    }
    int saved = errno;
    char line[512];
    struct hp_writer w = hp_writer_over(line, sizeof line - 1); /* room for the line's end */
    hp_writer_text(&w, "heapprof: ");
    va_list args;
    va_start(args, format);
    hp_writer_vformat(&w, format, args);
    va_end(args);
    if (nth == HP_LOG_LINES - 1) {
        w = hp_writer_over(line, sizeof line - 1);
        hp_writer_text(&w, "heapprof: enough said; no more lines from this process");
    }
    line[w.len] = '\n';
    (void)hp_sys_write(2, line, w.len + 1);
    errno = saved;
}
