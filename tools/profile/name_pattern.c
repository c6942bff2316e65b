#include "tools/profile/name_pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

/*
 * Thompson's construction: the pattern becomes a graph of states, and all states that a name can have
 * reached are kept at once. No step goes back, so no pattern is slow.
 */
enum { LONGEST = 4096, DEEPEST = 64, NONE = -1 };

enum kind { KIND_SET, KIND_SPLIT, KIND_START, KIND_END, KIND_MATCH };

struct state {
    enum kind kind;
    int next, other; /* other: of a split */
    uint8_t set[32]; /* of a set: a bit for each byte it takes */
};

struct hp_name_pattern {
    struct state *states;
    size_t count, capacity;
    int start;
    /* While matching: the states reached, and the last step in which each was. */
    int *now, *then, *stack;
    uint64_t *reached;
    uint64_t step;
};

/* A piece of graph: its first state, and the state whose `next` is still open. */
struct piece {
    int first, last;
};

struct parser {
    struct hp_name_pattern *pattern;
    const char *at;
    int depth;
    bool failed;
};

static struct piece parse_alternatives(struct parser *parser);

static int add_state(struct hp_name_pattern *pattern, enum kind kind, int next, int other) {
    pattern->states =
        hp_memory_grow(pattern->states, pattern->count, &pattern->capacity, sizeof *pattern->states);
    pattern->states[pattern->count] = (struct state){.kind = kind, .next = next, .other = other};
    return (int)pattern->count++;
}

static struct piece single(struct parser *parser, enum kind kind) {
    int state = add_state(parser->pattern, kind, NONE, NONE);
    return (struct piece){state, state};
}

/* A state that takes nothing and leads on: what an empty group is. */
static struct piece nothing(struct parser *parser) {
    return single(parser, KIND_SPLIT);
}

static struct piece fail(struct parser *parser) {
    parser->failed = true;
    return nothing(parser);
}

static void set_add(uint8_t *set, unsigned from, unsigned to) {
    for (unsigned byte = from; byte <= to; byte++)
        set[byte / 8] = (uint8_t)(set[byte / 8] | 1U << byte % 8);
}

/* \d \w \s or an escaped punctuation character; false when it is neither. */
static bool set_add_escape(uint8_t *set, unsigned char letter) {
    if (letter == 'd') {
        set_add(set, '0', '9');
    } else if (letter == 'w') {
        set_add(set, '0', '9');
        set_add(set, 'a', 'z');
        set_add(set, 'A', 'Z');
        set_add(set, '_', '_');
    } else if (letter == 's') {
        set_add(set, '\t', '\r');
        set_add(set, ' ', ' ');
    } else if (letter > ' ' && letter < 0x7f && strchr("\\.+*?()|[]{}^$-/:<>~&,=!#@%\"'; ", letter) != NULL) {
        set_add(set, letter, letter);
    } else {
        return false;
    }
    return true;
}

static struct piece parse_set(struct parser *parser) {
    struct piece piece = single(parser, KIND_SET);
    uint8_t set[32] = {0};
    bool negated = *parser->at == '^';
    parser->at += negated;
    for (bool first = true; *parser->at != ']' || first; first = false) {
        unsigned char from = (unsigned char)*parser->at;
        if (from == '\0' || (from == '[' && parser->at[1] == ':'))
            return fail(parser);
        parser->at++;
        if (from == '\\') {
            if (*parser->at == '\0' || !set_add_escape(set, (unsigned char)*parser->at++))
                return fail(parser);
            continue;
        }
        unsigned char to = from;
        if (parser->at[0] == '-' && parser->at[1] != ']' && parser->at[1] != '\0') {
            to = (unsigned char)parser->at[1];
            parser->at += 2;
        }
        if (to < from || to == '\\')
            return fail(parser);
        set_add(set, from, to);
    }
    parser->at++;
    struct state *state = &parser->pattern->states[piece.first];
    for (size_t i = 0; i < sizeof set; i++)
        state->set[i] = negated ? (uint8_t)~set[i] : set[i];
    return piece;
}

static struct piece parse_group(struct parser *parser) {
    if (parser->at[0] == '?' && parser->at[1] == ':')
        parser->at += 2;
    else if (parser->at[0] == '?')
        return fail(parser);
    if (++parser->depth > DEEPEST)
        return fail(parser);
    struct piece piece = parse_alternatives(parser);
    parser->depth--;
    if (*parser->at != ')')
        return fail(parser);
    parser->at++;
    return piece;
}

static struct piece parse_atom(struct parser *parser) {
    unsigned char letter = (unsigned char)*parser->at++;
    struct piece piece;
    switch (letter) {
    case '(':
        return parse_group(parser);
    case '[':
        return parse_set(parser);
    case '^':
        return single(parser, KIND_START);
    case '$':
        return single(parser, KIND_END);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(parser);
    default:
        break;
    }
    piece = single(parser, KIND_SET);
    uint8_t *set = parser->pattern->states[piece.first].set;
    if (letter == '.') {
        set_add(set, 1, 255);
    } else if (letter != '\\') {
        set_add(set, letter, letter);
    } else if (*parser->at == '\0' || !set_add_escape(set, (unsigned char)*parser->at++)) {
        return fail(parser);
    }
    return piece;
}

static void link_piece(struct parser *parser, struct piece piece, int next) {
    parser->pattern->states[piece.last].next = next;
}

/* An atom and the * + ? after it; a second ? (take as little as possible) changes nothing here. */
static struct piece parse_repeat(struct parser *parser) {
    struct piece piece = parse_atom(parser);
    char letter = *parser->at;
    if (parser->failed || (letter != '*' && letter != '+' && letter != '?'))
        return piece;
    parser->at++;
    if (*parser->at == '?')
        parser->at++;
    if (strchr("*+?{", *parser->at) != NULL && *parser->at != '\0')
        return fail(parser);
    struct piece end = nothing(parser);
    int split = add_state(parser->pattern, KIND_SPLIT, piece.first, end.first);
    link_piece(parser, piece, letter == '?' ? end.first : split);
    return (struct piece){letter == '+' ? piece.first : split, end.last};
}

static struct piece parse_sequence(struct parser *parser) {
    struct piece whole = nothing(parser);
    while (!parser->failed && *parser->at != '\0' && *parser->at != '|' && *parser->at != ')') {
        struct piece piece = parse_repeat(parser);
        link_piece(parser, whole, piece.first);
        whole.last = piece.last;
    }
    return whole;
}

static struct piece parse_alternatives(struct parser *parser) {
    struct piece whole = parse_sequence(parser);
    struct piece end = nothing(parser);
    link_piece(parser, whole, end.first);
    whole.last = end.last;
    while (!parser->failed && *parser->at == '|') {
        parser->at++;
        struct piece piece = parse_sequence(parser);
        link_piece(parser, piece, end.first);
        whole.first = add_state(parser->pattern, KIND_SPLIT, whole.first, piece.first);
    }
    return whole;
}

struct hp_name_pattern *hp_name_pattern_new(const char *text) {
    if (strlen(text) > LONGEST)
        return NULL;
    struct hp_name_pattern *pattern = hp_memory_new(1, sizeof *pattern);
    struct parser parser = {.pattern = pattern, .at = text};
    struct piece whole = parse_alternatives(&parser);
    if (parser.failed || *parser.at != '\0') {
        hp_name_pattern_free(pattern);
        return NULL;
    }
    link_piece(&parser, whole, add_state(pattern, KIND_MATCH, NONE, NONE));
    pattern->start = whole.first;
    pattern->now = hp_memory_new(pattern->count, sizeof *pattern->now);
    pattern->then = hp_memory_new(pattern->count, sizeof *pattern->then);
    /* A state pushes at most two, and only the first time it is reached in a step. */
    pattern->stack = hp_memory_new(2 * pattern->count + 1, sizeof *pattern->stack);
    pattern->reached = hp_memory_new(pattern->count, sizeof *pattern->reached);
    return pattern;
}

/* Adds `first` and all that it leads to without taking a byte; returns the new number in `list`. */
static size_t reach(struct hp_name_pattern *pattern, int *list, size_t count, int first, bool at_start,
                    bool at_end) {
    size_t depth = 0;
    pattern->stack[depth++] = first;
    while (depth > 0) {
        int place = pattern->stack[--depth];
        if (place == NONE || pattern->reached[place] == pattern->step)
            continue;
        pattern->reached[place] = pattern->step;
        const struct state *state = &pattern->states[place];
        if (state->kind == KIND_SET || state->kind == KIND_MATCH)
            list[count++] = place;
        else if (state->kind == KIND_SPLIT || (state->kind == KIND_START ? at_start : at_end))
            pattern->stack[depth++] = state->next;
        if (state->kind == KIND_SPLIT)
            pattern->stack[depth++] = state->other;
    }
    return count;
}

bool hp_name_pattern_matches(struct hp_name_pattern *pattern, const char *name) {
    size_t length = strnlen(name, LONGEST);
    pattern->step++;
    size_t count = reach(pattern, pattern->now, 0, pattern->start, true, length == 0);
    for (size_t at = 0; at < length && count > 0; at++) {
        unsigned char byte = (unsigned char)name[at];
        size_t n_then = 0;
        pattern->step++;
        for (size_t i = 0; i < count; i++) {
            const struct state *state = &pattern->states[pattern->now[i]];
            if (state->kind == KIND_SET && (state->set[byte / 8] >> byte % 8 & 1) != 0)
                n_then = reach(pattern, pattern->then, n_then, state->next, false, at + 1 == length);
        }
        int *swapped = pattern->now;
        pattern->now = pattern->then;
        pattern->then = swapped;
        count = n_then;
    }
    for (size_t i = 0; i < count; i++)
        if (pattern->states[pattern->now[i]].kind == KIND_MATCH)
            return true;
    return false;
}

void hp_name_pattern_free(struct hp_name_pattern *pattern) {
    if (pattern == NULL)
        return;
    free(pattern->states);
    free(pattern->now);
    free(pattern->then);
    free(pattern->stack);
    free(pattern->reached);
    free(pattern);
}
