#include "heapprof/intake/thread_state.h"

__thread struct hp_thread hp_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));
