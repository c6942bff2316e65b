#include "tools/symbols/dwarf_index.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdlib.h>

#include "tools/base/memory.h"

struct entry {
    Dwarf_Die die;
    struct hp_dwarf_unit *unit; /* NULL until asked for */
};

struct range {
    Dwarf_Addr low, high;
    Dwarf_Addr highest; /* of this and all ranges before: where a search backwards may stop */
    size_t entry;
};

struct hp_dwarf_index {
    struct entry *entries;
    struct range *ranges; /* by low */
    size_t n_entries, n_ranges, entry_capacity, range_capacity;
    Dwarf_Addr bias;
    bool opens_split, lacks_split;
};

static void add_ranges(struct hp_dwarf_index *index, Dwarf_Die *die, size_t entry) {
    Dwarf_Addr base = 0, low = 0, high = 0;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &low, &high)) > 0;) {
        if (low >= high)
            continue;
        index->ranges =
            hp_memory_grow(index->ranges, index->n_ranges, &index->range_capacity, sizeof *index->ranges);
        index->ranges[index->n_ranges++] = (struct range){.low = low, .high = high, .entry = entry};
    }
}

static void add_unit(struct hp_dwarf_index *index, Dwarf_Die *die) {
    size_t before = index->n_ranges;
    add_ranges(index, die, index->n_entries);
    if (index->n_ranges == before)
        return; /* types, or code that the linker dropped */
    index->entries =
        hp_memory_grow(index->entries, index->n_entries, &index->entry_capacity, sizeof *index->entries);
    index->entries[index->n_entries++] = (struct entry){.die = *die};
}

static int compare_ranges(const void *left, const void *right) {
    const struct range *a = left, *b = right;
    return a->low != b->low ? (a->low > b->low) - (a->low < b->low)
                            : (a->entry > b->entry) - (a->entry < b->entry);
}

struct hp_dwarf_index *hp_dwarf_index_new(Dwfl_Module *module, bool opens_split) {
    struct hp_dwarf_index *index = hp_memory_new(1, sizeof *index);
    index->opens_split = opens_split;
    for (Dwarf_Die *die = NULL; (die = dwfl_module_nextcu(module, die, &index->bias)) != NULL;)
        add_unit(index, die);
    if (index->n_ranges == 0)
        return index;
    qsort(index->ranges, index->n_ranges, sizeof *index->ranges, compare_ranges);
    Dwarf_Addr highest = 0;
    for (size_t i = 0; i < index->n_ranges; i++) {
        if (index->ranges[i].high > highest)
            highest = index->ranges[i].high;
        index->ranges[i].highest = highest;
    }
    return index;
}

static struct hp_dwarf_unit *unit_of(struct hp_dwarf_index *index, size_t place) {
    struct entry *entry = &index->entries[place];
    if (entry->unit == NULL) {
        entry->unit = hp_dwarf_unit_new(&entry->die, index->opens_split);
        index->lacks_split |= hp_dwarf_unit_lacks_split(entry->unit);
    }
    return entry->unit;
}

struct hp_dwarf_unit *hp_dwarf_index_unit(struct hp_dwarf_index *index, Dwarf_Addr address, Dwarf_Addr *own) {
    size_t low = 0, high = index->n_ranges;
    *own = address - index->bias;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->ranges[middle].low <= *own)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && index->ranges[low - 1].highest > *own; low--)
        if (index->ranges[low - 1].high > *own)
            return unit_of(index, index->ranges[low - 1].entry);
    return NULL;
}

bool hp_dwarf_index_is_empty(const struct hp_dwarf_index *index) {
    return index->n_ranges == 0;
}

bool hp_dwarf_index_lacks_split(const struct hp_dwarf_index *index) {
    return index->lacks_split;
}

void hp_dwarf_index_free(struct hp_dwarf_index *index) {
    if (index == NULL)
        return;
    for (size_t i = 0; i < index->n_entries; i++)
        hp_dwarf_unit_free(index->entries[i].unit);
    free(index->entries);
    free(index->ranges);
    free(index);
}
