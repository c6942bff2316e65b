/*
 * A profile summed up by function or by source line: flat is what a function holds itself, cum what it
 * and all that it called hold. The numbers are those of `pprof -top -filefunctions` (or -lines).
 */
#ifndef HP_TOOLS_PROFILE_TABLE_H
#define HP_TOOLS_PROFILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/profile/profile.h"

struct hp_table_row {
    const char *name; /* the function's, or "binary+0xoffset" */
    const char *file; /* "" when unknown */
    int64_t line;     /* by function: the one of its lines that weighs most; 0: unknown */
    int64_t flat, cum;
};

enum hp_table_order { HP_TABLE_BY_FLAT, HP_TABLE_BY_CUM };

struct hp_profile_table {
    struct hp_table_row *rows;
    size_t count;
    int64_t total;        /* hp_profile_total: what percentages refer to */
    struct hp_pool *pool; /* names that the profile does not have */
};

/*
 * Sums up the values of this sample type, a row for each function, or for each of its lines when
 * `by_line`. Rows with nothing in them are left out. The strings belong to the profile and the table.
 * The caller ends it with hp_profile_table_free, before the profile.
 */
struct hp_profile_table hp_profile_table_new(const struct hp_profile *profile, size_t type, bool by_line);

/* Largest first, whatever the sign; equal ones by the other column, then by name. */
void hp_profile_table_sort(struct hp_profile_table *table, enum hp_table_order order);

void hp_profile_table_free(struct hp_profile_table *table);

#endif
