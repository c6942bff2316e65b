#include "heapprof/capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include "heapprof/base/arena.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/lock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"
#include "heapprof/bookkeeping/snapshot.h"
#include "heapprof/capture/dump_name.h"
#include "heapprof/capture/rotation.h"
#include "heapprof/capture/sink.h"
#include "heapprof/pprof/gzip_stream.h"
#include "heapprof/pprof/profile_writer.h"

enum { COMMENTS_MAX = 20, COMMENT_BYTES = 320, NAME_TRIES = 100 };

/* How long a dump waits for another one to end. */
#define PATIENCE_NS (INT64_C(10) * 1000000000)
#define HURRIED_PATIENCE_NS (INT64_C(100) * 1000000)
#define FORK_PATIENCE_NS (INT64_C(1) * 1000000000)

/* Among processes that share a folder: how long an early dump waits for its turn. */
#define TURN_PATIENCE_NS (INT64_C(30) * 1000000)
#define TURN_PAUSE_NS (INT64_C(500) * 1000)
#define RESTART_LOOP_NS (INT64_C(60) * 1000000000)

static struct hp_lock lock = HP_LOCK_INIT(HP_RANK_CAPTURE); /* guards all below */
static struct hp_capture_config config;
static struct hp_dump_identity identity;
static unsigned next_seq = 1;
static _Atomic int last_error; /* the cause that was logged last; of no lock */
static struct memory {
    struct hp_sink sink;
    struct hp_snapshot snapshot;
    char name[HP_DUMP_NAME_MAX + 1];
    char comments[COMMENTS_MAX][COMMENT_BYTES];
    const char *comment_pointers[COMMENTS_MAX];
    uint32_t comment_count;
} * memory;
static struct hp_gzip *gzip;
static struct hp_lock history_lock = HP_LOCK_INIT(HP_RANK_HISTORY); /* a reader must not wait for a dump */
static struct hp_capture_history history;
static __thread bool held_for_fork __attribute__((tls_model("initial-exec")));

void hp_capture_init(const struct hp_capture_config *new_config) {
    config = *new_config;
    hp_dump_identity_init(&identity, config.service);
}

static bool prepare_locked(void) {
    if (memory == NULL) {
        gzip = hp_gzip_prepare();
        struct memory *mapped = hp_pages_map_present(sizeof *mapped);
        if (gzip != NULL && mapped != NULL && hp_rotation_prepare()) {
            memory = mapped;
        }
    }
    return memory != NULL;
}

bool hp_capture_prepare(void) {
    hp_lock_take(&lock);
    bool ready = prepare_locked();
    hp_lock_release(&lock);
    return ready;
}

static void comment(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void comment(const char *format, ...) {
    if (memory->comment_count == COMMENTS_MAX) {
        return;
    }
    char *text = memory->comments[memory->comment_count];
    struct hp_writer w = hp_writer_over(text, COMMENT_BYTES);
    va_list args;
    va_start(args, format);
    hp_writer_vformat(&w, format, args);
    va_end(args);
    hp_writer_make_utf8(text);
    memory->comment_pointers[memory->comment_count++] = text;
}

/* "key: value", for people and for `heapprof top` and `heapprof check`. Sizes in bytes. */
static void write_comments(const struct hp_capture_facts *facts) {
    memory->comment_count = 0;
    comment("heapprof: %s", HP_VERSION);
    comment("service: %s", identity.service);
    comment("host: %s", identity.host);
    comment("pid: %d", identity.pid);
    comment("process start: %s", identity.start);
    comment("reason: %s", facts->reason);
    if (facts->limit != UINT64_MAX) {
        comment("usage: %lu", facts->usage);
        comment("limit: %lu", facts->limit);
        comment("limit source: %s", facts->source);
    }
    if (facts->threshold != 0) {
        comment("threshold: %lu", facts->threshold);
    }
    if (facts->allocator_resident != 0) {
        comment("jemalloc allocated: %lu", facts->allocator_allocated);
        comment("jemalloc resident: %lu", facts->allocator_resident);
    }
    comment("samples lost: %lu", facts->samples_lost);
    comment("bytes lost: %lu", facts->bytes_lost);
    comment("stacks truncated: %lu", facts->stacks_truncated);
    comment("heapprof mapped: %lu", hp_pages_total());
}

/* A few stacks and frames: enough to come through all of the code. */
static void shorten_snapshot(void) {
    enum { FEW = 16 };
    struct hp_stack_view view;
    for (int i = 0; i < FEW && hp_snapshot_next_stack(&memory->snapshot, &view); i++) {
    }
    memory->snapshot.stacks_end = memory->snapshot.cursor;
    memory->snapshot.cursor = 0;
    memory->snapshot.frames = memory->snapshot.frames < FEW ? memory->snapshot.frames : FEW;
}

/* The open sink gets a whole profile, or is left with its error. */
static void write_profile(const struct hp_capture_facts *facts, bool is_rehearsal) {
    write_comments(facts);
    struct hp_profile_facts profile = {.time_ns = hp_clock_wall_ns(),
                                       .period = config.period,
                                       .comments = memory->comment_pointers,
                                       .comment_count = memory->comment_count};
    hp_snapshot_take(&memory->snapshot);
    if (is_rehearsal) {
        shorten_snapshot();
    }
    hp_gzip_begin(gzip, hp_sink_write, &memory->sink);
    hp_profile_write(gzip, &memory->snapshot, &profile);
    if (hp_gzip_end(gzip) != 0 && memory->sink.error == 0) {
        memory->sink.error = EIO;
    }
}

/* Takes the lock of a folder among processes: a descriptor that holds it until it is closed, or -1 when there
 * is no waiting for it. */
static int take_folder(const char *folder, int64_t patience, int64_t pause) {
    int fd = hp_sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        return -1;
    }
    for (int64_t waited = 0; hp_sys_try_lock_file(fd) != 0; waited += pause) {
        if (errno != EWOULDBLOCK || waited >= patience) {
            (void)hp_sys_close(fd);
            return -1;
        }
        hp_sys_sleep(pause);
    }
    return fd;
}

/* The turn of an early dump among those that dump into `folder` now. The more of its limit a process holds,
 * the oftener it asks, so the largest come first. */
static int take_turn(const struct hp_capture_facts *facts, const char *folder) {
    uint64_t eighths = facts->limit >= 8 ? facts->allocator_resident / (facts->limit / 8) : 8;
    return take_folder(folder, TURN_PATIENCE_NS, TURN_PAUSE_NS * (int64_t)(9 - (eighths < 8 ? eighths : 8)));
}

static struct hp_rotation_scope scope_of(const char *folder, unsigned owner) {
    return (struct hp_rotation_scope){.folder = folder, .service = identity.service, .owner = owner};
}

/* Whether an early dump would only push others' out. */
static bool is_needless(const struct hp_capture_facts *facts, const char *folder) {
    if (!facts->is_early) {
        return false;
    }
    hp_dump_name_own(memory->name, &identity);
    int64_t since = hp_clock_wall_ns() - RESTART_LOOP_NS;
    struct hp_rotation_scope ours = scope_of(folder, hp_sys_geteuid());
    return hp_rotation_count_recent(&ours, memory->name, since) >= config.keep;
}

/* What a dump costs, from its beginning on. */
struct cost {
    int64_t start;
    uint64_t faults;
};

static struct cost begin_cost(void) {
    return (struct cost){.start = hp_clock_ns(), .faults = hp_sys_page_faults()};
}

/* A whole file is there. */
static void note_written(const struct hp_capture_facts *facts, const struct cost *cost) {
    hp_lock_take(&history_lock);
    history.written++;
    history.last_ns = hp_clock_wall_ns();
    history.last_bytes = memory->sink.bytes;
    history.last_took_ns = (uint64_t)(hp_clock_ns() - cost->start);
    history.last_memory = (hp_sys_page_faults() - cost->faults) * HP_SYS_PAGE;
    struct hp_writer reason = hp_writer_over(history.last_reason, sizeof history.last_reason);
    hp_writer_text(&reason, facts->reason);
    struct hp_writer path = hp_writer_over(history.last_path, sizeof history.last_path);
    hp_writer_text(&path, memory->sink.path);
    hp_lock_release(&history_lock);
}

/* The disk has failed: what was noted as written is gone again. */
static void note_taken_back(void) {
    hp_lock_take(&history_lock);
    history.written--;
    history.last_ns = 0;
    hp_lock_release(&history_lock);
}

static void note_failed(void) {
    hp_lock_take(&history_lock);
    history.failed++;
    hp_lock_release(&history_lock);
}

void hp_capture_history(struct hp_capture_history *copy) {
    hp_lock_take(&history_lock);
    *copy = history;
    hp_lock_release(&history_lock);
}

const struct hp_dump_identity *hp_capture_identity(void) {
    return &identity;
}

const struct hp_capture_config *hp_capture_settings(void) {
    return &config;
}

int hp_capture_open_scratch(bool in_memory) {
    return in_memory ? hp_sys_memory_file("heapprof profile")
                     : hp_sys_open(config.folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);
}

/* Writes what is open in the sink. 0, or an errno value with nothing left behind. */
static int write_whole(const struct hp_capture_facts *facts) {
    write_profile(facts, false);
    if (memory->sink.error != 0) {
        hp_sink_abort(&memory->sink);
    }
    return memory->sink.error;
}

/* What is whole gets its name at once: until then a kill takes all of it along. Only then is the folder read,
 * which takes 50 ms where 100,000 files of the application's lie in it; there is one file more for so long.
 */
static int publish_in_folder(const char *folder) {
    if (hp_sink_publish(&memory->sink) != 0) {
        return memory->sink.error;
    }
    struct hp_rotation_scope ours = scope_of(folder, hp_sink_owner(&memory->sink));
    hp_rotation_apply(&ours, config.keep, config.budget, memory->name);
    return 0;
}

static int dump_to_folder(const struct hp_capture_facts *facts, const char *folder) {
    int error = EEXIST;
    for (int i = 0; i < NAME_TRIES && error == EEXIST; i++) {
        hp_dump_name_write(memory->name, &identity, next_seq++, facts->reason);
        bool opened = hp_sink_open_file(&memory->sink, folder, memory->name) == 0;
        error = opened ? write_whole(facts) : memory->sink.error;
        if (error == 0) {
            error = publish_in_folder(folder);
        }
    }
    return error;
}

/* The failure of the dump folder, once for each cause, and what became of the dump. */
static void tell_failure(int error, bool is_saved) {
    if (error == last_error) {
        return;
    }
    last_error = error;
    const char *why = strerrordesc_np(error);
    const char *folder = config.folder;
    hp_log(HP_LOG_ERROR, "no dump could be written to %s: %s%s%s", folder, why != NULL ? why : "?",
           is_saved ? "; it went to " : "", is_saved ? config.spare : "");
}

static int rehearse_in(const char *folder, const struct hp_capture_facts *facts) {
    hp_dump_name_write(memory->name, &identity, 0, facts->reason);
    if (hp_sink_open_file(&memory->sink, folder, memory->name) == 0) {
        write_profile(facts, true);
        hp_sink_abort(&memory->sink);
    }
    struct hp_rotation_scope ours = scope_of(folder, hp_sys_geteuid());
    (void)hp_rotation_count_recent(&ours, memory->name, 0);
    return memory->sink.error;
}

/* A program that merely runs where nobody may write, with us in it, has no reason to speak of it yet. */
static void rehearse_somewhere(const struct hp_capture_facts *facts) {
    int error = rehearse_in(config.folder, facts);
    if (error == 0 || error == last_error) {
        return;
    }
    bool has_spare = config.spare != NULL && rehearse_in(config.spare, facts) == 0;
    bool is_said = config.is_folder_chosen || !has_spare;
    const char *why = strerrordesc_np(error);
    hp_log(is_said ? HP_LOG_ERROR : HP_LOG_INFO, "dumps can't be written to %s: %s; they go %s%s",
           config.folder, why != NULL ? why : "?", has_spare ? "to " : "nowhere",
           has_spare ? config.spare : "");
    last_error = is_said ? error : 0; /* the dump itself need not say it again */
}

void hp_capture_rehearse(const struct hp_capture_facts *facts) {
    hp_lock_take(&lock);
    if (prepare_locked()) {
        (void)hp_gzip_prepare();
        (void)hp_rotation_prepare();
        hp_pages_touch(memory, sizeof *memory);
        rehearse_somewhere(facts);
    }
    hp_lock_release(&lock);
}

/* One folder: a whole file is there, and in `file`. 0, or an errno value. */
static int dump_to(const struct hp_capture_facts *facts, const char *folder, struct hp_settling *file) {
    struct cost cost = begin_cost();
    int turn = facts->is_early ? take_turn(facts, folder) : -1;
    if (is_needless(facts, folder)) {
        (void)hp_sys_close(turn);
        return 0;
    }
    int error = dump_to_folder(facts, folder);
    (void)hp_sys_close(turn); /* the others need not wait for the disk */
    if (error != 0) {
        return error;
    }
    note_written(facts, &cost);
    uint64_t took_ms = (uint64_t)(hp_clock_ns() - cost.start) / 1000000;
    hp_log(HP_LOG_INFO, "dumped %s (%lu bytes, %lu ms)", memory->sink.path, memory->sink.bytes, took_ms);
    hp_sink_detach(&memory->sink, file);
    return 0;
}

/* The lock is free again: while the disk writes this dump, the next one, at the last threshold maybe, is made. */
static int settle(const struct hp_settling *file, bool waits) {
    int error = hp_sink_settle(file, waits);
    if (error != 0) {
        note_taken_back();
    }
    return error;
}

enum { TIMED_OUT = -1 };

/* A whole file, and, but for an early dump, durable. An early dump only sets the disk to work: the next threshold
 * may be crossed while it writes. 0, an errno value, or TIMED_OUT: another dump does not end. */
static int dump_in(const struct hp_capture_facts *facts, const char *folder) {
    struct hp_settling file = {.fd = -1};
    if (!hp_lock_take_within(&lock, facts->is_hurried ? HURRIED_PATIENCE_NS : PATIENCE_NS)) {
        return TIMED_OUT;
    }
    int error = prepare_locked() ? dump_to(facts, folder, &file) : ENOMEM;
    hp_lock_release(&lock);
    return error != 0 ? error : settle(&file, !facts->is_early);
}

/* The dump folder first, then the spare one. */
bool hp_capture_to_folder(const struct hp_capture_facts *facts) {
    int error = dump_in(facts, config.folder);
    if (error == TIMED_OUT) {
        return false;
    }
    bool saved = error == 0 || (config.spare != NULL && dump_in(facts, config.spare) == 0);
    if (error == 0) {
        last_error = 0;
    } else {
        tell_failure(error, saved);
    }
    if (!saved) {
        note_failed();
    }
    return saved;
}

static int dump_to_path(const struct hp_capture_facts *facts, const char *path, struct hp_settling *file) {
    struct cost cost = begin_cost();
    int error = hp_sink_open_path(&memory->sink, path) == 0 ? write_whole(facts) : memory->sink.error;
    if (error != 0 || hp_sink_publish(&memory->sink) != 0) {
        return memory->sink.error;
    }
    note_written(facts, &cost);
    hp_sink_detach(&memory->sink, file);
    return 0;
}

int hp_capture_to_path(const struct hp_capture_facts *facts, const char *path) {
    struct hp_settling file = {.fd = -1};
    if (!hp_lock_take_within(&lock, PATIENCE_NS)) {
        return EBUSY;
    }
    int error = prepare_locked() ? dump_to_path(facts, path, &file) : ENOMEM;
    hp_lock_release(&lock);
    error = error != 0 ? error : settle(&file, true);
    if (error != 0) {
        note_failed();
    }
    return error;
}

int hp_capture_to_fd(const struct hp_capture_facts *facts, int fd) {
    if (!hp_lock_take_within(&lock, PATIENCE_NS)) {
        return EBUSY;
    }
    int error = ENOMEM;
    if (prepare_locked()) {
        hp_sink_open_fd(&memory->sink, fd);
        error = write_whole(facts);
    }
    hp_lock_release(&lock);
    return error;
}

/* Waits for a dump to end, but not for a disk that hangs: the child takes a lock of its own anyway, and whatever is
 * half done in its copy of the memory is begun anew by its first dump. (Of a dump that an application's thread has
 * the disk write just now the child inherits the open file, until exec().) */
void hp_capture_fork_prepare(void) {
    held_for_fork = hp_lock_take_within(&lock, FORK_PATIENCE_NS);
}

void hp_capture_fork_parent(void) {
    if (held_for_fork) {
        hp_lock_release(&lock);
    }
}

void hp_capture_fork_child(void) {
    if (held_for_fork) {
        hp_lock_release(&lock);
    } else {
        hp_lock_reset(&lock);
    }
    next_seq = 1;
    hp_lock_reset(&history_lock);
    memset(&history, 0, sizeof history);
    /* Not config.service: that may be the environment's text, which the parent may have overwritten meanwhile
     * with a title for ps(1), as servers do before they fork. */
    struct hp_dump_identity parent = identity;
    hp_dump_identity_init(&identity, parent.service);
}
