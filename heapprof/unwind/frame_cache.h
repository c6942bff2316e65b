/*
 * The frame cache: program counter -> how to find the caller. One table for all threads, of fixed size, read
 * and written without locks; what it has not, the unwinder learns anew from the unwind tables.
 *
 * An entry is two words. The second is the rule; the first is the program counter mixed with the rule, so a
 * torn entry, half of one and half of another, answers to neither's program counter (R. Hyatt's trick for
 * shared transposition tables in chess).
 *
 * An entry also carries the tag of the binary it was learned from (loader_view.h): after dlclose another
 * binary may have the same addresses, and then the entry does not answer.
 */
#ifndef HP_UNWIND_FRAME_CACHE_H
#define HP_UNWIND_FRAME_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/base/rng.h"

/* What kinds of frames there are, by what it takes to leave them. */
enum hp_frame_kind {
    HP_FRAME_UNKNOWN, /* not in the cache */
    HP_FRAME_PLAIN,   /* CFA = sp or fp + an offset, return address below it: nearly all */
    HP_FRAME_TABLES,  /* something rarer: ask the tables each time */
    HP_FRAME_LAST,    /* the outermost frame of a thread */
    HP_FRAME_NONE,    /* no table covers it */
};

/* The rule of one program counter. */
struct hp_frame_rule {
    enum hp_frame_kind kind;
    bool cfa_from_fp;
    uint32_t cfa_words;  /* the CFA, from sp or fp; at most HP_FRAME_CFA_WORDS_MAX */
    uint32_t fp_words;   /* the caller's frame pointer, below the CFA; 0: unchanged. At most HP_FRAME_SAVED_WORDS_MAX. */
    uint32_t base_words; /* likewise the caller's base register */
};

enum { HP_FRAME_CFA_WORDS_MAX = (1 << 20) - 1, HP_FRAME_SAVED_WORDS_MAX = (1 << 12) - 1 };

enum { HP_FRAME_CACHE_ENTRIES = 1 << 13 };

struct hp_frame_cache_entry {
    _Atomic uint64_t key;
    _Atomic uint64_t rule;
};

extern struct hp_frame_cache_entry *hp_frame_cache;

/* Maps the cache: 128 KiB of address space. False when there is none. */
bool hp_frame_cache_init(void);

static inline struct hp_frame_cache_entry *hp_frame_cache_slot(uintptr_t pc) {
    return &hp_frame_cache[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 51];
}

static inline uint64_t hp_frame_cache_key(uintptr_t pc, uint64_t rule) {
    return pc ^ rule * UINT64_C(0xd6e8feb86659fd93);
}

/* Looks `pc` up, in a binary of this tag. kind is HP_FRAME_UNKNOWN when it is not there. */
static inline struct hp_frame_rule hp_frame_cache_find(uintptr_t pc, uint16_t tag) {
    struct hp_frame_cache_entry *entry = hp_frame_cache_slot(pc);
    uint64_t rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
    uint64_t key = atomic_load_explicit(&entry->key, memory_order_relaxed);
    if (key != hp_frame_cache_key(pc, rule) || (uint16_t)rule != tag) {
        return (struct hp_frame_rule){.kind = HP_FRAME_UNKNOWN};
    }
    return (struct hp_frame_rule){
        .kind = (enum hp_frame_kind)(rule >> 16 & 7),
        .cfa_from_fp = (rule >> 19 & 1) != 0,
        .fp_words = (uint32_t)(rule >> 20) & HP_FRAME_SAVED_WORDS_MAX,
        .base_words = (uint32_t)(rule >> 32) & HP_FRAME_SAVED_WORDS_MAX,
        .cfa_words = (uint32_t)(rule >> 44),
    };
}

/* Remembers the rule of `pc` in a binary of this tag. */
void hp_frame_cache_store(uintptr_t pc, uint16_t tag, const struct hp_frame_rule *rule);

#endif
