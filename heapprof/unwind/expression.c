#include "heapprof/unwind/expression.h"

#include "heapprof/unwind/byte_reader.h"

/* Operations (DWARF 5, 7.7.1). */
enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_SWAP = 0x16,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_NOP = 0x96,
};

enum { STACK_MAX = 16, STEPS_MAX = 128 };

struct evaluation {
    struct hp_bytes code;
    const struct hp_registers *registers;
    struct hp_stack_reader *reader;
    uintptr_t stack[STACK_MAX];
    unsigned depth;
    bool failed;
};

static void push(struct evaluation *e, uintptr_t value) {
    if (e->depth == STACK_MAX) {
        e->failed = true;
        return;
    }
    e->stack[e->depth++] = value;
}

static uintptr_t pop(struct evaluation *e) {
    if (e->depth == 0) {
        e->failed = true;
        return 0;
    }
    return e->stack[--e->depth];
}

static uintptr_t register_value(struct evaluation *e, uint64_t reg) {
    switch (reg) {
    case HP_REGISTER_FP:
        return e->registers->fp;
    case HP_REGISTER_BASE:
        return e->registers->base;
    case HP_REGISTER_SP:
        return e->registers->sp;
    case HP_REGISTER_PC:
        return e->registers->pc;
    default:
        e->failed = true;
        return 0;
    }
}

/* Operations that push a constant. False when `op` is none of them. */
static bool run_constant(struct evaluation *e, uint8_t op) {
    if (op >= OP_LIT0 && op <= OP_LIT31) {
        push(e, (uintptr_t)(op - OP_LIT0));
    } else if (op >= OP_CONST1U && op <= OP_CONST8S) {
        size_t bytes = (size_t)1 << ((op - OP_CONST1U) / 2);
        bool is_signed = (op - OP_CONST1U) % 2 != 0;
        push(e, is_signed ? (uintptr_t)hp_bytes_fixed_signed(&e->code, bytes) : hp_bytes_fixed(&e->code, bytes));
    } else if (op == OP_CONSTU) {
        push(e, hp_bytes_uleb(&e->code));
    } else if (op == OP_CONSTS) {
        push(e, (uintptr_t)hp_bytes_sleb(&e->code));
    } else {
        return false;
    }
    return true;
}

/* Operations on registers, memory and the stack's top. False when `op` is none of them. */
static bool run_unary(struct evaluation *e, uint8_t op) {
    uintptr_t top = 0;
    if (op >= OP_BREG0 && op <= OP_BREG31) {
        push(e, register_value(e, op - OP_BREG0) + (uintptr_t)hp_bytes_sleb(&e->code));
        return true;
    }
    switch (op) {
    case OP_BREGX:
        top = register_value(e, hp_bytes_uleb(&e->code));
        push(e, top + (uintptr_t)hp_bytes_sleb(&e->code));
        return true;
    case OP_DEREF:
        e->failed = !hp_stack_reader_word(e->reader, pop(e), &top) || e->failed;
        push(e, top);
        return true;
    case OP_DUP:
        top = pop(e);
        push(e, top);
        push(e, top);
        return true;
    case OP_DROP:
        (void)pop(e);
        return true;
    case OP_NEG:
        push(e, 0 - pop(e));
        return true;
    case OP_NOT:
        push(e, ~pop(e));
        return true;
    case OP_PLUS_UCONST:
        push(e, pop(e) + hp_bytes_uleb(&e->code));
        return true;
    case OP_NOP:
        return true;
    default:
        return false;
    }
}

static uintptr_t combine(struct evaluation *e, uint8_t op, uintptr_t a, uintptr_t b) {
    switch (op) {
    case OP_AND:
        return a & b;
    case OP_OR:
        return a | b;
    case OP_XOR:
        return a ^ b;
    case OP_PLUS:
        return a + b;
    case OP_MINUS:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_SHL:
        return b < 64 ? a << b : 0;
    case OP_SHR:
        return b < 64 ? a >> b : 0;
    case OP_SHRA:
        return (uintptr_t)((intptr_t)a >> (b < 64 ? b : 63));
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_GE:
        return (intptr_t)a >= (intptr_t)b;
    case OP_GT:
        return (intptr_t)a > (intptr_t)b;
    case OP_LE:
        return (intptr_t)a <= (intptr_t)b;
    case OP_LT:
        return (intptr_t)a < (intptr_t)b;
    default:
        e->failed = true;
        return 0;
    }
}

static void run_binary(struct evaluation *e, uint8_t op) {
    uintptr_t b = pop(e);
    uintptr_t a = pop(e);
    switch (op) {
    case OP_SWAP:
        push(e, b);
        push(e, a);
        break;
    case OP_OVER:
        push(e, a);
        push(e, b);
        push(e, a);
        break;
    default:
        push(e, combine(e, op, a, b));
    }
}

bool hp_expression_evaluate(const uint8_t *code, size_t bytes, const struct hp_registers *registers,
                            const uintptr_t *initial, struct hp_stack_reader *reader, uintptr_t *value) {
    struct evaluation e = {
        .code = {.at = code, .end = code + bytes}, .registers = registers, .reader = reader};
    if (initial != NULL) {
        push(&e, *initial);
    }
    for (int step = 0; hp_bytes_left(&e.code) > 0 && !e.failed; step++) {
        uint8_t op = (uint8_t)hp_bytes_fixed(&e.code, 1);
        e.failed = step == STEPS_MAX;
        if (!run_constant(&e, op) && !run_unary(&e, op)) {
            run_binary(&e, op);
        }
    }
    *value = pop(&e);
    return !e.failed && !e.code.overrun;
}
