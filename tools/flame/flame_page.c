#include "tools/flame/flame_page.h"

/* tools/flame/make_page.cmake wrote these files. */
__asm__(".section .rodata\n"
        "hp_flame_page_head: .incbin \"" HP_FLAME_PAGE "/page.head\"\n"
        "hp_flame_page_head_end: .byte 0\n"
        "hp_flame_page_tail: .incbin \"" HP_FLAME_PAGE "/page.tail\"\n"
        "hp_flame_page_tail_end: .byte 0\n"
        "hp_flame_page_missing: .incbin \"" HP_FLAME_PAGE "/page.missing\"\n"
        "hp_flame_page_missing_end: .byte 0\n"
        ".previous\n");

extern const char hp_flame_page_head[], hp_flame_page_head_end[], hp_flame_page_tail[],
    hp_flame_page_tail_end[], hp_flame_page_missing[];

const struct hp_flame_page *hp_flame_page_get(void) {
    static struct hp_flame_page page;
    page = (struct hp_flame_page){.head = hp_flame_page_head,
                                  .tail = hp_flame_page_tail,
                                  .head_size = (size_t)(hp_flame_page_head_end - hp_flame_page_head),
                                  .tail_size = (size_t)(hp_flame_page_tail_end - hp_flame_page_tail),
                                  .missing = hp_flame_page_missing[0] != '\0' ? hp_flame_page_missing : NULL};
    return &page;
}
