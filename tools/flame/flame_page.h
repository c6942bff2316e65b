/* The page of `heapprof flame`, as it was built into the command. */
#ifndef HP_TOOLS_FLAME_PAGE_H
#define HP_TOOLS_FLAME_PAGE_H

#include <stddef.h>

struct hp_flame_page {
    const char *head, *tail; /* the profile's JSON belongs between them; neither is terminated */
    size_t head_size, tail_size;
    const char *missing; /* NULL, or why there is no page: what could not be had when the command was built */
};

/* The result and its texts stay valid. */
const struct hp_flame_page *hp_flame_page_get(void);

#endif
