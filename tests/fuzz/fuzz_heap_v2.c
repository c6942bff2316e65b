/* Any text at all as a heap dump of jemalloc, through what `heapprof convert` makes of it. */
#include <stdlib.h>

#include "tools/profile/heap_v2.h"
#include "tools/profile/profile_audit.h"
#include "tools/profile/profile_merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hp_error error = {""};
    struct hp_audit audit;
    struct hp_profile *dump = hp_heap_v2_parse(data, size, &error);
    if ((dump == NULL) != (error.text[0] != '\0'))
        abort(); /* a refusal has a reason, and nothing else has one */
    if (dump == NULL)
        return 0;
    struct hp_profile_merge *merge = hp_profile_merge_new();
    if (!hp_profile_merge_add(merge, dump, HP_MERGE_ADD, &error))
        abort();
    struct hp_profile *profile = hp_profile_merge_finish(merge, &error);
    hp_profile_merge_free(merge);
    hp_profile_free(dump);
    /* Without code there is no main binary to name; all else that is written must be sound. */
    if (profile == NULL || !hp_profile_audit(profile, &audit, &error))
        abort();
    hp_profile_free(profile);
    return 0;
}
