/* options: each kind's grammar, the defaults, and what is said of a variable that can't be understood. G1 G2
 * G4. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "heapprof/options.h"
#include "tests/unit/child.h"
#include "tests/unit/cmocka_first.h"

static struct hp_options options;

/* Sets one variable over the defaults. */
static bool set(const char *variable, const char *text) {
    const char *complaint = NULL;
    hp_options_default(&options);
    int rc = hp_options_set(&options, variable, text, &complaint);
    assert_true(rc == 0 || rc == -1);
    assert_true(rc == 0 || (complaint != NULL && complaint[0] != '\0'));
    return rc == 0;
}

/* As the design's table has them, by hand. */
static void check_defaults(const struct hp_options *o) {
    assert_true(o->enabled);
    assert_int_equal(o->limit.kind, HP_LIMIT_AUTO);
    assert_int_equal(o->thresholds.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(o->thresholds.at[i].is_percent);
        assert_int_equal(o->thresholds.at[i].value, i == 0 ? 80 : i == 1 ? 90 : 95);
    }
    assert_int_equal(o->sample, 0);
    assert_string_equal(o->dump_dir, ".");
    assert_string_equal(o->service, "");
    assert_int_equal(o->keep, 10);
    assert_int_equal(o->dump_budget, 64 << 20);
    assert_int_equal(o->gate_ms, 250);
    assert_int_equal(o->on_limit, HP_ACTION_PURGE | HP_ACTION_DUMP);
    assert_int_equal(o->signal, 0);
    assert_string_equal(o->programs, "all");
    assert_int_equal(o->log_level, HP_LOG_WARN);
}

static void test_defaults(void **state) {
    (void)state;
    memset(&options, 0xff, sizeof options);
    hp_options_default(&options);
    check_defaults(&options);
}

/* What `heapprof help env` shows as the default is text that would be understood. */
static void test_default_texts_are_understood(void **state) {
    (void)state;
#define HP_OPTION(variable, kind, field, default_text, help)                                                 \
    assert_true(set(#variable, default_text));                                                               \
    assert_true(strlen(help) > 0);
#include "heapprof/options.def"
#undef HP_OPTION
    check_defaults(&options);
    assert_false(set("HEAPPROF_LIMITS", "1"));
    assert_false(set("", "1"));
}

/* G1, G2, G4 and their kind. value: bytes or percent; kind -1: refused. */
static void test_limit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int kind;
        uint64_t value;
    } rows[] = {
        {"128MB", HP_LIMIT_BYTES, 134217728},
        {"128M", HP_LIMIT_BYTES, 134217728},
        {"128m", HP_LIMIT_BYTES, 134217728},
        {"128MiB", HP_LIMIT_BYTES, 134217728},
        {"134217728", HP_LIMIT_BYTES, 134217728},
        {" 128mb\n", HP_LIMIT_BYTES, 134217728},
        {"1G", HP_LIMIT_BYTES, 1073741824},
        {"42GB", HP_LIMIT_BYTES, 45097156608},
        {"5GB", HP_LIMIT_BYTES, 5368709120},
        {"50%", HP_LIMIT_PERCENT, 50},
        {" 50% ", HP_LIMIT_PERCENT, 50},
        {"100%", HP_LIMIT_PERCENT, 100},
        {"max", HP_LIMIT_AUTO, 0},
        {"auto", HP_LIMIT_AUTO, 0},
        {" AUTO\n", HP_LIMIT_AUTO, 0},
        {"off", HP_LIMIT_OFF, 0},
        {"0", -1, 0},
        {"0K", -1, 0},
        {"-1", -1, 0},
        {"", -1, 0},
        {" ", -1, 0},
        {"abc", -1, 0},
        {"0%", -1, 0},
        {"101%", -1, 0},
        {"50%%", -1, 0},
        {"5x%", -1, 0},
        {"%", -1, 0},
        {"1G,2G", -1, 0},
        {"1G,", -1, 0},
        {"off,auto", -1, 0},
        {"20000000000000000000", -1, 0},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        bool fine = set("HEAPPROF_LIMIT", rows[i].text);
        int kind = fine ? (int)options.limit.kind : -1;
        if (kind != rows[i].kind || (fine && options.limit.value != rows[i].value)) {
            fail_msg("\"%s\": %d, %lu", rows[i].text, kind, options.limit.value);
        }
        assert_true(fine || options.limit.kind == HP_LIMIT_AUTO); /* unchanged */
    }
}

/* expected: one "N%" or "N" (bytes) each, blanks between; NULL: refused. */
static void test_thresholds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *expected;
    } rows[] = {
        {"80%,90%,95%", "80% 90% 95%"},
        {" 95% , 80% ", "95% 80%"}, /* as given: bytes and shares are ordered later */
        {"100M,1%", "104857600 1%"},
        {"1", "1"},
        {"1%,2%,3%,4%,5%,6%,7%,8%", "1% 2% 3% 4% 5% 6% 7% 8%"},
        {"1%,2%,3%,4%,5%,6%,7%,8%,9%", NULL},
        {"", NULL},
        {",", NULL},
        {"80%,", NULL},
        {",80%", NULL},
        {"80%,,90%", NULL},
        {"80%,0%", NULL},
        {"80%,101%", NULL},
        {"80%,0", NULL},
        {"80% 90%", NULL},
        {"80%;90%", NULL},
        {"x", NULL},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        char got[256] = "";
        bool fine = set("HEAPPROF_THRESHOLDS", rows[i].text);
        for (unsigned k = 0; fine && k < options.thresholds.count; k++) {
            size_t n = strlen(got);
            const struct hp_threshold *t = &options.thresholds.at[k];
            (void)snprintf(got + n, sizeof got - n, "%s%lu%s", k > 0 ? " " : "", t->value,
                           t->is_percent ? "%" : "");
        }
        if (fine != (rows[i].expected != NULL) || (fine && strcmp(got, rows[i].expected) != 0)) {
            fail_msg("\"%s\": \"%s\"", rows[i].text, got);
        }
        assert_true(fine || options.thresholds.count == 3); /* a list is taken whole or not at all */
    }
}

/* The kinds whose value is one number. value -1: refused. */
static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *variable;
        const char *text;
        int64_t value;
    } rows[] = {
        {"HEAPPROF_SAMPLE", "auto", 0},
        {"HEAPPROF_SAMPLE", "1", 1},
        {"HEAPPROF_SAMPLE", "512K", 524288},
        {"HEAPPROF_SAMPLE", "1G", 1 << 30},
        {"HEAPPROF_SAMPLE", "0", -1},
        {"HEAPPROF_SAMPLE", "1073741825", -1},
        {"HEAPPROF_SAMPLE", "", -1},
        {"HEAPPROF_SAMPLE", "-5", -1},
        {"HEAPPROF_KEEP", "1", 1},
        {"HEAPPROF_KEEP", " 1000 ", 1000},
        {"HEAPPROF_KEEP", "0", -1},
        {"HEAPPROF_KEEP", "1001", -1},
        {"HEAPPROF_KEEP", "4294967297", -1},
        {"HEAPPROF_KEEP", "10x", -1},
        {"HEAPPROF_KEEP", "", -1},
        {"HEAPPROF_KEEP", "1K", -1},
        {"HEAPPROF_GATE_MS", "0", 0},
        {"HEAPPROF_GATE_MS", "60000", 60000},
        {"HEAPPROF_GATE_MS", "60001", -1},
        {"HEAPPROF_GATE_MS", "250ms", -1},
        {"HEAPPROF_DUMP_BUDGET", "64M", 67108864},
        {"HEAPPROF_DUMP_BUDGET", "x", -1},
        {"HEAPPROF_SIGNAL", "none", 0},
        {"HEAPPROF_SIGNAL", "USR2", SIGUSR2},
        {"HEAPPROF_SIGNAL", "SIGUSR2", SIGUSR2},
        {"HEAPPROF_SIGNAL", "sigusr2", SIGUSR2},
        {"HEAPPROF_SIGNAL", " USR2 ", SIGUSR2},
        {"HEAPPROF_SIGNAL", "12", 12},
        {"HEAPPROF_SIGNAL", "KILL", -1},
        {"HEAPPROF_SIGNAL", "9", -1},
        {"HEAPPROF_SIGNAL", "STOP", -1},
        {"HEAPPROF_SIGNAL", "19", -1},
        {"HEAPPROF_SIGNAL", "0", -1},
        {"HEAPPROF_SIGNAL", "65", -1},
        {"HEAPPROF_SIGNAL", "", -1},
        {"HEAPPROF_SIGNAL", "SIG", -1},
        {"HEAPPROF_SIGNAL", "USR9", -1},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        const char *variable = rows[i].variable;
        bool fine = set(variable, rows[i].text);
        uint64_t value = strstr(variable, "SAMPLE") != NULL   ? options.sample
                         : strstr(variable, "KEEP") != NULL   ? options.keep
                         : strstr(variable, "GATE") != NULL   ? options.gate_ms
                         : strstr(variable, "BUDGET") != NULL ? options.dump_budget
                                                              : (uint64_t)options.signal;
        if (fine != (rows[i].value >= 0) || (fine && value != (uint64_t)rows[i].value)) {
            fail_msg("%s=\"%s\": %d, %lu", variable, rows[i].text, fine, value);
        }
    }
}

static void test_words(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int on;
    } switches[] = {{"on", 1},  {"1", 1},  {"true", 1},    {"Yes", 1}, {" ON ", 1},
                    {"off", 0}, {"0", 0},  {"false", 0},   {"no", 0},  {"OFF\n", 0},
                    {"", -1},   {"2", -1}, {"on,off", -1}, {"onn", -1}};
    for (size_t i = 0; i < ROWS(switches); i++) {
        bool fine = set("HEAPPROF", switches[i].text);
        assert_int_equal(fine ? options.enabled : -1, switches[i].on);
    }
    static const struct {
        const char *text;
        int actions;
    } actions[] = {{"purge,dump", 3},     {"dump", 2},      {"dump,abort", 6},
                   {" Exit , purge ", 9}, {"dump,dump", 2}, {"", -1},
                   {"dump,", -1},         {"kill", -1},     {"dump abort", -1}};
    for (size_t i = 0; i < ROWS(actions); i++) {
        bool fine = set("HEAPPROF_ON_LIMIT", actions[i].text);
        assert_int_equal(fine ? (int)options.on_limit : -1, actions[i].actions);
    }
    static const char *const levels[] = {"error", "warn", "info"};
    for (int i = 0; i < 3; i++) {
        assert_true(set("HEAPPROF_LOG", levels[i]));
        assert_int_equal(options.log_level, i);
    }
    assert_false(set("HEAPPROF_LOG", "debug"));
    assert_int_equal(options.log_level, HP_LOG_WARN);
}

static void test_texts(void **state) {
    (void)state;
    char text[4000];
    memset(text, 'p', sizeof text);
    text[3500] = '\0';
    assert_true(set("HEAPPROF_DUMP_DIR", text));
    text[3500] = 'p';
    text[3501] = '\0';
    assert_false(set("HEAPPROF_DUMP_DIR", text));
    assert_false(set("HEAPPROF_DUMP_DIR", ""));
    text[64] = '\0';
    assert_true(set("HEAPPROF_SERVICE", text));
    assert_ptr_equal(options.service, text);
    text[64] = 'p';
    text[65] = '\0';
    assert_false(set("HEAPPROF_SERVICE", text));
    assert_true(set("HEAPPROF_SERVICE", ""));
}

static void test_programs(void **state) {
    (void)state;
    static const struct {
        const char *list;
        const char *name;
        bool matches;
    } rows[] = {
        {"all", "anything", true},   {"a,b", "a", true},  {"a,b", "b", true},
        {" a , b ", "b", true},      {"a,b", "c", false}, {"ab", "a", false},
        {"a", "ab", false},          {"a", "A", false},   {"python3", "python3.11", false},
        {"x,all", "anything", true}, {"a,,b", "", true},  {"a", "", false},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        assert_int_equal(hp_options_program_matches(rows[i].list, rows[i].name), rows[i].matches);
    }
    assert_true(set("HEAPPROF_PROGRAM", ""));
    assert_true(hp_options_program_matches(options.programs, "anything"));
}

/* An environment is writable text: copies the entries up to the NULL. */
static struct hp_refused_limit read_environment(const char *const *entries) {
    static char texts[16][64];
    char *environment[16] = {NULL};
    for (unsigned i = 0; entries[i] != NULL; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%s", entries[i]);
        environment[i] = texts[i];
    }
    return hp_options_read(&options, environment);
}

static int body_mixed(void) {
    static const char *const entries[] = {"PATH=/bin",
                                          "HEAPPROF_LIMIT=128MB",
                                          "HEAPPROF_KEEP=none",
                                          "HEAPPROF_LIMITT=1",
                                          "HEAPPROFILE=another tool's",
                                          "HEAPPROF_NO_VALUE",
                                          "XHEAPPROF_KEEP=3",
                                          "HEAPPROF=off",
                                          "HEAPPROF_GATE_MS=10",
                                          "HEAPPROF_GATE_MS=20",
                                          NULL};
    CHILD_CHECK(read_environment(entries).text == NULL);
    CHILD_CHECK(options.limit.kind == HP_LIMIT_BYTES && options.limit.value == 134217728);
    CHILD_CHECK(options.keep == 10);
    CHILD_CHECK(!options.enabled);
    CHILD_CHECK(options.gate_ms == 20);
    return 0;
}

/* One line for each that can't be understood, with its text, what is wrong and what stands in its place. */
static void test_environment(void **state) {
    (void)state;
    struct child_end end;
    child_run(body_mixed, &end);
    assert_int_equal(end.status, 0);
    assert_string_equal(
        end.said,
        "heapprof: HEAPPROF_KEEP=\"none\" is not a whole number from 1 to 1000; using 10\n"
        "heapprof: HEAPPROF_LIMITT is not a setting of this version; `heapprof help env` lists them\n");
}

/* G4: the caller will say it, with the limit that stands in its place. */
static int body_refused_limit(void) {
    static const char *const entries[] = {"HEAPPROF_LIMIT=0", NULL};
    struct hp_refused_limit refused = read_environment(entries);
    CHILD_CHECK(refused.text != NULL && strcmp(refused.text, "0") == 0);
    CHILD_CHECK(strstr(refused.complaint, "off turns the watch off") != NULL);
    CHILD_CHECK(options.limit.kind == HP_LIMIT_AUTO);
    return 0;
}

/* The level counts for the lines of the variables before it, too. */
static int body_quiet(void) {
    static const char *const entries[] = {"HEAPPROF_KEEP=none", "HEAPPROF_LOG=error", NULL};
    (void)read_environment(entries);
    return options.log_level == HP_LOG_ERROR ? 0 : 1;
}

static void test_refused_limit_and_level(void **state) {
    (void)state;
    struct child_end end;
    child_run(body_refused_limit, &end);
    assert_int_equal(end.status, 0);
    assert_string_equal(end.said, "");
    child_run(body_quiet, &end);
    assert_int_equal(end.status, 0);
    assert_string_equal(end.said, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_default_texts_are_understood),
        cmocka_unit_test(test_limit),       cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_words),
        cmocka_unit_test(test_texts),       cmocka_unit_test(test_programs),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_refused_limit_and_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
