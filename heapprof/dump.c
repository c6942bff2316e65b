#include "heapprof/dump.h"

#include "heapprof/base/no_malloc.h"
#include "heapprof/base/writer.h"
#include "heapprof/capture/capture.h"
#include "heapprof/intake/allocator.h"
#include "heapprof/intake/thread_state.h"
#include "heapprof/recorder.h"

enum { REASON_BYTES = 24 };

static void begin(void) {
    hp_thread_mute(&hp_thread);
    hp_no_malloc_begin();
}

static void end(void) {
    hp_no_malloc_end();
    hp_recorder_leave();
}

/* `reading` must outlive the facts. jemalloc is asked for its totals only if `may_ask`: its locks may be
 * held. */
static struct hp_capture_facts gather(const char *reason, const struct guard_reading *reading,
                                      uint64_t threshold, bool may_ask) {
    struct hp_loss loss;
    size_t allocated = 0;
    size_t resident = 0;
    hp_recorder_loss(&loss);
    if (may_ask) {
        hp_allocator_totals(&allocated, &resident);
    }
    return (struct hp_capture_facts){
        .reason = reason,
        .usage = reading->usage,
        .limit = reading->limit,
        .source = reading->source,
        .threshold = threshold,
        .allocator_allocated = allocated,
        .allocator_resident = resident,
        .samples_lost = loss.samples,
        .bytes_lost = loss.bytes,
        .stacks_truncated = loss.truncated,
    };
}

static struct hp_capture_facts gather_on_demand(const char *reason, struct guard_reading *reading) {
    if (!guard_read(reading, true)) {
        reading->limit = UINT64_MAX;
    }
    return gather(reason, reading, 0, true);
}

bool hp_dump_at_threshold(const struct guard_crossing *crossing) {
    char reason[REASON_BYTES];
    struct hp_writer w = hp_writer_over(reason, sizeof reason);
    if (crossing->is_out_of_memory) {
        hp_writer_text(&w, "nomem");
    } else {
        hp_writer_format(&w, "limit%u", crossing->percent);
    }
    hp_thread_mute(&hp_thread);
    hp_no_malloc_begin();
    struct hp_capture_facts facts =
        gather(reason, &crossing->reading, crossing->threshold,
               !crossing->is_out_of_memory && !crossing->is_overtaken);
    facts.is_early = !crossing->is_last;
    facts.is_hurried = crossing->is_overtaken;
    bool done = hp_capture_to_folder(&facts);
    hp_no_malloc_end();
    hp_thread_unmute(&hp_thread); /* and no more: what was deferred is freed by who was at work */
    return done;
}

bool hp_dump_on_demand(const char *reason) {
    struct guard_reading reading;
    begin();
    struct hp_capture_facts facts = gather_on_demand(reason, &reading);
    bool done = hp_capture_to_folder(&facts);
    end();
    return done;
}

void hp_dump_rehearse(void) {
    struct guard_reading reading;
    begin();
    struct hp_capture_facts facts = gather_on_demand("rehearsal", &reading);
    hp_capture_rehearse(&facts);
    end();
}

int hp_dump_to_path(const char *path) {
    struct guard_reading reading;
    begin();
    struct hp_capture_facts facts = gather_on_demand("request", &reading);
    int error = hp_capture_to_path(&facts, path);
    end();
    return error;
}

int hp_dump_to_fd(int fd) {
    struct guard_reading reading;
    begin();
    struct hp_capture_facts facts = gather_on_demand("request", &reading);
    int error = hp_capture_to_fd(&facts, fd);
    end();
    return error;
}
