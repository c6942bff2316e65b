/*
 * JSON (RFC 8259) into a fixed buffer, member by member. No malloc, no locale, no floating point. What does
 * not fit is cut; hp_json_fits() tells.
 */
#ifndef HP_BASE_JSON_H
#define HP_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapprof/base/writer.h"

struct hp_json {
    struct hp_writer w;
    bool follows; /* another member: a comma comes first */
};

/* Begins a text over `buf`, the caller's, of `cap` >= 2 bytes. */
struct hp_json hp_json_over(char *buf, size_t cap);

/* In each, `name` is the member's, or NULL in an array and for the whole. */
void hp_json_open(struct hp_json *json, const char *name, char bracket); /* '{' or '[' */
void hp_json_close(struct hp_json *json, char bracket);                  /* '}' or ']' */
void hp_json_number(struct hp_json *json, const char *name, uint64_t value);
void hp_json_flag(struct hp_json *json, const char *name, bool value);
void hp_json_null(struct hp_json *json, const char *name);

/* Any bytes: what is not UTF-8 becomes '?', and what JSON escapes is escaped. */
void hp_json_text(struct hp_json *json, const char *name, const char *text);

/* A time in ns since the Unix epoch, as "2026-12-01T17:20:03.123Z"; null for 0. */
void hp_json_time(struct hp_json *json, const char *name, int64_t wall_ns);

/* Whether all of it has found room. */
bool hp_json_fits(const struct hp_json *json);

#endif
