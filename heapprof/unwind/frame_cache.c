#include "heapprof/unwind/frame_cache.h"

#include "heapprof/base/arena.h"

struct hp_frame_cache_entry *hp_frame_cache;

_Static_assert(HP_FRAME_CACHE_ENTRIES == 1 << (64 - 51), "hp_frame_cache_slot() takes the hash's top bits");

bool hp_frame_cache_init(void) {
    hp_frame_cache = hp_pages_map(HP_FRAME_CACHE_ENTRIES * sizeof *hp_frame_cache);
    return hp_frame_cache != NULL;
}

/* Bits of a rule: 0-15 the tag, 16-18 the kind, 19 the CFA's register, 20-31 fp, 32-43 base, 44-63 the CFA. */
void hp_frame_cache_store(uintptr_t pc, uint16_t tag, const struct hp_frame_rule *rule) {
    uint64_t packed = (uint64_t)tag | (uint64_t)rule->kind << 16 | (uint64_t)rule->cfa_from_fp << 19 |
                      (uint64_t)rule->fp_words << 20 | (uint64_t)rule->base_words << 32 | (uint64_t)rule->cfa_words << 44;
    struct hp_frame_cache_entry *entry = hp_frame_cache_slot(pc);
    atomic_store_explicit(&entry->rule, packed, memory_order_relaxed);
    atomic_store_explicit(&entry->key, hp_frame_cache_key(pc, packed), memory_order_relaxed);
}
