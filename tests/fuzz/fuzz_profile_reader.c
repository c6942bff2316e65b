/*
 * Any bytes at all, through everything that `heapprof check`, `top`, `merge` and `diff` do with a profile
 * short of opening binaries. With clang this is a libFuzzer target; fuzz_main.c drives it elsewhere.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tools/profile/profile_audit.h"
#include "tools/profile/profile_filter.h"
#include "tools/profile/profile_merge.h"
#include "tools/profile/profile_prune.h"
#include "tools/profile/profile_reader.h"
#include "tools/profile/profile_table.h"
#include "tools/report/top_json.h"
#include "tools/report/top_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere(void) {
    static FILE *stream;
    if (stream == NULL)
        stream = fopen("/dev/null", "w");
    if (stream == NULL)
        abort();
    return stream;
}

static void must(bool holds) {
    if (!holds)
        abort();
}

/* Sums of such values may be held at the ends of the range, from where nothing leads back. */
static bool has_large_values(const struct hp_profile *profile) {
    for (size_t i = 0; i < profile->n_samples; i++)
        for (size_t type = 0; type < profile->n_sample_types; type++)
            if (profile->samples[i].values[type] >> 40 != 0 && profile->samples[i].values[type] >> 40 != -1)
                return true;
    return false;
}

/* What was added and taken off again leaves nothing, and what was added twice is no more stacks. */
static void merge(const struct hp_profile *profile) {
    static const enum hp_merge_sign signs[] = {HP_MERGE_ADD, HP_MERGE_SUBTRACT};
    for (size_t i = 0; i < 2; i++) {
        struct hp_error error = {""};
        struct hp_profile_merge *merging = hp_profile_merge_new();
        must(hp_profile_merge_add(merging, profile, HP_MERGE_ADD, &error));
        must(hp_profile_merge_add(merging, profile, signs[i], &error));
        struct hp_profile *result = hp_profile_merge_finish(merging, &error);
        must(result != NULL && result->n_samples <= profile->n_samples);
        must(signs[i] == HP_MERGE_ADD || result->n_samples == 0 || has_large_values(profile));
        hp_profile_merge_free(merging);
        hp_profile_free(result);
    }
}

static void filter(struct hp_profile *profile) {
    static struct hp_frame_pattern *focus, *ignore;
    struct hp_error error;
    if (focus == NULL) {
        focus = hp_frame_pattern_new("a.*|^m", &error);
        ignore = hp_frame_pattern_new("(x|lib)+[0-9]", &error);
    }
    hp_profile_filter(profile, focus, ignore);
}

static void show(const struct hp_profile *profile, size_t type, bool by_line, size_t width) {
    struct hp_profile_table table = hp_profile_table_new(profile, type, by_line);
    hp_profile_table_sort(&table, by_line ? HP_TABLE_BY_CUM : HP_TABLE_BY_FLAT);
    const struct hp_top_report report = {
        .profile = profile, .table = &table, .type = type, .width = width, .by_line = by_line};
    hp_top_report_header(nowhere(), &report);
    hp_top_report_rows(nowhere(), &report);
    if (width == 0)
        hp_top_json(nowhere(), &report);
    hp_profile_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct hp_input_limits limits = {
        .max_bytes = 1 << 22, .free_bytes = 1 << 16, .max_ratio = 64};
    struct hp_error error = {""};
    struct hp_audit audit;
    struct hp_profile *profile = hp_profile_parse(data, size, &limits, &error);
    if ((profile == NULL) != (error.text[0] != '\0'))
        abort(); /* a refusal has a reason, and nothing else has one */
    if (profile == NULL)
        return 0;
    hp_profile_audit(profile, &audit, &error);
    merge(profile);
    hp_profile_prune(profile);
    for (size_t type = 0; type < profile->n_sample_types; type++) {
        show(profile, type, false, 0);
        show(profile, type, true, 80);
    }
    filter(profile);
    show(profile, 0, false, 0);
    hp_profile_free(profile);
    return 0;
}
