#include "heapprof/base/json.h"

#include "heapprof/base/date.h"

struct hp_json hp_json_over(char *buf, size_t cap) {
    return (struct hp_json){.w = hp_writer_over(buf, cap), .follows = false};
}

static void write_escaped(struct hp_writer *w, char c) {
    unsigned char byte = (unsigned char)c;
    if (c == '"' || c == '\\') {
        hp_writer_format(w, "\\%c", c);
    } else if (byte < 0x20 || byte == 0x7f) {
        hp_writer_text(w, byte < 0x10 ? "\\u000" : "\\u00");
        hp_writer_format(w, "%lx", (unsigned long)byte);
    } else {
        hp_writer_bytes(w, &c, 1);
    }
}

static void write_text(struct hp_writer *w, const char *text) {
    hp_writer_text(w, "\"");
    size_t start = w->len;
    for (const char *p = text; *p != '\0'; p++) {
        write_escaped(w, *p);
    }
    hp_writer_make_utf8(w->buf + start);
    hp_writer_text(w, "\"");
}

/* What stands before a value. */
static void begin(struct hp_json *json, const char *name) {
    if (json->follows) {
        hp_writer_text(&json->w, ",");
    }
    if (name != NULL) {
        write_text(&json->w, name);
        hp_writer_text(&json->w, ":");
    }
    json->follows = true;
}

void hp_json_open(struct hp_json *json, const char *name, char bracket) {
    begin(json, name);
    hp_writer_format(&json->w, "%c", bracket);
    json->follows = false;
}

void hp_json_close(struct hp_json *json, char bracket) {
    hp_writer_format(&json->w, "%c", bracket);
    json->follows = true;
}

void hp_json_number(struct hp_json *json, const char *name, uint64_t value) {
    begin(json, name);
    hp_writer_format(&json->w, "%lu", value);
}

void hp_json_flag(struct hp_json *json, const char *name, bool value) {
    begin(json, name);
    hp_writer_text(&json->w, value ? "true" : "false");
}

void hp_json_null(struct hp_json *json, const char *name) {
    begin(json, name);
    hp_writer_text(&json->w, "null");
}

void hp_json_text(struct hp_json *json, const char *name, const char *text) {
    begin(json, name);
    write_text(&json->w, text);
}

void hp_json_time(struct hp_json *json, const char *name, int64_t wall_ns) {
    if (wall_ns == 0) {
        hp_json_null(json, name);
        return;
    }
    struct hp_date d = hp_date_of(wall_ns);
    begin(json, name);
    hp_writer_format(&json->w, "\"%04lu-%02lu-%02luT%02lu:%02lu:%02lu.%03luZ\"", d.year, d.month, d.day,
                     d.hour, d.minute, d.second, d.millisecond);
}

bool hp_json_fits(const struct hp_json *json) {
    return json->w.len + 1 < json->w.cap;
}
