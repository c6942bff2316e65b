#include "heapprof/unwind/cfi.h"

#include <string.h>

#include "heapprof/unwind/byte_reader.h"
#include "heapprof/unwind/machine.h"

/* Pointer encodings (LSB, "DWARF Exception Header Encoding"): a format and what it is relative to. */
enum {
    ENC_FORMAT = 0x0f,
    ENC_ABSOLUTE = 0x00,
    ENC_UDATA2 = 0x02,
    ENC_UDATA4 = 0x03,
    ENC_UDATA8 = 0x04,
    ENC_SDATA2 = 0x0a,
    ENC_SDATA4 = 0x0b,
    ENC_SDATA8 = 0x0c,
    ENC_RELATIVE = 0x70,
    ENC_PC_RELATIVE = 0x10,
    ENC_DATA_RELATIVE = 0x30,
    ENC_INDIRECT = 0x80,
    ENC_OMIT = 0xff,
};

/* Call frame instructions (DWARF 5, 7.24, and GNU's). The first three carry an operand in their low bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

enum { STATES_MAX = 8 };

/* What a CIE says of its functions. */
struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool is_signal_frame;
    struct hp_bytes instructions;
};

/* One function's table entry. */
struct fde {
    struct cie cie;
    uintptr_t start;
    uintptr_t end;
    struct hp_bytes instructions;
};

/* The interpreter of call frame instructions. */
struct machine {
    const struct fde *fde;
    uintptr_t location; /* the row's place in the code, as far as it was built */
    struct hp_cfi_row row;
    struct hp_cfi_row initial; /* as the CIE left it */
    struct hp_cfi_row states[STATES_MAX];
    unsigned depth;
    bool failed;
};

/* The mapped segment with the binary's unwind tables: all that is read. */
struct tables {
    uintptr_t start;
    uintptr_t end;
};

static struct hp_bytes bytes_from(const struct tables *tables, uintptr_t at) {
    bool inside = at >= tables->start && at < tables->end;
    return (struct hp_bytes){.at = (const uint8_t *)(inside ? at : tables->end),
                             .end = (const uint8_t *)tables->end,
                             .overrun = !inside};
}

/* Reads an encoded pointer; `data` is what data-relative ones are relative to. Indirect ones (a personality
 * routine's) are only ever skipped. */
static uintptr_t read_pointer(struct hp_bytes *b, uint8_t encoding, uintptr_t data) {
    uintptr_t here = (uintptr_t)b->at;
    uintptr_t value = 0;
    switch (encoding & ENC_FORMAT) {
    case ENC_ABSOLUTE:
    case ENC_UDATA8:
    case ENC_SDATA8:
        value = hp_bytes_fixed(b, 8);
        break;
    case ENC_UDATA4:
        value = hp_bytes_fixed(b, 4);
        break;
    case ENC_SDATA4:
        value = (uintptr_t)hp_bytes_fixed_signed(b, 4);
        break;
    case ENC_UDATA2:
        value = hp_bytes_fixed(b, 2);
        break;
    case ENC_SDATA2:
        value = (uintptr_t)hp_bytes_fixed_signed(b, 2);
        break;
    default:
        b->overrun = true;
    }
    switch (encoding & ENC_RELATIVE) {
    case ENC_ABSOLUTE:
        return value;
    case ENC_PC_RELATIVE:
        return here + value;
    case ENC_DATA_RELATIVE:
        return data + value;
    default:
        b->overrun = true;
        return 0;
    }
}

/* Narrows `b` to one entry of .eh_frame, whose length stands first. */
static bool enter_entry(struct hp_bytes *b) {
    uint64_t length = hp_bytes_fixed(b, 4);
    if (length == UINT32_MAX) {
        length = hp_bytes_fixed(b, 8);
    }
    if (length == 0 || length > hp_bytes_left(b)) {
        return false;
    }
    b->end = b->at + length;
    return true;
}

/* The augmentation's letters, each with its data ("zR", "zPLR", "zRS"). */
static bool read_augmentation(struct hp_bytes *b, const char *letters, struct cie *cie) {
    if (letters[0] == '\0') {
        return true;
    }
    if (letters[0] != 'z') {
        return false;
    }
    cie->has_augmentation_data = true;
    uint64_t bytes = hp_bytes_uleb(b);
    const uint8_t *end = b->at + (bytes <= hp_bytes_left(b) ? bytes : 0);
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        switch (*letter) {
        case 'R':
            cie->pointer_encoding = (uint8_t)hp_bytes_fixed(b, 1);
            break;
        case 'P': {
            uint8_t encoding = (uint8_t)hp_bytes_fixed(b, 1);
            (void)read_pointer(b, encoding & (uint8_t)~ENC_INDIRECT, 0);
            break;
        }
        case 'L':
            hp_bytes_skip(b, 1);
            break;
        case 'S':
            cie->is_signal_frame = true;
            break;
        default:
            break; /* 'B' of other machines; its data is skipped below */
        }
    }
    b->at = end;
    return !b->overrun;
}

static bool read_cie(struct hp_bytes b, struct cie *cie) {
    if (!enter_entry(&b) || hp_bytes_fixed(&b, 4) != 0) {
        return false;
    }
    uint64_t version = hp_bytes_fixed(&b, 1);
    const char *letters = (const char *)b.at;
    const uint8_t *zero = memchr(b.at, 0, hp_bytes_left(&b));
    if (zero == NULL || (version != 1 && version != 3)) {
        return false;
    }
    b.at = zero + 1;
    cie->code_align = hp_bytes_uleb(&b);
    cie->data_align = hp_bytes_sleb(&b);
    uint64_t return_register = version == 1 ? hp_bytes_fixed(&b, 1) : hp_bytes_uleb(&b);
    if (return_register != HP_REGISTER_PC || !read_augmentation(&b, letters, cie)) {
        return false;
    }
    cie->instructions = b;
    return !b.overrun;
}

static bool read_fde(const struct tables *tables, uintptr_t at, struct fde *fde) {
    struct hp_bytes b = bytes_from(tables, at);
    if (!enter_entry(&b)) {
        return false;
    }
    uintptr_t here = (uintptr_t)b.at;
    uint64_t back = hp_bytes_fixed(&b, 4);
    *fde = (struct fde){0};
    if (back == 0 || !read_cie(bytes_from(tables, here - back), &fde->cie)) {
        return false;
    }
    fde->start = read_pointer(&b, fde->cie.pointer_encoding, 0);
    fde->end = fde->start + read_pointer(&b, fde->cie.pointer_encoding & ENC_FORMAT, 0);
    if (fde->cie.has_augmentation_data) {
        uint64_t bytes = hp_bytes_uleb(&b);
        hp_bytes_skip(&b, bytes);
    }
    fde->instructions = b;
    return !b.overrun;
}

/* .eh_frame_hdr's table: pairs of 4-byte offsets from its own start, of a function and of its FDE, sorted.
 * The address of the last FDE that starts at or before `pc`; 0 when there is no such table. */
static uintptr_t search_table(const struct tables *tables, uintptr_t header, uintptr_t pc) {
    struct hp_bytes b = bytes_from(tables, header);
    uint64_t version = hp_bytes_fixed(&b, 1);
    uint8_t frame_encoding = (uint8_t)hp_bytes_fixed(&b, 1);
    uint8_t count_encoding = (uint8_t)hp_bytes_fixed(&b, 1);
    uint64_t table_encoding = hp_bytes_fixed(&b, 1);
    if (b.overrun || version != 1 || count_encoding == ENC_OMIT || table_encoding != (ENC_DATA_RELATIVE | ENC_SDATA4)) {
        return 0;
    }
    (void)read_pointer(&b, frame_encoding, header);
    uint64_t count = read_pointer(&b, count_encoding, header);
    if (b.overrun || count == 0 || count > hp_bytes_left(&b) / 8) {
        return 0;
    }
    const uint8_t *table = b.at;
    int64_t wanted = (int64_t)(pc - header);
    uint64_t low = 0;
    uint64_t high = count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        int32_t start = 0;
        memcpy(&start, table + 8 * middle, sizeof start);
        *(start <= wanted ? &low : &high) = middle;
    }
    int32_t offset = 0;
    memcpy(&offset, table + 8 * low + 4, sizeof offset);
    return header + (uintptr_t)(intptr_t)offset;
}

/* The rule of a register that we follow; NULL for the others, whose rules are read and dropped. */
static struct hp_cfi_rule *rule_of(struct hp_cfi_row *row, uint64_t reg) {
    switch (reg) {
    case HP_REGISTER_FP:
        return &row->fp;
    case HP_REGISTER_BASE:
        return &row->base;
    case HP_REGISTER_SP:
        return &row->sp;
    case HP_REGISTER_PC:
        return &row->pc;
    default:
        return NULL;
    }
}

static void set(struct machine *m, uint64_t reg, struct hp_cfi_rule rule) {
    struct hp_cfi_rule *target = rule_of(&m->row, reg);
    if (target != NULL) {
        *target = rule;
    }
}

/* In units of the CIE's; wraps around, as corrupt tables may have it. */
static int64_t scaled(const struct machine *m, int64_t factored) {
    return (int64_t)((uint64_t)factored * (uint64_t)m->fde->cie.data_align);
}

static void set_offset(struct machine *m, uint64_t reg, enum hp_cfi_kind kind, int64_t factored) {
    set(m, reg, (struct hp_cfi_rule){.kind = kind, .offset = scaled(m, factored)});
}

static void restore(struct machine *m, uint64_t reg) {
    struct hp_cfi_rule *initial = rule_of(&m->initial, reg);
    if (initial != NULL) {
        *rule_of(&m->row, reg) = *initial;
    }
}

static struct hp_cfi_rule read_expression(struct hp_bytes *b, enum hp_cfi_kind kind) {
    uint64_t bytes = hp_bytes_uleb(b);
    struct hp_cfi_rule rule = {.kind = kind, .expression = b->at, .expression_bytes = bytes};
    hp_bytes_skip(b, bytes);
    return rule;
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t offset) {
    m->row.cfa = (struct hp_cfi_rule){.kind = HP_CFI_REGISTER, .reg = (uint32_t)reg, .offset = offset};
}

static void remember(struct machine *m) {
    if (m->depth == STATES_MAX) {
        m->failed = true;
        return;
    }
    m->states[m->depth++] = m->row;
}

static void recall(struct machine *m) {
    if (m->depth == 0) {
        m->failed = true;
        return;
    }
    m->row = m->states[--m->depth];
}

/* The instructions that move the location. False when `op` is none of them. */
static bool run_advance(struct machine *m, struct hp_bytes *b, uint8_t op) {
    uint64_t align = m->fde->cie.code_align;
    switch (op) {
    case CFA_SET_LOC:
        m->location = read_pointer(b, m->fde->cie.pointer_encoding, 0);
        return true;
    case CFA_ADVANCE_LOC1:
        m->location += hp_bytes_fixed(b, 1) * align;
        return true;
    case CFA_ADVANCE_LOC2:
        m->location += hp_bytes_fixed(b, 2) * align;
        return true;
    case CFA_ADVANCE_LOC4:
        m->location += hp_bytes_fixed(b, 4) * align;
        return true;
    default:
        return false;
    }
}

/* The instructions that set the CFA's rule. False when `op` is none of them. */
static bool run_define_cfa(struct machine *m, struct hp_bytes *b, uint8_t op) {
    switch (op) {
    case CFA_DEF_CFA: {
        uint64_t reg = hp_bytes_uleb(b);
        define_cfa(m, reg, (int64_t)hp_bytes_uleb(b));
        return true;
    }
    case CFA_DEF_CFA_SF: {
        uint64_t reg = hp_bytes_uleb(b);
        define_cfa(m, reg, scaled(m, hp_bytes_sleb(b)));
        return true;
    }
    case CFA_DEF_CFA_REGISTER:
        define_cfa(m, hp_bytes_uleb(b), m->row.cfa.offset);
        return true;
    case CFA_DEF_CFA_OFFSET:
        m->row.cfa.offset = (int64_t)hp_bytes_uleb(b);
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        m->row.cfa.offset = scaled(m, hp_bytes_sleb(b));
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        m->row.cfa = read_expression(b, HP_CFI_VALUE);
        return true;
    default:
        return false;
    }
}

/* The instructions that set a register's rule, whose number is their first operand. */
static void run_register(struct machine *m, struct hp_bytes *b, uint8_t op) {
    uint64_t reg = hp_bytes_uleb(b);
    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_offset(m, reg, HP_CFI_AT_CFA, (int64_t)hp_bytes_uleb(b));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_offset(m, reg, HP_CFI_AT_CFA, hp_bytes_sleb(b));
        break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_offset(m, reg, HP_CFI_AT_CFA, (int64_t)(0 - hp_bytes_uleb(b)));
        break;
    case CFA_VAL_OFFSET:
        set_offset(m, reg, HP_CFI_CFA_PLUS, (int64_t)hp_bytes_uleb(b));
        break;
    case CFA_VAL_OFFSET_SF:
        set_offset(m, reg, HP_CFI_CFA_PLUS, hp_bytes_sleb(b));
        break;
    case CFA_RESTORE_EXTENDED:
        restore(m, reg);
        break;
    case CFA_UNDEFINED:
        set(m, reg, (struct hp_cfi_rule){.kind = HP_CFI_UNDEFINED});
        break;
    case CFA_SAME_VALUE:
        set(m, reg, (struct hp_cfi_rule){.kind = HP_CFI_SAME});
        break;
    case CFA_REGISTER:
        set(m, reg, (struct hp_cfi_rule){.kind = HP_CFI_REGISTER, .reg = (uint32_t)hp_bytes_uleb(b)});
        break;
    case CFA_EXPRESSION:
        set(m, reg, read_expression(b, HP_CFI_EXPRESSION));
        break;
    case CFA_VAL_EXPRESSION:
        set(m, reg, read_expression(b, HP_CFI_VALUE));
        break;
    default:
        m->failed = true; /* unknown, so its operands' length is, too */
    }
}

static void run_instruction(struct machine *m, struct hp_bytes *b) {
    uint8_t op = (uint8_t)hp_bytes_fixed(b, 1);
    uint8_t operand = op & 0x3f;
    switch (op & 0xc0) {
    case CFA_ADVANCE_LOC:
        m->location += operand * m->fde->cie.code_align;
        return;
    case CFA_OFFSET:
        set_offset(m, operand, HP_CFI_AT_CFA, (int64_t)hp_bytes_uleb(b));
        return;
    case CFA_RESTORE:
        restore(m, operand);
        return;
    default:
        break;
    }
    switch (op) {
    case CFA_NOP:
        return;
    case CFA_REMEMBER_STATE:
        remember(m);
        return;
    case CFA_RESTORE_STATE:
        recall(m);
        return;
    case CFA_GNU_ARGS_SIZE:
        (void)hp_bytes_uleb(b);
        return;
    default:
        break;
    }
    if (!run_advance(m, b, op) && !run_define_cfa(m, b, op)) {
        run_register(m, b, op);
    }
}

/* Runs instructions until the row for `pc` is complete: until the location has moved past it. */
static void run(struct machine *m, struct hp_bytes b, uintptr_t pc) {
    while (hp_bytes_left(&b) > 0 && !m->failed) {
        struct hp_cfi_row row = m->row;
        run_instruction(m, &b);
        if (m->location > pc) {
            m->row = row;
            return;
        }
    }
    m->failed = m->failed || b.overrun;
}

bool hp_cfi_find(const struct hp_loaded *binary, uintptr_t pc, struct hp_cfi_row *row) {
    struct tables tables;
    uintptr_t header = binary->eh_frame_header;
    if (!hp_loader_view_bounds(binary, header, &tables.start, &tables.end)) {
        return false;
    }
    uintptr_t at = search_table(&tables, header, pc);
    struct fde fde;
    /* .eh_frame need not be in its header's segment: it is writable where one of its parts was. */
    if (at == 0 || !hp_loader_view_bounds(binary, at, &tables.start, &tables.end) || !read_fde(&tables, at, &fde) ||
        pc < fde.start || pc >= fde.end) {
        return false;
    }
    struct machine m = {.fde = &fde, .location = fde.start};
    m.row.pc.kind = HP_CFI_SAME;
    run(&m, fde.cie.instructions, UINTPTR_MAX);
    m.initial = m.row;
    run(&m, fde.instructions, pc);
    m.row.is_signal_frame = fde.cie.is_signal_frame;
    *row = m.row;
    return !m.failed;
}
