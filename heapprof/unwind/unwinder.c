#include "heapprof/unwind/unwinder.h"

#include <stddef.h>

#include "heapprof/unwind/cfi.h"
#include "heapprof/unwind/expression.h"
#include "heapprof/unwind/frame_cache.h"
#include "heapprof/unwind/loader_view.h"
#include "heapprof/unwind/machine.h"
#include "heapprof/unwind/stack_reader.h"

/* More frames than lie between here and the application. */
enum { OWN_FRAMES_MAX = 16, WORD = sizeof(uintptr_t) };

/* How a step from one frame to its caller ended. */
enum step { STEP_DONE, STEP_LAST, STEP_LOST };

struct walk {
    struct hp_registers frame;
    bool is_exact; /* frame.pc is an interrupted instruction, not a return address */
    struct hp_place place; /* the binary of the last frame looked at */
    uint64_t binaries;     /* all of them so far, mixed */
    struct hp_stack_reader stack;
};

bool hp_unwinder_init(void) {
    hp_stack_reader_init();
    return hp_frame_cache_init();
}

/* The address to look a frame up by: a call may be its function's last instruction. */
static uintptr_t lookup_pc(const struct walk *w) {
    return w->frame.pc - !w->is_exact;
}

/* The value of a rule's register. */
static bool register_of(const struct hp_registers *frame, uint32_t reg, uintptr_t *value) {
    switch (reg) {
    case HP_REGISTER_SP:
        *value = frame->sp;
        return true;
    case HP_REGISTER_FP:
        *value = frame->fp;
        return true;
    case HP_REGISTER_BASE:
        *value = frame->base;
        return true;
    default:
        return false;
    }
}

/* Applies a rule for a register whose present value is in *value. */
static bool apply(struct walk *w, const struct hp_cfi_rule *rule, uintptr_t cfa, uintptr_t *value) {
    uintptr_t address = cfa + (uintptr_t)rule->offset;
    switch (rule->kind) {
    case HP_CFI_SAME:
    case HP_CFI_UNDEFINED: /* the frame pointer of a caller that does not keep one */
        return true;
    case HP_CFI_AT_CFA:
        return hp_stack_reader_word(&w->stack, address, value);
    case HP_CFI_CFA_PLUS:
        *value = address;
        return true;
    case HP_CFI_REGISTER:
        return register_of(&w->frame, rule->reg, value);
    case HP_CFI_EXPRESSION:
        return hp_expression_evaluate(rule->expression, rule->expression_bytes, &w->frame, &cfa, &w->stack, &address) &&
               hp_stack_reader_word(&w->stack, address, value);
    case HP_CFI_VALUE:
        return hp_expression_evaluate(rule->expression, rule->expression_bytes, &w->frame, &cfa, &w->stack, value);
    }
    return false;
}

static bool find_cfa(struct walk *w, const struct hp_cfi_rule *rule, uintptr_t *cfa) {
    if (rule->kind == HP_CFI_VALUE) {
        return hp_expression_evaluate(rule->expression, rule->expression_bytes, &w->frame, NULL, &w->stack, cfa);
    }
    if (rule->kind != HP_CFI_REGISTER || !register_of(&w->frame, rule->reg, cfa)) {
        return false;
    }
    *cfa += (uintptr_t)rule->offset;
    return true;
}

/* One step by the tables' full rules. */
static enum step step_by_row(struct walk *w, const struct hp_cfi_row *row) {
    uintptr_t cfa = 0;
    if (row->pc.kind == HP_CFI_UNDEFINED) {
        return STEP_LAST;
    }
    if (row->pc.kind == HP_CFI_SAME || !find_cfa(w, &row->cfa, &cfa)) {
        return STEP_LOST;
    }
    struct hp_registers caller = w->frame;
    caller.sp = cfa;
    if (!apply(w, &row->pc, cfa, &caller.pc) || !apply(w, &row->fp, cfa, &caller.fp) ||
        !apply(w, &row->base, cfa, &caller.base) || !apply(w, &row->sp, cfa, &caller.sp)) {
        return STEP_LOST;
    }
    if (caller.sp <= w->frame.sp && !row->is_signal_frame) {
        return STEP_LOST; /* stacks grow down; only a signal handler's may lie elsewhere */
    }
    w->frame = caller;
    w->is_exact = row->is_signal_frame;
    return STEP_DONE;
}

/* How many words below the CFA a register is saved; 0 when it is unchanged (or a caller's that keeps none).
 * False when the cache can't hold its rule. */
static bool words_below_cfa(const struct hp_cfi_rule *rule, uint32_t *words) {
    *words = 0;
    if (rule->kind == HP_CFI_SAME || rule->kind == HP_CFI_UNDEFINED) {
        return true;
    }
    uint64_t bytes = 0 - (uint64_t)rule->offset;
    *words = (uint32_t)(bytes / WORD);
    return rule->kind == HP_CFI_AT_CFA && bytes > 0 && bytes % WORD == 0 && bytes / WORD <= HP_FRAME_SAVED_WORDS_MAX;
}

/* What the cache can hold of a row. */
static struct hp_frame_rule condense(const struct hp_cfi_row *row) {
    const struct hp_cfi_rule *cfa = &row->cfa;
    struct hp_frame_rule rule = {.kind = HP_FRAME_PLAIN, .cfa_from_fp = cfa->reg == HP_REGISTER_FP};
    uint32_t pc_words = 0;
    if (row->pc.kind == HP_CFI_UNDEFINED) {
        return (struct hp_frame_rule){.kind = HP_FRAME_LAST};
    }
    rule.cfa_words = (uint32_t)(cfa->offset / WORD);
    bool cfa_fits = cfa->kind == HP_CFI_REGISTER && (cfa->reg == HP_REGISTER_SP || cfa->reg == HP_REGISTER_FP) &&
                    cfa->offset >= 0 && cfa->offset % WORD == 0 && cfa->offset / WORD <= HP_FRAME_CFA_WORDS_MAX;
    bool saved_fit = words_below_cfa(&row->pc, &pc_words) && pc_words == 1 && words_below_cfa(&row->fp, &rule.fp_words) &&
                     words_below_cfa(&row->base, &rule.base_words);
    if (!cfa_fits || !saved_fit || row->sp.kind != HP_CFI_SAME || row->is_signal_frame) {
        return (struct hp_frame_rule){.kind = HP_FRAME_TABLES};
    }
    return rule;
}

/* No table covers the byte before a return address, but one begins at it: no call has pushed it. Who made this stack
 * has put it there for its first function to return to (makecontext()), so it is the end. */
static bool is_made_up(const struct walk *w, const struct hp_loaded *binary, uintptr_t pc, struct hp_cfi_row *row) {
    return !w->is_exact && hp_cfi_find(binary, pc + 1, row);
}

/* Learns the rule for `pc`, in the binary of w->place, from its tables. */
static __attribute__((noinline)) struct hp_frame_rule learn(const struct walk *w, uintptr_t pc) {
    struct hp_loaded binary;
    struct hp_cfi_row row;
    struct hp_frame_rule rule = {.kind = HP_FRAME_NONE};
    if (hp_loader_view_find(pc, &binary)) {
        if (hp_cfi_find(&binary, pc, &row)) {
            rule = condense(&row);
        } else if (is_made_up(w, &binary, pc, &row)) {
            rule.kind = HP_FRAME_LAST;
        }
    }
    hp_frame_cache_store(pc, w->place.tag, &rule);
    return rule;
}

static __attribute__((noinline)) enum step step_by_tables(struct walk *w, uintptr_t pc) {
    struct hp_loaded binary;
    struct hp_cfi_row row;
    bool found = hp_loader_view_find(pc, &binary) && hp_cfi_find(&binary, pc, &row);
    return found ? step_by_row(w, &row) : STEP_LOST;
}

/* Reads a register that is saved `words` below the CFA; 0: it is unchanged. */
static bool read_saved(struct walk *w, uintptr_t cfa, uint32_t words, uintptr_t *value) {
    return words == 0 || hp_stack_reader_word(&w->stack, cfa - words * (uintptr_t)WORD, value);
}

static enum step step_plain(struct walk *w, const struct hp_frame_rule *rule) {
    uintptr_t cfa = (rule->cfa_from_fp ? w->frame.fp : w->frame.sp) + rule->cfa_words * (uintptr_t)WORD;
    if (cfa <= w->frame.sp || !read_saved(w, cfa, 1, &w->frame.pc) ||
        !read_saved(w, cfa, rule->fp_words, &w->frame.fp) || !read_saved(w, cfa, rule->base_words, &w->frame.base)) {
        return STEP_LOST;
    }
    w->frame.sp = cfa;
    w->is_exact = false;
    return STEP_DONE;
}

/* Code without tables (hand-written, generated) may still keep a frame pointer: then the caller's is at it, and
 * the return address above. A guess counts only when it leads into a binary. */
static enum step step_by_frame_pointer(struct walk *w) {
    uintptr_t fp = w->frame.fp;
    uintptr_t caller_fp = 0;
    uintptr_t pc = 0;
    struct hp_place place;
    if (fp < w->frame.sp || !hp_stack_reader_word(&w->stack, fp, &caller_fp) ||
        !hp_stack_reader_word(&w->stack, fp + sizeof fp, &pc) || !hp_loader_view_place(pc - 1, &place)) {
        return STEP_LOST;
    }
    w->frame.pc = pc;
    w->frame.sp = fp + 2 * sizeof fp;
    w->frame.fp = caller_fp;
    w->is_exact = false;
    return STEP_DONE;
}

/* A binary's code without tables. A frame pointer of 0 marks the outermost frame (System V ABI, x86-64, 3.4.1; the
 * AArch64 procedure call standard says the same): so does the loader's, below which constructors run. */
static enum step step_without_tables(struct walk *w) {
    return w->frame.fp == 0 ? STEP_LAST : step_by_frame_pointer(w);
}

/* Sees that w->place is the one around `pc`. False when there is none. */
static bool enter_place(struct walk *w, uintptr_t pc) {
    if (pc - w->place.start < w->place.end - w->place.start) {
        return true;
    }
    if (!hp_loader_view_place(pc, &w->place)) {
        w->place = (struct hp_place){0};
        return false;
    }
    w->binaries = (w->binaries ^ w->place.tag) * UINT64_C(0x9fb21c651e98df25);
    return true;
}

static enum step step(struct walk *w) {
    uintptr_t pc = lookup_pc(w);
    if (!enter_place(w, pc)) {
        return step_by_frame_pointer(w);
    }
    struct hp_frame_rule rule = hp_frame_cache_find(pc, w->place.tag);
    if (rule.kind == HP_FRAME_UNKNOWN) {
        rule = learn(w, pc);
    }
    switch (rule.kind) {
    case HP_FRAME_PLAIN:
        return step_plain(w, &rule);
    case HP_FRAME_TABLES:
        return step_by_tables(w, pc);
    case HP_FRAME_LAST:
        return STEP_LAST;
    case HP_FRAME_NONE:
    case HP_FRAME_UNKNOWN:
        break;
    }
    return step_without_tables(w);
}

/* Walks out of our own frames to the one that returns to `caller`. */
static bool leave_own_frames(struct walk *w, const void *caller) {
    for (int i = 0; i < OWN_FRAMES_MAX; i++) {
        if (step(w) != STEP_DONE) {
            return false;
        }
        if (w->frame.pc == (uintptr_t)caller) {
            return true;
        }
    }
    return false;
}

/* From the application's frame outward; w->frame is it. Returns the depth. */
static uint32_t walk_out(struct walk *w, uintptr_t *pcs, uint32_t max, bool *truncated) {
    uint32_t depth = 0;
    while (depth < max && w->frame.pc > 1) {
        pcs[depth++] = lookup_pc(w);
        enum step ended = step(w);
        if (ended != STEP_DONE) {
            *truncated = ended != STEP_LAST;
            return depth;
        }
    }
    *truncated = w->frame.pc > 1; /* a return address of 0 marks the end, too */
    return depth;
}

__attribute__((noinline)) uint32_t hp_unwinder_take(uintptr_t *pcs, uint32_t max, const void *caller,
                                                    struct hp_unwound *end) {
    struct walk w = {.is_exact = true};
    hp_machine_registers(&w.frame);
    hp_stack_reader_begin(&w.stack, w.frame.sp);
    uint32_t depth = 1;
    if (leave_own_frames(&w, caller)) {
        depth = walk_out(&w, pcs, max, &end->truncated);
    } else {
        pcs[0] = (uintptr_t)caller - 1;
        end->truncated = true;
    }
    end->binaries = w.binaries;
    return depth;
}
