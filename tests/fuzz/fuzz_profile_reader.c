/*
 * Any bytes at all, through everything that `heapprof check` and `heapprof top` do with a profile
 * short of opening binaries. With clang this is a libFuzzer target; fuzz_main.c drives it elsewhere.
 */
#include <stdio.h>
#include <stdlib.h>

#include "profile_audit.h"
#include "profile_prune.h"
#include "profile_reader.h"
#include "profile_table.h"
#include "top_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere(void) {
    static FILE *stream;
    if (stream == NULL)
        stream = fopen("/dev/null", "w");
    if (stream == NULL)
        abort();
    return stream;
}

static void show(const struct hp_profile *profile, size_t type, bool by_line, size_t width) {
    struct hp_profile_table table = hp_profile_table_new(profile, type, by_line);
    hp_profile_table_sort(&table, by_line ? HP_TABLE_BY_CUM : HP_TABLE_BY_FLAT);
    const struct hp_top_report report = {
        .profile = profile, .table = &table, .type = type, .width = width, .by_line = by_line};
    hp_top_report_header(nowhere(), &report);
    hp_top_report_rows(nowhere(), &report);
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
    hp_profile_prune(profile);
    for (size_t type = 0; type < profile->n_sample_types; type++) {
        show(profile, type, false, 0);
        show(profile, type, true, 80);
    }
    hp_profile_free(profile);
    return 0;
}
