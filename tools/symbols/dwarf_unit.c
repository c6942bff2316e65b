#include "tools/symbols/dwarf_unit.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/pool.h"

enum {
    DEEPEST = 256,     /* nesting of DIEs: beyond any compiler's, within any stack */
    MOST_ORIGINS = 16, /* links from an instance to its declaration; damaged debug info may go in circles */
};

/* A namespace or type, by which its members are named. */
struct scope {
    const struct scope *parent; /* NULL: the unit */
    const char *name;
};

/* Code [low, high) of a function; one with several ranges has several. */
struct code {
    Dwarf_Addr low, high;
    Dwarf_Die die;
};

/* Where a function's DIE stands, also one without code: inlined calls refer to those. */
struct place {
    Dwarf_Off offset;
    const struct scope *scope;
};

struct hp_dwarf_unit {
    Dwarf_Die die;   /* has the lines */
    Dwarf_Die split; /* has the functions; the same as die unless they are in a .dwo */
    bool lacks_split;
    struct code *code;    /* by low */
    struct place *places; /* by offset */
    size_t n_code, n_places, code_capacity, place_capacity;
    Dwarf_Files *files;
    size_t n_files;
    const char *directory; /* where the compiler ran */
    struct hp_pool *pool;  /* scopes and names */
};

static bool is_scope(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type || tag == DW_TAG_module ||
           tag == DW_TAG_interface_type;
}

static bool is_block(int tag) {
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static bool has_functions_inside(int tag) {
    return is_scope(tag) || is_block(tag) || tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static void note_code(struct hp_dwarf_unit *unit, Dwarf_Die *die) {
    Dwarf_Addr base = 0, low = 0, high = 0;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &low, &high)) > 0;) {
        if (low >= high)
            continue;
        unit->code = hp_memory_grow(unit->code, unit->n_code, &unit->code_capacity, sizeof *unit->code);
        unit->code[unit->n_code++] = (struct code){low, high, *die};
    }
}

static void note_place(struct hp_dwarf_unit *unit, Dwarf_Die *die, const struct scope *scope) {
    unit->places = hp_memory_grow(unit->places, unit->n_places, &unit->place_capacity, sizeof *unit->places);
    unit->places[unit->n_places++] = (struct place){dwarf_dieoffset(die), scope};
}

static const struct scope *enter_scope(struct hp_dwarf_unit *unit, Dwarf_Die *die,
                                       const struct scope *parent) {
    struct scope *scope = hp_pool_alloc(unit->pool, sizeof *scope);
    if (scope == NULL)
        return parent;
    const char *name = dwarf_diename(die);
    if (name == NULL)
        name = dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
    *scope = (struct scope){parent, name};
    return scope;
}

static void walk(struct hp_dwarf_unit *unit, Dwarf_Die *parent, const struct scope *scope, int depth) {
    Dwarf_Die die;
    if (depth > DEEPEST || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram) {
            note_place(unit, &die, scope);
            note_code(unit, &die);
        }
        if (has_functions_inside(tag) && dwarf_haschildren(&die) > 0)
            walk(unit, &die, is_scope(tag) ? enter_scope(unit, &die, scope) : scope, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int compare_code(const void *left, const void *right) {
    const struct code *a = left, *b = right;
    /* Of two that start together the smaller one, which lies inside the other, comes last. */
    return a->low != b->low ? (a->low > b->low) - (a->low < b->low)
                            : (a->high < b->high) - (a->high > b->high);
}

static int compare_places(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static const char *string_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

static void open_split(struct hp_dwarf_unit *unit, bool may) {
    uint8_t type = 0;
    Dwarf_Die split = {0};
    unit->split = unit->die;
    if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, may ? &split : NULL, NULL, NULL, NULL) != 0)
        return;
    if (split.addr != NULL)
        unit->split = split;
    else
        unit->lacks_split = type == DW_UT_skeleton;
}

struct hp_dwarf_unit *hp_dwarf_unit_new(const Dwarf_Die *die, bool opens_split) {
    struct hp_dwarf_unit *unit = hp_memory_new(1, sizeof *unit);
    unit->die = *die;
    unit->pool = hp_pool_new(SIZE_MAX);
    open_split(unit, opens_split);
    if (dwarf_getsrcfiles(&unit->split, &unit->files, &unit->n_files) != 0)
        unit->n_files = 0;
    unit->directory = string_of(&unit->die, DW_AT_comp_dir);
    if (unit->pool != NULL)
        walk(unit, &unit->split, NULL, 0);
    if (unit->n_code > 0)
        qsort(unit->code, unit->n_code, sizeof *unit->code, compare_code);
    if (unit->n_places > 0)
        qsort(unit->places, unit->n_places, sizeof *unit->places, compare_places);
    return unit;
}

bool hp_dwarf_unit_lacks_split(const struct hp_dwarf_unit *unit) {
    return unit->lacks_split;
}

/* The last function that starts at or before the address and reaches it. */
static const struct code *find_code(const struct hp_dwarf_unit *unit, Dwarf_Addr address) {
    size_t low = 0, high = unit->n_code;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (unit->code[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Folded or nested functions may overlap: a few steps back, not the whole table. */
    for (size_t steps = 0; low > 0 && steps < 16; steps++)
        if (unit->code[--low].high > address)
            return &unit->code[low];
    return NULL;
}

static bool has_code(Dwarf_Die *die) {
    return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* The call inlined directly into `parent`, through its blocks, that the address lies in. */
static bool find_inlined(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *found, int depth) {
    Dwarf_Die die;
    if (depth > DEEPEST || dwarf_child(parent, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&die, address) > 0) {
            *found = die;
            return true;
        }
        if (is_block(tag) && (!has_code(&die) || dwarf_haspc(&die, address) > 0) &&
            find_inlined(&die, address, found, depth + 1))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

static const struct scope *scope_of(const struct hp_dwarf_unit *unit, Dwarf_Die *die) {
    const struct place key = {.offset = dwarf_dieoffset(die)};
    /* Link-time optimisation refers to other units; then the bare name has to do. */
    if (die->cu != unit->split.cu || unit->n_places == 0)
        return NULL;
    const struct place *place = bsearch(&key, unit->places, unit->n_places, sizeof key, compare_places);
    return place != NULL ? place->scope : NULL;
}

static const char *join_scopes(struct hp_dwarf_unit *unit, const struct scope *scope, const char *name) {
    size_t size = strlen(name) + 1;
    for (const struct scope *outer = scope; outer != NULL; outer = outer->parent)
        size += strlen(outer->name) + 2;
    char *joined = scope != NULL ? hp_pool_alloc(unit->pool, size) : NULL;
    if (joined == NULL)
        return name;
    char *at = joined + size - strlen(name) - 1;
    memcpy(at, name, strlen(name) + 1);
    for (; scope != NULL; scope = scope->parent) {
        size_t length = strlen(scope->name);
        at -= length + 2;
        memcpy(at, scope->name, length);
        memcpy(at + length, "::", 2);
    }
    return joined;
}

static int number_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > INT32_MAX)
        return 0;
    return (int)value;
}

/* From an instance to what it is one of, or from a definition to its declaration. */
static bool follow_origin(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (dwarf_attr(die, DW_AT_abstract_origin, &attribute) == NULL &&
        dwarf_attr(die, DW_AT_specification, &attribute) == NULL)
        return false;
    if (dwarf_formref_die(&attribute, &origin) == NULL)
        return false;
    *die = origin;
    return true;
}

/* Names are spread over the chain of origins: each attribute is taken where it is first seen. */
static void name_function(struct hp_dwarf_unit *unit, const Dwarf_Die *function,
                          struct hp_dwarf_frame *frame) {
    Dwarf_Die die = *function;
    for (int i = 0; i < MOST_ORIGINS; i++) {
        if (frame->linkage_name == NULL)
            frame->linkage_name = string_of(&die, DW_AT_linkage_name);
        if (frame->linkage_name == NULL)
            frame->linkage_name = string_of(&die, DW_AT_MIPS_linkage_name);
        if (frame->name == NULL)
            frame->name = string_of(&die, DW_AT_name);
        if (frame->start_line == 0)
            frame->start_line = number_of(&die, DW_AT_decl_line);
        if (!follow_origin(&die))
            break;
    }
    if (frame->name != NULL)
        frame->scoped_name = join_scopes(unit, scope_of(unit, &die), frame->name);
}

/* Where the call that was inlined stands: the line of the function around it. */
static void locate_call(const struct hp_dwarf_unit *unit, Dwarf_Die *call, struct hp_dwarf_frame *frame) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    frame->line = number_of(call, DW_AT_call_line);
    frame->column = number_of(call, DW_AT_call_column);
    if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &file) == 0 && file < unit->n_files)
        frame->file = dwarf_filesrc(unit->files, file, NULL, NULL);
    frame->directory = unit->directory;
}

size_t hp_dwarf_unit_frames(struct hp_dwarf_unit *unit, Dwarf_Addr address, struct hp_dwarf_frame *frames,
                            size_t room) {
    const struct code *code = find_code(unit, address);
    if (code == NULL || room == 0)
        return 0;
    /* Outermost first, as the tree goes; turned around at the end. */
    Dwarf_Die die = code->die, inlined;
    size_t count = 0;
    frames[count] = (struct hp_dwarf_frame){0};
    name_function(unit, &die, &frames[count++]);
    while (count < room && find_inlined(&die, address, &inlined, 0)) {
        locate_call(unit, &inlined, &frames[count - 1]);
        frames[count] = (struct hp_dwarf_frame){0};
        name_function(unit, &inlined, &frames[count++]);
        die = inlined;
    }
    hp_dwarf_unit_line(unit, address, &frames[count - 1]);
    for (size_t i = 0; i < count / 2; i++) {
        struct hp_dwarf_frame swapped = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = swapped;
    }
    return count;
}

void hp_dwarf_unit_line(struct hp_dwarf_unit *unit, Dwarf_Addr address, struct hp_dwarf_frame *frame) {
    Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
    if (line == NULL)
        return;
    frame->file = dwarf_linesrc(line, NULL, NULL);
    frame->directory = unit->directory;
    dwarf_lineno(line, &frame->line);
    dwarf_linecol(line, &frame->column);
}

void hp_dwarf_unit_free(struct hp_dwarf_unit *unit) {
    if (unit == NULL)
        return;
    free(unit->code);
    free(unit->places);
    hp_pool_free(unit->pool);
    free(unit);
}
