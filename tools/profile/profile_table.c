#include "tools/profile/profile_table.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/key_table.h"
#include "tools/profile/location_name.h"
#include "tools/base/memory.h"
#include "tools/base/pool.h"

/* A table being built: rows numbered by key_table; `seen` keeps a recursive function's cum single. */
struct rows {
    struct hp_key_table *keys;
    struct hp_table_row *rows;
    size_t *seen; /* by row: the last sample counted, from 1 */
    size_t row_capacity, seen_capacity;
};

struct building {
    const struct hp_profile *profile;
    size_t type;
    struct rows lines, functions;
    size_t *function_of; /* by row of `lines` */
    size_t function_of_capacity;
    size_t *first_frame; /* by location: its first in `frames`; one more at the end */
    size_t *frames;      /* rows of `lines`, innermost first */
    size_t n_frames, frame_capacity;
    struct hp_pool *pool;
};

static size_t row_for(struct rows *rows, const char *name, const char *file, int64_t line) {
    size_t known = hp_key_table_count(rows->keys);
    size_t place = hp_key_table_place(rows->keys, (struct hp_key){name, file, line});
    if (place < known)
        return place;
    rows->rows = hp_memory_grow(rows->rows, place, &rows->row_capacity, sizeof *rows->rows);
    rows->seen = hp_memory_grow(rows->seen, place, &rows->seen_capacity, sizeof *rows->seen);
    rows->rows[place] = (struct hp_table_row){.name = name, .file = file, .line = line};
    rows->seen[place] = 0;
    return place;
}

static void add_frame(struct building *building, const char *name, const char *file, int64_t line) {
    size_t known = hp_key_table_count(building->lines.keys);
    size_t place = row_for(&building->lines, name, file, line);
    if (place == known) {
        building->function_of =
            hp_memory_grow(building->function_of, place, &building->function_of_capacity, sizeof(size_t));
        building->function_of[place] = row_for(&building->functions, name, file, 0);
    }
    building->frames =
        hp_memory_grow(building->frames, building->n_frames, &building->frame_capacity, sizeof(size_t));
    building->frames[building->n_frames++] = place;
}

static const char *unresolved_name(struct building *building, const struct hp_location *location) {
    char *text = hp_location_name(location);
    const char *name = hp_pool_strdup(building->pool, text);
    free(text);
    return name != NULL ? name : "";
}

static void add_location(struct building *building, const struct hp_location *location) {
    if (location->n_lines == 0)
        add_frame(building, unresolved_name(building, location), "", 0);
    for (size_t i = 0; i < location->n_lines; i++) {
        const struct hp_line *line = &location->lines[i];
        add_frame(building, line->function->name, line->function->filename, line->line);
    }
}

static void count_row(struct rows *rows, size_t place, size_t sample, int64_t value, bool is_leaf) {
    struct hp_table_row *row = &rows->rows[place];
    if (is_leaf)
        row->flat = hp_profile_add(row->flat, value);
    if (rows->seen[place] != sample + 1) {
        rows->seen[place] = sample + 1;
        row->cum = hp_profile_add(row->cum, value);
    }
}

static void count_sample(struct building *building, size_t number) {
    const struct hp_sample *sample = &building->profile->samples[number];
    int64_t value = sample->values[building->type];
    bool is_leaf = true;
    if (value == 0)
        return;
    for (size_t i = 0; i < sample->n_locations; i++) {
        size_t location = (size_t)(sample->locations[i] - building->profile->locations);
        for (size_t at = building->first_frame[location]; at < building->first_frame[location + 1]; at++) {
            size_t place = building->frames[at];
            count_row(&building->lines, place, number, value, is_leaf);
            count_row(&building->functions, building->function_of[place], number, value, is_leaf);
            is_leaf = false;
        }
    }
}

static int64_t magnitude(int64_t value) {
    return value >= 0 ? value : value == INT64_MIN ? INT64_MAX : -value;
}

static int compare_magnitudes(int64_t a, int64_t b) {
    return (magnitude(a) < magnitude(b)) - (magnitude(a) > magnitude(b));
}

static int compare_names(const struct hp_table_row *a, const struct hp_table_row *b) {
    int names = strcmp(a->name, b->name);
    int files = names != 0 ? names : strcmp(a->file, b->file);
    return files != 0 ? files : (a->line > b->line) - (a->line < b->line);
}

static int by_flat(const void *left, const void *right) {
    const struct hp_table_row *a = left, *b = right;
    int order = compare_magnitudes(a->flat, b->flat);
    order = order != 0 ? order : compare_magnitudes(a->cum, b->cum);
    return order != 0 ? order : compare_names(a, b);
}

static int by_cum(const void *left, const void *right) {
    const struct hp_table_row *a = left, *b = right;
    int order = compare_magnitudes(a->cum, b->cum);
    order = order != 0 ? order : compare_magnitudes(a->flat, b->flat);
    return order != 0 ? order : compare_names(a, b);
}

/* A function is shown with the line where most of it hangs. */
static void choose_lines(struct building *building) {
    size_t n_lines = hp_key_table_count(building->lines.keys);
    struct hp_table_row *heaviest =
        hp_memory_new(hp_key_table_count(building->functions.keys), sizeof *heaviest);
    for (size_t i = 0; i < n_lines; i++) {
        const struct hp_table_row *line = &building->lines.rows[i];
        struct hp_table_row *best = &heaviest[building->function_of[i]];
        if (best->name == NULL || by_flat(line, best) < 0)
            *best = *line;
        building->functions.rows[building->function_of[i]].line = best->line;
    }
    free(heaviest);
}

static void keep_filled_rows(struct hp_profile_table *table) {
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].flat != 0 || table->rows[i].cum != 0)
            table->rows[kept++] = table->rows[i];
    table->count = kept;
}

static void add_all(struct building *building) {
    const struct hp_profile *profile = building->profile;
    for (size_t i = 0; i < profile->n_locations; i++) {
        building->first_frame[i] = building->n_frames;
        add_location(building, &profile->locations[i]);
    }
    building->first_frame[profile->n_locations] = building->n_frames;
    for (size_t i = 0; i < profile->n_samples; i++)
        count_sample(building, i);
    choose_lines(building);
}

static void free_rows(struct rows *rows) {
    hp_key_table_free(rows->keys);
    free(rows->rows);
    free(rows->seen);
}

struct hp_profile_table hp_profile_table_new(const struct hp_profile *profile, size_t type, bool by_line) {
    struct building building = {.profile = profile,
                                .type = type,
                                .lines = {.keys = hp_key_table_new()},
                                .functions = {.keys = hp_key_table_new()},
                                .first_frame = hp_memory_new(profile->n_locations + 1, sizeof(size_t)),
                                .pool = hp_pool_new(SIZE_MAX)};
    add_all(&building);
    struct rows *wanted = by_line ? &building.lines : &building.functions;
    struct hp_profile_table table = {.rows = wanted->rows,
                                     .count = hp_key_table_count(wanted->keys),
                                     .total = hp_profile_total(profile, type),
                                     .pool = building.pool};
    wanted->rows = NULL;
    keep_filled_rows(&table);
    free_rows(&building.lines);
    free_rows(&building.functions);
    free(building.function_of);
    free(building.first_frame);
    free(building.frames);
    return table;
}

void hp_profile_table_sort(struct hp_profile_table *table, enum hp_table_order order) {
    if (table->count > 0)
        qsort(table->rows, table->count, sizeof *table->rows, order == HP_TABLE_BY_FLAT ? by_flat : by_cum);
}

void hp_profile_table_free(struct hp_profile_table *table) {
    free(table->rows);
    hp_pool_free(table->pool);
    *table = (struct hp_profile_table){0};
}
