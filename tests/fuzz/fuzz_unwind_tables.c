/*
 * A binary's unwind tables as anybody may have linked, packed or damaged them: the first 4 bytes are a program
 * counter's distance from the tables, the rest the tables, .eh_frame_hdr first. Whatever they say is "not
 * found" or rules that lie within them; nothing outside them is read, and their expressions read nothing but the
 * stack.
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heapprof/unwind/cfi.h"
#include "heapprof/unwind/expression.h"
#include "heapprof/unwind/loader_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PC_BYTES = 4, TABLE_AT = 12, ENTRY_BYTES = 8, ENTRIES_TRIED = 64, STACK_WORDS = 64 };

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

/* libc's, in this program: the stack reader's question whether a page can be read. None can but our stack. */
long syscall(long number, ...) {
    must(number == SYS_rt_sigprocmask);
    errno = EFAULT;
    return -1;
}

static void check_rule(const struct hp_loaded *binary, const struct hp_cfi_rule *rule) {
    static uintptr_t stack[STACK_WORDS]; /* zeroes, and so the addresses that are read from it */
    uintptr_t sp = (uintptr_t)stack;
    struct hp_registers registers = {.pc = binary->base, .sp = sp, .fp = sp + sizeof stack / 2, .base = sp};
    struct hp_stack_reader reader = {.low = sp, .bytes = sizeof stack};
    uintptr_t value = 0;
    if (rule->kind == HP_CFI_EXPRESSION || rule->kind == HP_CFI_VALUE) {
        uintptr_t at = (uintptr_t)rule->expression;
        must(at >= binary->map_start && at <= binary->map_end && rule->expression_bytes <= binary->map_end - at);
        (void)hp_expression_evaluate(rule->expression, rule->expression_bytes, &registers, NULL, &reader, &value);
        (void)hp_expression_evaluate(rule->expression, rule->expression_bytes, &registers, &sp, &reader, &value);
        must(reader.low == sp && reader.bytes == sizeof stack);
    }
}

static void look_up(const struct hp_loaded *binary, uintptr_t pc) {
    struct hp_cfi_row row;
    if (hp_cfi_find(binary, pc, &row)) {
        check_rule(binary, &row.cfa);
        check_rule(binary, &row.pc);
        check_rule(binary, &row.fp);
        check_rule(binary, &row.base);
        check_rule(binary, &row.sp);
    }
}

/* The functions that the tables themselves name: at the start, a little later, and at the last byte. */
static void look_up_named(const struct hp_loaded *binary, size_t bytes) {
    for (size_t i = 0; i < ENTRIES_TRIED && TABLE_AT + (i + 1) * ENTRY_BYTES <= bytes; i++) {
        int32_t start = 0;
        memcpy(&start, (const uint8_t *)binary->base + TABLE_AT + i * ENTRY_BYTES, sizeof start);
        uintptr_t pc = binary->base + (uintptr_t)(intptr_t)start;
        look_up(binary, pc);
        look_up(binary, pc + 5);
        look_up(binary, pc - 1);
    }
}

static void check_build_id(const struct hp_loaded *binary) {
    size_t bytes = 0;
    const uint8_t *id = hp_loader_view_build_id(binary, &bytes);
    must(id == NULL || ((uintptr_t)id >= binary->map_start && bytes <= binary->map_end - (uintptr_t)id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int32_t distance = 0;
    if (size <= PC_BYTES) {
        return 0;
    }
    size_t bytes = size - PC_BYTES;
    uint8_t *tables = malloc(bytes); /* of this size, so that a read beyond is seen */
    must(tables != NULL);
    memcpy(&distance, data, PC_BYTES);
    memcpy(tables, data + PC_BYTES, bytes);
    const ElfW(Phdr) headers[] = {
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = bytes, .p_memsz = bytes},
        {.p_type = PT_NOTE, .p_flags = PF_R, .p_filesz = bytes, .p_memsz = bytes, .p_align = 4},
    };
    struct hp_loaded binary = {.base = (uintptr_t)tables,
                               .name = "",
                               .headers = headers,
                               .header_count = sizeof headers / sizeof headers[0],
                               .map_start = (uintptr_t)tables,
                               .map_end = (uintptr_t)tables + bytes,
                               .eh_frame_header = (uintptr_t)tables};
    look_up(&binary, binary.base + (uintptr_t)(intptr_t)distance);
    look_up_named(&binary, bytes);
    check_build_id(&binary);
    free(tables);
    return 0;
}
