/*
 * The start: binds the rooms to each other, in the constructor, and again in every forked child. Included by
 * nobody.
 *
 * It runs before the constructors of all other libraries, of the C library too (Library.cmake: -z initfirst,
 * or .preinit_array where we are linked statically). Not to see their allocations, though it does: fork()
 * calls the handlers that were registered first last before, and first after. A library that registers its
 * own before ours would have them run while we hold all locks, and one that takes a lock there which a thread
 * holds that allocates, or waits for such a thread, would never return.
 *
 * Before the constructor allocations pass straight to jemalloc, unsampled: they are the loader's.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "guard/guard.h"
#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/procfs.h"
#include "heapprof/base/sys.h"
#include "heapprof/base/writer.h"
#include "heapprof/bookkeeping/frame_table.h"
#include "heapprof/bookkeeping/live_set.h"
#include "heapprof/bookkeeping/module_table.h"
#include "heapprof/bookkeeping/stack_table.h"
#include "heapprof/capture/capture.h"
#include "heapprof/control/control_socket.h"
#include "heapprof/dump.h"
#include "heapprof/frame_module.h"
#include "heapprof/intake/allocator.h"
#include "heapprof/intake/placement.h"
#include "heapprof/intake/sampler.h"
#include "heapprof/intake/thread_state.h"
#include "heapprof/options.h"
#include "heapprof/pressure.h"
#include "heapprof/recorder.h"
#include "heapprof/status.h"
#include "heapprof/unwind/unwinder.h"

enum { HP_FIRST_CONSTRUCTOR = 101 }; /* Library.cmake knows the number */

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

static struct hp_options options;
static char dump_dir[4096];
static char spare_dir[4096];
static char socket_dirs[HP_CONTROL_FOLDERS][4096];

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high) {
    return value < low ? low : value > high ? high : value;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void guard_thread_begins(void) {
    hp_thread_mute(&hp_thread); /* for good: nothing that the guard does is the application's */
    hp_dump_rehearse();
    if (guard_may_be_refused()) {
        (void)hp_allocator_enter(); /* while it can; otherwise it costs 90 KiB for nothing */
    }
}

static void dump_was_requested(void) {
    (void)hp_dump_on_demand("signal");
}

static void control_thread_begins(void) {
    hp_thread_mute(&hp_thread); /* for good, as above */
}

static const struct hp_control_host control_host = {
    .thread_begin = control_thread_begins,
    .write_status = hp_status_write,
    .write_profile = hp_dump_to_fd,
    .open_scratch = hp_capture_open_scratch,
};

static const struct guard_host guard_host = {
    .thread_begin = guard_thread_begins,
    .pressure = hp_pressure_call,
    .purge = hp_allocator_purge,
    .dump = hp_dump_at_threshold,
    .requested = dump_was_requested,
};

/* Shares of the limit: 1/32 for stacks and for live samples, 1/128 for frames, as address space; what is
 * touched is what is used. */
static bool init_tables(uint64_t limit, uint64_t period) {
    return hp_module_table_init() &&
           hp_frame_table_init(clamp(limit / 128, MIB, 16 * MIB), hp_frame_module_of) &&
           hp_stack_table_init(clamp(limit / 32, 2 * MIB, 64 * MIB)) &&
           hp_live_set_init(clamp(limit / 32, 2 * MIB, 128 * MIB), limit / period) && hp_unwinder_init();
}

static uint64_t choose_period(uint64_t limit) {
    return options.sample != 0 ? options.sample : clamp(limit / 1024, 16 * KIB, 512 * KIB);
}

/* The application may change its folder later, a daemon to "/". */
static void find_dump_dir(void) {
    struct hp_writer w = hp_writer_over(dump_dir, sizeof dump_dir);
    if (options.dump_dir[0] != '/' && hp_sys_getcwd(dump_dir, sizeof dump_dir) == 0) {
        w.len = strlen(dump_dir);
        hp_writer_text(&w, "/");
    }
    hp_writer_text(&w, strcmp(options.dump_dir, ".") == 0 && w.len > 0 ? "" : options.dump_dir);
    while (w.len > 1 && dump_dir[w.len - 1] == '/') {
        dump_dir[--w.len] = '\0';
    }
}

/* Where dumps go when they can't go there: TMPDIR, else /tmp. NULL when that is the same folder. */
static const char *find_spare_dir(void) {
    const char *temporary = secure_getenv("TMPDIR");
    struct hp_writer w = hp_writer_over(spare_dir, sizeof spare_dir);
    hp_writer_text(&w, temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
    return strcmp(spare_dir, dump_dir) != 0 ? spare_dir : NULL;
}

static void init_capture(uint64_t period) {
    find_dump_dir();
    struct hp_capture_config config = {
        .folder = dump_dir,
        .is_folder_chosen = strcmp(options.dump_dir, ".") != 0,
        .spare = find_spare_dir(),
        .service = options.service[0] != '\0' ? options.service : base_name(hp_frame_module_program()),
        .keep = options.keep,
        .budget = options.dump_budget,
        .period = period};
    hp_capture_init(&config);
}

/* Copied: the application may write over its environment. */
static void add_socket_dir(struct hp_control_config *config, unsigned *count, const char *dir) {
    if (dir != NULL && dir[0] == '/' && strlen(dir) <= 3500) {
        struct hp_writer w = hp_writer_over(socket_dirs[*count], sizeof socket_dirs[*count]);
        hp_writer_text(&w, dir);
        config->folders[*count] = socket_dirs[*count];
        (*count)++;
    }
}

static void init_control(void) {
    struct hp_control_config config = {.host = &control_host,
                                       .are_common = options.socket.kind == HP_SOCKET_AUTO};
    unsigned count = 0;
    if (config.are_common) {
        add_socket_dir(&config, &count, secure_getenv("XDG_RUNTIME_DIR"));
        add_socket_dir(&config, &count, secure_getenv("TMPDIR"));
        add_socket_dir(&config, &count, "/tmp");
    } else {
        add_socket_dir(&config, &count, options.socket.folder);
    }
    if (options.socket.kind != HP_SOCKET_OFF) {
        hp_control_init(&config);
    }
}

static void on_signal(int number) {
    (void)number;
    guard_request();
}

static void install_signal(void) {
    if (options.signal != 0) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        (void)sigaction(options.signal, &action, NULL);
    }
}

/* In the order of the locks' ranks. */
static void before_fork(void) {
    hp_thread_mute(&hp_thread); /* other handlers run between this and fork, and may allocate */
    guard_fork_prepare();
    hp_capture_fork_prepare();
    hp_stack_table_fork_prepare();
    hp_frame_table_fork_prepare();
    hp_module_table_fork_prepare();
    hp_live_set_fork_prepare();
}

static void after_fork_in_parent(void) {
    hp_live_set_fork_parent();
    hp_module_table_fork_parent();
    hp_frame_table_fork_parent();
    hp_stack_table_fork_parent();
    hp_capture_fork_parent();
    guard_fork_parent();
    hp_recorder_leave();
}

/* The main thread has called pthread_exit(), which ends it alone. In a forked child it is the thread that has
 * forked. (Where main() returns, or anybody calls exit(), the process ends, and this is not called.) */
static pthread_key_t main_thread_key;
static bool has_key;

#define SOCKET_PATIENCE_NS INT64_C(1000000000)

static void main_thread_ends(void *unused) {
    (void)unused;
    hp_thread_mute(&hp_thread);
    guard_end_threads();
    hp_control_end(hp_clock_ns() + SOCKET_PATIENCE_NS);
    hp_procfs_read_by_thread(true);
    hp_recorder_leave();
}

static void mark_main_thread(void) {
    if (has_key) {
        (void)pthread_setspecific(main_thread_key, &main_thread_key);
    }
}

static void after_fork_in_child(void) {
    hp_live_set_fork_child();
    hp_module_table_fork_child();
    hp_frame_table_fork_child();
    hp_stack_table_fork_child();
    hp_capture_fork_child();
    guard_fork_child();
    hp_control_fork_child();
    hp_placement_fork_child();
    hp_procfs_read_by_thread(false);
    mark_main_thread();
    hp_recorder_fork_child();
    hp_recorder_leave();
}

/* As they were given: "80%, 90%, 95%". */
static void write_thresholds(struct hp_writer *w) {
    for (unsigned i = 0; i < options.thresholds.count; i++) {
        const struct hp_threshold *t = &options.thresholds.at[i];
        hp_writer_text(w, i > 0 ? ", " : "");
        if (t->is_percent) {
            hp_writer_format(w, "%lu%%", t->value);
        } else {
            hp_writer_size(w, t->value);
        }
    }
}

static void tell_start(const struct hp_refused_limit *refused, uint64_t period) {
    char limit[32] = "no limit";
    char mean[32];
    struct guard_reading reading;
    struct hp_writer mean_writer = hp_writer_over(mean, sizeof mean);
    char thresholds[160];
    struct hp_writer thresholds_writer = hp_writer_over(thresholds, sizeof thresholds);
    bool watched = guard_read(&reading, false);
    if (watched) {
        struct hp_writer w = hp_writer_over(limit, sizeof limit);
        hp_writer_size(&w, reading.limit);
    }
    if (refused->text != NULL) {
        const char *whose = !watched                                    ? ""
                            : strncmp(reading.source, "cgroup", 6) == 0 ? "the cgroup's "
                                                                        : "the machine's ";
        hp_log(HP_LOG_WARN, "HEAPPROF_LIMIT=\"%.100s\" %s; using %s%s", refused->text, refused->complaint,
               whose, limit);
    }
    hp_writer_size(&mean_writer, period);
    write_thresholds(&thresholds_writer);
    if (watched) {
        hp_log(HP_LOG_INFO, "watching %s (%lu bytes, %s); dumps at %s, to %s; a sample every %s", limit,
               reading.limit, reading.source, thresholds, dump_dir, mean);
    } else {
        hp_log(HP_LOG_INFO, "watching no limit; a sample every %s; dumps go to %s", mean, dump_dir);
    }
}

/* HEAPPROF_PROGRAM may name the program's file (python3.11) or what it was started as (python3). */
static bool is_chosen(void) {
    const char *started_as = (const char *)getauxval(AT_EXECFN);
    return hp_options_program_matches(options.programs, base_name(hp_frame_module_program())) ||
           (started_as != NULL && hp_options_program_matches(options.programs, base_name(started_as)));
}

static bool start(const struct hp_refused_limit *refused) {
    bool is_watched = guard_init(&options, &guard_host);
    uint64_t limit = guard_limit();
    uint64_t period = choose_period(limit);
    hp_sampler_init(period);
    if (!init_tables(limit, period)) {
        hp_log(HP_LOG_WARN, "no address space for the profiler's tables; this is a plain jemalloc");
        return false;
    }
    hp_frame_module_init();
    init_capture(period);
    if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
        hp_log(HP_LOG_WARN, "fork() can't be followed; this is a plain jemalloc");
        return false;
    }
    has_key = pthread_key_create(&main_thread_key, main_thread_ends) == 0;
    mark_main_thread();
    if (!is_watched) {
        (void)hp_capture_prepare(); /* no guard's thread will; and then there may be no memory for it */
    }
    init_control();
    install_signal();
    tell_start(refused, period);
    return true;
}

/* Before the first allocation: jemalloc registers handlers for fork() when it starts, and they must come
 * first. The C library has not set `environ` yet; it sets it to the same. */
__attribute__((constructor(HP_FIRST_CONSTRUCTOR))) static void init(int argc, char **argv, char **envp) {
    if (environ == NULL) {
        environ = envp;
    }
    je_free(je_malloc(1));
    char *nothing[] = {NULL};
    /* A set-user-id program does not take orders from the environment of who runs it, nor from where they stand. */
    bool is_secure = getauxval(AT_SECURE) != 0;
    char **environment = is_secure || environ == NULL ? nothing : environ;
    struct hp_refused_limit refused = hp_options_read(&options, environment);
    if (is_secure) {
        options.dump_dir = "/tmp";
    }
    hp_frame_module_find_program(argc > 0 ? argv[0] : "");
    hp_thread_mute(&hp_thread);
    bool started = options.enabled && is_chosen() && start(&refused);
    if (started) {
        hp_recorder_enable();
    } else {
        hp_recorder_disable();
    }
    hp_recorder_leave();
}

/* The one thing that is tidied up at the end, and a single system call: threads go on allocating meanwhile.
 */
__attribute__((destructor)) static void fini(void) {
    hp_control_remove();
}
