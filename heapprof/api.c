/* The public functions (include/heapprof/heapprof.h); what they promise stands there. */
#include "heapprof/heapprof.h"

#include <errno.h>
#include <string.h>

#include "guard/guard.h"
#include "heapprof/dump.h"
#include "heapprof/intake/thread_state.h"
#include "heapprof/pressure.h"
#include "heapprof/recorder.h"

#define API __attribute__((visibility("default")))

API const char *heapprof_version(void) {
    return HP_VERSION;
}

API bool heapprof_is_active(void) {
    return hp_recorder_is_enabled();
}

API int heapprof_dump(const char *path) {
    return hp_recorder_is_enabled() ? hp_dump_to_path(path) : ENOTSUP;
}

API int heapprof_dump_fd(int fd) {
    return hp_recorder_is_enabled() ? hp_dump_to_fd(fd) : ENOTSUP;
}

API bool heapprof_read_memory(struct heapprof_memory *memory) {
    struct guard_reading reading;
    hp_thread_mute(&hp_thread);
    bool watched = hp_recorder_is_enabled() && guard_read(&reading, true) && reading.limit != UINT64_MAX;
    hp_recorder_leave();
    if (watched) {
        memory->usage = reading.usage;
        memory->limit = reading.limit;
        memcpy(memory->source, reading.source, sizeof memory->source);
    }
    return watched;
}

API void heapprof_set_limit(uint64_t bytes) {
    if (hp_recorder_is_enabled()) {
        hp_thread_mute(&hp_thread);
        guard_set_limit(bytes);
        hp_recorder_leave();
    }
}

API int heapprof_on_pressure(heapprof_pressure *callback, void *context) {
    return hp_pressure_add(callback, context);
}

API void heapprof_pause(void) {
    hp_thread.paused++; /* first: the thread is paused, not inside */
    hp_thread_mute(&hp_thread);
}

API void heapprof_resume(void) {
    if (hp_thread.paused > 0) {
        hp_thread_unmute(&hp_thread);
        hp_thread.paused--;
    }
}
