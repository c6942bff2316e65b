#include "tools/symbols/symbolizer.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/key_table.h"
#include "tools/base/memory.h"
#include "tools/base/pool.h"
#include "tools/symbols/resolver.h"

enum { MOST_FRAMES = 128 }; /* functions inlined into one another at one address */

struct work {
    struct hp_profile *profile;
    const struct hp_symbolizer_options *options;
    const struct hp_symbolizer_listener *listener;
    struct hp_key_table *keys;            /* of functions, by readable name and file */
    const struct hp_function **functions; /* by the key's place; NULL: the pool was full */
    size_t function_capacity;
};

static bool is_open_question(const struct hp_location *location, bool again) {
    return location->n_lines == 0 && location->mapping != NULL &&
           (again || !location->mapping->has_functions);
}

static bool starts_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Some mappings have a name, but no file that could be opened for it: [vdso], //anon, /memfd:x, … */
static bool names_a_file(const char *name) {
    const char *slash = strrchr(name, '/');
    const char *base = slash != NULL ? slash + 1 : name;
    return *base != '\0' && *base != '[' && !starts_with(base, "linux-vdso") &&
           !starts_with(name, "//anon") && !starts_with(name, "/memfd:") && !starts_with(name, "/dev/");
}

static const struct hp_function *make_function(struct work *work, size_t place, const char *name,
                                               const struct hp_dwarf_frame *frame, const char *file) {
    struct hp_pool *pool = work->profile->pool;
    struct hp_function *function = hp_pool_alloc(pool, sizeof *function);
    const char *own_name = hp_pool_strdup(pool, name), *own_file = hp_pool_strdup(pool, file);
    const char *system_name = hp_pool_strdup(pool, hp_resolver_system_name(frame));
    if (function == NULL || own_name == NULL || own_file == NULL || system_name == NULL) {
        /* The key keeps its place, so it needs strings that stay. */
        hp_key_table_rebind(work->keys, place, "", "");
        return NULL;
    }
    *function = (struct hp_function){own_name, system_name, own_file, frame->start_line};
    hp_key_table_rebind(work->keys, place, own_name, own_file);
    return function;
}

static const struct hp_function *intern_function(struct work *work, const struct hp_dwarf_frame *frame) {
    char *name = hp_resolver_readable_name(frame), *file = hp_resolver_file(frame);
    size_t known = hp_key_table_count(work->keys);
    size_t place = hp_key_table_place(work->keys, (struct hp_key){name, file, 0});
    if (place == known) {
        work->functions =
            hp_memory_grow(work->functions, place, &work->function_capacity, sizeof *work->functions);
        work->functions[place] = make_function(work, place, name, frame, file);
    }
    free(name);
    free(file);
    return work->functions[place];
}

static void set_lines(struct work *work, struct hp_location *location, const struct hp_dwarf_frame *frames,
                      size_t count) {
    struct hp_line *lines = hp_pool_calloc(work->profile->pool, count, sizeof *lines);
    if (lines == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        lines[i] = (struct hp_line){intern_function(work, &frames[i]), frames[i].line, frames[i].column};
        if (lines[i].function == NULL)
            return;
    }
    location->lines = lines;
    location->n_lines = count;
}

static void say(const struct work *work, const struct hp_mapping *mapping, enum hp_symbolizer_lack lack,
                const char *text) {
    const struct hp_symbolizer_listener *listener = work->listener;
    if (listener != NULL && listener->note != NULL && text != NULL)
        listener->note(listener->context, mapping->filename, text);
    if (listener != NULL && listener->lack != NULL)
        listener->lack(listener->context, mapping, lack);
}

/* Locations of one binary, however many mappings it has: it is opened once. */
struct question {
    size_t binary;
    struct hp_location *location;
};

static void say_what_lacks(const struct work *work, const struct hp_mapping *mapping, size_t resolved,
                           const struct hp_resolver *resolver) {
    if (resolved == 0)
        say(work, mapping, HP_LACK_SYMBOLS, "has no symbols: its functions are shown as offsets");
    else if (hp_resolver_lacks_split(resolver) && hp_resolver_has_package(resolver))
        say(work, mapping, HP_LACK_SPLIT,
            "its split debug info is in a .dwp file, which is not read: inlined functions are not shown");
    else if (hp_resolver_lacks_split(resolver))
        say(work, mapping, HP_LACK_SPLIT,
            "its split debug info (.dwo files) is missing: inlined functions are not shown");
    else if (!hp_resolver_has_debug_info(resolver))
        say(work, mapping, HP_LACK_LINES, NULL);
}

static void resolve_locations(struct work *work, const struct question *questions, size_t count,
                              struct hp_resolver *resolver) {
    struct hp_dwarf_frame frames[MOST_FRAMES];
    size_t resolved = 0;
    for (size_t i = 0; i < count; i++) {
        struct hp_location *location = questions[i].location;
        uint64_t offset = location->address - location->mapping->start + location->mapping->offset;
        size_t n_frames = hp_resolver_frames(resolver, offset, frames, MOST_FRAMES);
        resolved += n_frames > 0;
        if (n_frames > 0)
            set_lines(work, location, frames, n_frames);
    }
    say_what_lacks(work, questions[0].location->mapping, resolved, resolver);
}

static void resolve_binary(struct work *work, const struct question *questions, size_t count) {
    const struct hp_mapping *mapping = questions[0].location->mapping;
    struct hp_error error = {""};
    struct hp_resolver *resolver = hp_resolver_open(mapping, &work->options->places, &error);
    if (resolver == NULL) {
        char *text = hp_memory_format("%s: its functions are shown as offsets", error.text);
        say(work, mapping, HP_LACK_BINARY, text);
        free(text);
        return;
    }
    resolve_locations(work, questions, count, resolver);
    hp_resolver_close(resolver);
}

static int compare_questions(const void *left, const void *right) {
    const struct question *a = left, *b = right;
    if (a->binary != b->binary)
        return a->binary < b->binary ? -1 : 1;
    return (a->location > b->location) - (a->location < b->location);
}

/* What there is to resolve, binary by binary. The caller frees it. */
static struct question *gather_questions(struct hp_profile *profile, bool again, size_t *count,
                                         size_t *n_binaries) {
    struct question *questions = hp_memory_new(profile->n_locations, sizeof *questions);
    struct hp_key_table *binaries = hp_key_table_new();
    *count = 0;
    for (size_t i = 0; i < profile->n_locations; i++) {
        struct hp_location *location = &profile->locations[i];
        if (!is_open_question(location, again) || !names_a_file(location->mapping->filename))
            continue;
        struct hp_key key = {location->mapping->filename, location->mapping->build_id, 0};
        questions[(*count)++] = (struct question){hp_key_table_place(binaries, key), location};
    }
    *n_binaries = hp_key_table_count(binaries);
    hp_key_table_free(binaries);
    qsort(questions, *count, sizeof *questions, compare_questions);
    return questions;
}

static size_t count_unresolved(const struct hp_profile *profile) {
    size_t unresolved = 0;
    for (size_t i = 0; i < profile->n_locations; i++)
        unresolved += profile->locations[i].n_lines == 0;
    return unresolved;
}

/* What a mapping's locations were given is what it says it has. */
static void mark_mappings(struct hp_profile *profile) {
    for (size_t i = 0; i < profile->n_locations; i++) {
        const struct hp_location *location = &profile->locations[i];
        if (location->mapping == NULL || location->n_lines == 0)
            continue;
        struct hp_mapping *mapping = &profile->mappings[location->mapping - profile->mappings];
        mapping->has_functions = true;
        mapping->has_inline_frames |= location->n_lines > 1;
        for (size_t at = 0; at < location->n_lines; at++) {
            mapping->has_filenames |= location->lines[at].function->filename[0] != '\0';
            mapping->has_line_numbers |= location->lines[at].line != 0;
        }
    }
}

size_t hp_symbolizer_run_with(struct hp_profile *profile, const struct hp_symbolizer_options *options,
                              const struct hp_symbolizer_listener *listener) {
    struct work work = {
        .profile = profile, .options = options, .listener = listener, .keys = hp_key_table_new()};
    size_t count = 0, n_binaries = 0;
    struct question *questions = gather_questions(profile, options->again, &count, &n_binaries);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && questions[next].binary == questions[first].binary;)
            next++;
        if (listener != NULL && listener->progress != NULL)
            listener->progress(listener->context, questions[first].location->mapping->filename,
                               questions[first].binary, n_binaries);
        resolve_binary(&work, &questions[first], next - first);
    }
    free(questions);
    hp_key_table_free(work.keys);
    free(work.functions);
    mark_mappings(profile);
    return count_unresolved(profile);
}

size_t hp_symbolizer_run(struct hp_profile *profile, const struct hp_symbolizer_listener *listener) {
    static const struct hp_symbolizer_options usual;
    return hp_symbolizer_run_with(profile, &usual, listener);
}
