/* pprof/profile_writer: the whole profile, read back field by field by protobuf-c, and by Go's pprof. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapprof/pprof/profile_writer.h"
#include "tests/unit/cmocka_first.h"
#include "tests/unit/read_profile.h"
#include "tests/unit/scratch.h"

static uint8_t file[16 << 20];
static size_t file_bytes;

static int to_file(void *context, const void *data, size_t bytes) {
    (void)context;
    assert_true(bytes <= sizeof file - file_bytes);
    memcpy(file + file_bytes, data, bytes);
    file_bytes += bytes;
    return 0;
}

static const char *const comments[] = {"heapprof: test", "service: \xe2\x82\xac"};

static void write_file(void) {
    struct hp_snapshot snapshot;
    struct hp_profile_facts facts = {
        .time_ns = 1700000000123456789, .period = 524288, .comments = comments, .comment_count = 2};
    hp_snapshot_take(&snapshot);
    file_bytes = 0;
    hp_gzip_begin(hp_gzip_prepare(), to_file, NULL);
    hp_profile_write(hp_gzip_prepare(), &snapshot, &facts);
    assert_int_equal(hp_gzip_end(hp_gzip_prepare()), 0);
}

static Profile *write_and_read(void) {
    write_file();
    Profile *profile = read_profile(file, file_bytes);
    assert_non_null(profile);
    assert_sound(profile);
    return profile;
}

static void free_profile(Profile *profile) {
    heapprof__pprof__profile__free_unpacked(profile, NULL);
}

/* [0x400000, 0x500000) is the program, [0x700000, 0x800000) a library without a build id, the rest generated.
 */
static uint32_t module_of(uintptr_t pc) {
    return pc >= 0x400000 && pc < 0x500000 ? 1 : pc >= 0x700000 && pc < 0x800000 ? 2 : 0;
}

static int setup(void **state) {
    const struct hp_module program = {.start = 0x400000,
                                      .end = 0x500000,
                                      .offset = 0x1000,
                                      .path = "/bin/\xc3\xbc",
                                      .build_id = {0x01, 0xAB, 0xff},
                                      .build_id_len = 3};
    const struct hp_module library = {.start = 0x700000, .end = 0x800000, .path = "/lib/libx.so"};
    bool ready = scratch_make(state) == 0 && hp_module_table_init() &&
                 hp_frame_table_init(4 << 20, module_of) && hp_stack_table_init(16 << 20) &&
                 hp_gzip_prepare() != NULL;
    return ready && hp_module_table_add(&program) == 1 && hp_module_table_add(&library) == 2 ? 0 : -1;
}

static void check_type(const Profile *profile, const Heapprof__Pprof__ValueType *type, const char *kind,
                       const char *unit) {
    assert_string_equal(string_of(profile, type->type), kind);
    assert_string_equal(string_of(profile, type->unit), unit);
}

/* The order is Go's; old speedscope wants inuse_space's index to be 4 at least. */
static void test_empty_profile(void **state) {
    (void)state;
    Profile *p = write_and_read();
    assert_int_equal(p->n_sample_type, 4);
    check_type(p, p->sample_type[0], "alloc_objects", "count");
    check_type(p, p->sample_type[1], "alloc_space", "bytes");
    check_type(p, p->sample_type[2], "inuse_objects", "count");
    check_type(p, p->sample_type[3], "inuse_space", "bytes");
    check_type(p, p->period_type, "space", "bytes");
    assert_int_equal(p->period, 524288);
    assert_string_equal(string_of(p, p->default_sample_type), "inuse_space");
    assert_true(p->default_sample_type >= 4);
    assert_true(p->sample_type[0]->type < p->sample_type[1]->type &&
                p->sample_type[1]->type < p->sample_type[2]->type &&
                p->sample_type[2]->type < p->sample_type[3]->type);
    assert_int_equal(p->time_nanos, 1700000000123456789);
    assert_int_equal(p->duration_nanos, 0);
    assert_non_null(strstr(string_of(p, p->drop_frames), "je_.*"));
    assert_int_equal(p->keep_frames, 0);
    assert_int_equal(p->n_sample, 0); /* the lost stack is not shown while it has lost nothing */
    assert_int_equal(p->n_comment, 2);
    assert_string_equal(string_of(p, p->comment[0]), comments[0]);
    assert_string_equal(string_of(p, p->comment[1]), comments[1]);
    assert_int_equal(p->n_mapping, 2); /* the program's is there even so, and the first */
    free_profile(p);
}

static void test_mappings(void **state) {
    (void)state;
    Profile *p = write_and_read();
    const Heapprof__Pprof__Mapping *m = p->mapping[0];
    assert_int_equal(m->memory_start, 0x400000);
    assert_int_equal(m->memory_limit, 0x500000);
    assert_int_equal(m->file_offset, 0x1000);
    assert_string_equal(string_of(p, m->filename), "/bin/\xc3\xbc");
    assert_string_equal(string_of(p, m->build_id), "01abff"); /* lower case, or pprof won't match it */
    assert_false(m->has_functions || m->has_filenames || m->has_line_numbers || m->has_inline_frames);
    assert_string_equal(string_of(p, p->mapping[1]->filename), "/lib/libx.so");
    assert_int_equal(p->mapping[1]->build_id, 0);
    free_profile(p);
}

static void count(const uintptr_t *pcs, uint32_t depth, bool truncated, uint64_t alloc, uint64_t freed,
                  uint64_t size) {
    struct hp_stack_trace trace = {.depth = depth, .truncated = truncated};
    memcpy(trace.pcs, pcs, depth * sizeof *pcs);
    uint32_t stack = hp_stack_table_find(&trace);
    hp_stack_table_add(stack, alloc * 65536, alloc * size);
    hp_stack_table_subtract(stack, freed * 65536, freed * size);
}

/* The sample whose leaf is at `address`. */
static const Sample *sample_at(const Profile *p, uint64_t address) {
    for (size_t i = 0; i < p->n_sample; i++) {
        if (p->sample[i]->n_location_id > 0 &&
            p->location[p->sample[i]->location_id[0] - 1]->address == address) {
            return p->sample[i];
        }
    }
    fail_msg("no sample at %lx", address);
    return NULL;
}

static void check_values(const Sample *s, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t expected[] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(s->value[i], expected[i]);
    }
}

static void test_samples(void **state) {
    (void)state;
    static const uintptr_t both[] = {0x700010, 0x400020, 0x400010};
    static const uintptr_t generated[] = {0xdead0000, 0x400010};
    count(both, 3, false, 10, 4, 100);
    count(generated, 2, false, 3, 3, 7); /* all freed: the history still shows it */
    Profile *p = write_and_read();
    assert_int_equal(p->n_sample, 2);
    const Sample *s = sample_at(p, 0x700010);
    check_values(s, 10, 1000, 6, 600);
    assert_int_equal(s->n_location_id, 3);
    for (int i = 0; i < 3; i++) { /* leaf first */
        const Heapprof__Pprof__Location *location = p->location[s->location_id[i] - 1];
        assert_int_equal(location->address, both[i]);
        assert_int_equal(location->mapping_id, i == 0 ? 2 : 1);
        assert_int_equal(location->n_line, 0); /* symbols are found outside the process */
    }
    assert_int_equal(s->n_label, 1);
    assert_string_equal(string_of(p, s->label[0]->key), "bytes");
    assert_int_equal(s->label[0]->num, 100);
    assert_string_equal(string_of(p, s->label[0]->num_unit), "bytes");
    s = sample_at(p, 0xdead0000);
    check_values(s, 3, 21, 0, 0);
    assert_int_equal(p->location[s->location_id[0] - 1]->mapping_id, 0);
    free_profile(p);
}

/* Weights have a fraction: 2.5 objects are 3, and the bytes are those that were counted, not 3 times the
 * size. */
static void test_weights_are_rounded(void **state) {
    (void)state;
    struct hp_stack_trace trace = {.depth = 1, .pcs = {0x400777}};
    hp_stack_table_add(hp_stack_table_find(&trace), 65536 * 5 / 2, 250);
    Profile *p = write_and_read();
    check_values(sample_at(p, 0x400777), 3, 250, 3, 250);
    free_profile(p);
}

static void check_last_name(const Profile *p, const Sample *s, const char *name) {
    const Heapprof__Pprof__Location *location = p->location[s->location_id[s->n_location_id - 1] - 1];
    assert_int_equal(location->address, 0);
    assert_int_equal(location->mapping_id, 0);
    assert_int_equal(location->n_line, 1);
    assert_string_equal(string_of(p, p->function[location->line[0]->function_id - 1]->name), name);
}

/* P24: the file says what is missing. The deepest stack there is has all of its 128 frames, and the mark. */
static void test_truncated_and_lost(void **state) {
    (void)state;
    uintptr_t pcs[HP_STACK_DEPTH_MAX];
    for (uint32_t i = 0; i < HP_STACK_DEPTH_MAX; i++) {
        pcs[i] = 0x420000 + i;
    }
    count(pcs, HP_STACK_DEPTH_MAX, true, 1, 0, 5);
    hp_stack_table_add(HP_STACK_LOST, 4 * 65536, 44);
    Profile *p = write_and_read();
    const Sample *s = sample_at(p, 0x420000);
    check_values(s, 1, 5, 1, 5);
    assert_int_equal(s->n_location_id, HP_STACK_DEPTH_MAX + 1);
    check_last_name(p, s, "[truncated]");
    s = sample_at(p, 0); /* its only frame */
    check_values(s, 4, 44, 4, 44);
    assert_int_equal(s->n_location_id, 1);
    check_last_name(p, s, "[stack lost]");
    free_profile(p);
}

/* `go tool pprof -raw` on the file; what it prints. NULL without go. */
static char *go_says(void) {
    static char text[8 << 20];
    char command[5000];
    if (system("go version > /dev/null 2>&1") != 0) {
        return NULL;
    }
    scratch_write("profile.pb.gz", file, file_bytes, 0);
    (void)snprintf(command, sizeof command, "PPROF_TMPDIR='%s' go tool pprof -symbolize=none -raw '%s' 2>&1",
                   scratch_path(""), scratch_path("profile.pb.gz"));
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    if (pclose(pipe) != 0) {
        fail_msg("%s", text);
    }
    return text;
}

static void test_go_reads_it(void **state) {
    (void)state;
    write_file();
    const char *text = go_says();
    if (text == NULL) {
        skip();
    }
    /* Go numbers locations anew, in the order in which samples use them; the lost stack is the first. */
    static const char *const lines[] = {
        "PeriodType: space bytes\n",
        "Period: 524288\n",
        "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes[dflt]\n",
        "         10       1000          6        600: 2 3 4 \n                bytes:[100 bytes]\n",
        "          3         21          0          0: 5 4 \n                bytes:[7 bytes]\n",
        "     2: 0x700010 M=2 \n",
        "     4: 0x400010 M=1 \n",
        "     5: 0xdead0000 \n",
        "1: 0x400000/0x500000/0x1000 /bin/\xc3\xbc 01abff \n",
        "[truncated]",
        "[stack lost]",
    };
    for (size_t i = 0; i < ROWS(lines); i++) {
        if (strstr(text, lines[i]) == NULL) {
            fail_msg("\"%s\" is not in:\n%.2000s", lines[i], text);
        }
    }
}

/* Far more than the stream's staging, in plain and in compressed bytes; no stack is missing or twice. */
static void test_large_profile(void **state) {
    (void)state;
    enum { STACKS = 20000 };
    for (uintptr_t n = 0; n < STACKS; n++) {
        const uintptr_t pcs[] = {0x430000 + n * 7, 0x700000 + n, 0x400000 + n % 17, 0x400100};
        count(pcs, 4, false, n + 1, n, 3);
    }
    Profile *p = write_and_read();
    assert_true(file_bytes > 3 * HP_GZIP_STAGING);
    uint64_t sum = 0;
    size_t found = 0;
    for (size_t i = 0; i < p->n_sample; i++) {
        const Sample *s = p->sample[i];
        uint64_t leaf = p->location[s->location_id[0] - 1]->address;
        if (s->n_location_id == 4) {
            int64_t n = (int64_t)(leaf - 0x430000) / 7;
            check_values(s, n + 1, 3 * (n + 1), 1, 3);
            sum += (uint64_t)n;
            found++;
        }
    }
    assert_int_equal(found, STACKS);
    assert_int_equal(sum, (uint64_t)STACKS * (STACKS - 1) / 2);
    free_profile(p);
    const char *text = go_says();
    assert_true(text == NULL || strstr(text, "\n      20000      60000          1          3: ") != NULL);
}

static atomic_bool stop;

static void *keep_allocating(void *nothing) {
    (void)nothing;
    for (uintptr_t n = 0; !atomic_load(&stop) && n < 100000; n++) {
        const uintptr_t pcs[] = {0x480000 + n, 0x480000 + n / 2};
        count(pcs, 2, false, 2, 1, 10);
    }
    return NULL;
}

/* A profile that is taken in the middle of everything refers to nothing that is not in it. */
static void test_written_while_tables_grow(void **state) {
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keep_allocating, NULL), 0);
    for (int i = 0; i < 5; i++) {
        free_profile(write_and_read());
    }
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_profile), /* in this order: the tables do not empty */
        cmocka_unit_test(test_mappings),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_weights_are_rounded),
        cmocka_unit_test(test_truncated_and_lost),
        cmocka_unit_test(test_go_reads_it),
        cmocka_unit_test(test_large_profile),
        cmocka_unit_test(test_written_while_tables_grow),
    };
    return cmocka_run_group_tests(tests, setup, scratch_remove);
}
