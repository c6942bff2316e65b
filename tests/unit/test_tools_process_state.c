/* process_state and status_report: what a process tells, may be missing or hostile; and what is shown of it
 * fits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/live/process_state.h"
#include "tools/report/status_report.h"
#include "tests/unit/cmocka_first.h"
#include "tools/base/text.h"

static const char whole[] =
    "{\"heapprof\":\"0.1.0\",\"format\":1,\"time\":\"2026-12-01T17:59:25.123Z\",\"pid\":7,\"service\":"
    "\"edge\","
    "\"host\":\"web-1\",\"program\":\"/usr/bin/edge\",\"build_id\":\"a7516ae81afc8457\",\"start\":"
    "\"2026-12-01T17:00:00.000Z\",\"memory\":{\"usage\":96468992,\"peak\":127926272,\"limit\":134217728,"
    "\"headroom\":37748736,\"source\":\"cgroup v2 "
    "/sys/fs/cgroup/edge\",\"resident\":96468992},\"limits\":[{\"source\":"
    "\"cgroup v2 /sys/fs/cgroup/edge\",\"limit\":134217728,\"usage\":96468992,\"kills\":true,\"thresholds\":["
    "{\"bytes\":107374182,\"percent\":80,\"armed\":false,\"fired\":2,\"last\":{\"time\":\"2026-12-01T17:30:"
    "00.500Z\","
    "\"usage\":108003328}},{\"bytes\":127506841,\"percent\":95,\"armed\":true,\"fired\":0,\"last\":null}]}],"
    "\"limits_left_out\":0,\"percentiles\":{\"seconds\":3565,\"p50\":70000000,\"p90\":100000000,\"p99\":"
    "120000000,"
    "\"p999\":127000000,\"max\":127926272},\"dumps\":{\"written\":3,\"failed\":1,\"folder\":\"/var/"
    "dumps\",\"last\":"
    "{\"time\":\"2026-12-01T17:30:00.600Z\",\"reason\":\"limit80\",\"path\":\"/var/dumps/"
    "heapprof.edge.pb.gz\","
    "\"bytes\":3210,\"milliseconds\":5,\"memory\":8192}},\"samples\":{\"period\":131072,\"taken\":5000,"
    "\"live\":800,"
    "\"stacks\":42,\"lost\":0,\"lost_bytes\":0,\"truncated\":3},\"own_mapped\":7966720,\"from the "
    "future\":[1,2]}";

static struct hp_process_state *parse(const char *text) {
    struct hp_error error = {""};
    struct hp_process_state *state = hp_process_state_parse(text, strlen(text), &error);
    assert_true((state == NULL) == (error.text[0] != '\0'));
    return state;
}

static void test_whole(void **unused) {
    (void)unused;
    struct hp_process_state *state = parse(whole);
    assert_non_null(state);
    assert_string_equal(state->service, "edge");
    assert_int_equal(state->pid, 7);
    assert_true(state->limit.is_known && state->limit.value == 134217728);
    assert_int_equal(state->n_limits, 1);
    assert_int_equal(state->limits[0].n_thresholds, 2);
    assert_int_equal(state->limits[0].thresholds[0].fired, 2);
    assert_string_equal(state->limits[0].thresholds[0].last_time, "2026-12-01T17:30:00.500Z");
    assert_null(state->limits[0].thresholds[1].last_time);
    assert_int_equal(state->percentiles[HP_STATE_P999], 127000000);
    assert_int_equal(state->last_dump_memory.value, 8192);
    assert_int_equal(state->live_samples, 800);
    hp_process_state_free(state);
}

/* The text with the first `from` replaced. The caller frees it. */
static char *with(const char *from, const char *to) {
    const char *at = strstr(whole, from);
    char *text = NULL;
    assert_non_null(at);
    assert_true(asprintf(&text, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from)) > 0);
    return text;
}

static void test_null_is_not_known(void **unused) {
    (void)unused;
    char *text = with("\"limit\":134217728,\"headroom\":37748736", "\"limit\":null,\"headroom\":null");
    struct hp_process_state *state = parse(text);
    assert_non_null(state);
    assert_false(state->limit.is_known);
    hp_process_state_free(state);
    free(text);
}

static void test_what_is_no_state(void **unused) {
    (void)unused;
    static const struct {
        const char *from;
        const char *to;
    } rows[] = {
        {"\"service\":\"edge\",", ""},
        {"\"service\":\"edge\"", "\"service\":7"},
        {"\"pid\":7", "\"pid\":\"7\""},
        {"\"pid\":7", "\"pid\":-7"},
        {"\"pid\":7", "\"pid\":7.5"},
        {"\"pid\":7", "\"pid\":99999999999999999999"},
        {"\"memory\":{", "\"memory\":[{"},
        {"\"kills\":true,", ""},
        {"\"thresholds\":[", "\"thresholds\":[7,"},
        {"\"limits\":[", "\"limits\":[null,"},
        {"\"usage\":108003328", "\"usage\":\"much\""},
        {"\"percentiles\":{\"seconds\":3565", "\"percentiles\":{\"seconds\":true"},
        {"\"last\":{\"time\":\"2026-12-01T17:30:00.600Z\"", "\"last\":7,\"x\":{\"time\":\"\""},
        {"\"pid\":7", "\"pid\":7,\"pid\":8"},
        {"{", ""},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        char *text = with(rows[i].from, rows[i].to);
        assert_null(parse(text));
        free(text);
    }
    assert_null(parse(""));
    assert_null(parse("null"));
    assert_null(parse("[]"));
    assert_null(parse("{}"));
}

/* Cut anywhere it is none; and a tower of brackets is no danger. */
static void test_cut_and_deep(void **unused) {
    (void)unused;
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        struct hp_error error = {""};
        assert_null(hp_process_state_parse(whole, n, &error));
        assert_true(error.text[0] != '\0');
    }
    static char tower[1000000];
    memset(tower, '[', sizeof tower - 1);
    assert_null(parse(tower));
}

/* -- Reports -- */

/* No line is wider than 80 columns, and nothing could drive a terminal. */
static void assert_fits(char *text) {
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (hp_text_width(line) > 80) {
            fail_msg("%zu columns: %s", hp_text_width(line), line);
        }
        for (const char *p = line; *p != '\0'; p++) {
            assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
        }
    }
}

static void test_report(void **unused) {
    (void)unused;
    char *text = NULL;
    size_t length = 0;
    struct hp_process_state *state = parse(whole);
    FILE *stream = open_memstream(&text, &length);
    hp_status_report(stream, state, 4711);
    assert_int_equal(fclose(stream), 0);
    static const char *const words[] = {
        "edge, pid 4711 (7 in its container) on web-1, since 2026-12-01 17:00:00 UTC\n",
        "usage       92.0 MiB of 128.0 MiB (71.9%), 36.0 MiB left\n",
        "peak        122.0 MiB (95.3%)\n",
        "  P50         66.8 MiB   52.2%\n",
        "usage in the 0:59:25 watched\n",
        "   80 %  102.4 MiB  2 x  2026-12-01 17:30:00 UTC at 103.0 MiB, still\n",
        "   95 %  121.6 MiB  never\n",
        "            limit80 at 2026-12-01 17:30:00 UTC\n",
        "            3.1 KiB in 5 ms, which touched 8.0 KiB of fresh memory\n",
        "lost        nothing\n",
    };
    for (size_t i = 0; i < ROWS(words); i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("no \"%s\" in\n%s", words[i], text);
        }
    }
    assert_fits(text);
    free(text);
    hp_process_state_free(state);
}

static void test_extremes_fit(void **unused) {
    (void)unused;
    char *long_service =
        with("\"service\":\"edge\"", "\"service\":\"a_service_of_a_very_long_name_indeed_that_goes_on_"
                                     "and_on\\u001b[2J\"");
    struct hp_process_state *state = parse(long_service);
    assert_non_null(state);
    state->usage.value = state->limit.value = state->headroom.value = state->period = UINT64_MAX;
    state->dumps = 99999;
    state->limits[0].thresholds[0].fired = 4294967295;
    state->limits[0].thresholds[0].bytes = UINT64_MAX;
    state->limits[0].thresholds[0].last_usage.value = UINT64_MAX;
    struct hp_process process = {.pid = 4194304};
    struct hp_process silent = {.pid = 4194303, .service = "another_service_of_a_very_long_name"};
    const struct hp_status_row rows[] = {
        {&process, state, ""},
        {&silent, NULL,
         "can't be asked: a long story that has to go on in the next line, whatever happens\x1b[2J"}};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    hp_status_table(stream, rows, 2, 0);
    hp_status_report(stream, state, 4194304);
    hp_status_difference(stream, state, state);
    assert_int_equal(fclose(stream), 0);
    assert_fits(text);
    free(text);
    hp_process_state_free(state);
    free(long_service);
}

static void test_difference(void **unused) {
    (void)unused;
    char *text = NULL;
    size_t length = 0;
    char *later = with("\"p50\":70000000,\"p90\":100000000", "\"p50\":35000000,\"p90\":101048576");
    struct hp_process_state *before = parse(whole);
    struct hp_process_state *after = parse(later);
    FILE *stream = open_memstream(&text, &length);
    hp_status_difference(stream, before, after);
    assert_int_equal(fclose(stream), 0);
    static const char *const words[] = {
        "P50         66.8 MiB   52.2%       33.4 MiB   26.1%   -33.4 MiB\n",
        "P90         95.4 MiB   74.5%       96.4 MiB   75.3%   +1.0 MiB\n",
        "max        122.0 MiB   95.3%      122.0 MiB   95.3%   same\n",
    };
    for (size_t i = 0; i < ROWS(words); i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("no \"%s\" in\n%s", words[i], text);
        }
    }
    assert_fits(text);
    free(text);
    free(later);
    hp_process_state_free(before);
    hp_process_state_free(after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_null_is_not_known),
        cmocka_unit_test(test_what_is_no_state),
        cmocka_unit_test(test_cut_and_deep),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_extremes_fit),
        cmocka_unit_test(test_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
