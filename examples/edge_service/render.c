#include "render.h"

#include "table.h"

static const char article_template[] =
    "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{{title}}</title>\n"
    "<link rel=\"canonical\" href=\"/articles/{{id}}\"></head>\n<body>\n<h1>{{title}}</h1>\n"
    "<article>{{body}}</article>\n<footer>Article {{id}}</footer>\n</body>\n</html>\n";

static const char preferences_template[] =
    "{\"user\":\"{{user}}\",\"theme\":\"dark\",\"locale\":\"en-GB\",\"timezone\":\"Europe/Berlin\","
    "\"newsletter\":false,\"feeds\":[\"front\",\"science\",\"economy\",\"culture\",\"sport\"],"
    "\"flags\":{\"new_header\":true,\"infinite_scroll\":false,\"comments_v3\":true,\"push\":false},"
    "\"muted\":[\"celebrities\",\"horoscopes\",\"lottery\",\"quizzes\",\"royals\",\"gadgets\"],"
    "\"consent\":{\"analytics\":false,\"ads\":false,\"updated\":\"2024-11-05T09:41:00Z\"},"
    "\"reader\":{\"font\":\"serif\",\"size\":17,\"width\":\"narrow\",\"justify\":true}}";

static const char *const words[] = {"edge",    "of",   "the",    "network", "a",        "cache",
                                    "keeps",   "what", "people", "read",    "again",    "and",
                                    "forgets", "all",  "that",   "they",    "do",       "not",
                                    "memory",  "is",   "short",  "until",   "somebody", "counts"};
enum { WORDS = sizeof words / sizeof words[0] };

static struct slice escape(char c) {
    switch (c) {
    case '<':
        return slice_of("&lt;");
    case '>':
        return slice_of("&gt;");
    case '&':
        return slice_of("&amp;");
    case '"':
        return slice_of("&quot;");
    default:
        return (struct slice){0};
    }
}

static void put_html(struct text *out, struct slice value) {
    size_t plain = 0; /* where the run of characters that need no escape begins */
    for (size_t i = 0; i < value.length; i++) {
        struct slice escaped = escape(value.at[i]);
        if (escaped.length == 0)
            continue;
        text_put(out, (struct slice){value.at + plain, i - plain});
        text_put(out, escaped);
        plain = i + 1;
    }
    text_put(out, (struct slice){value.at + plain, value.length - plain});
}

void render_json_string(struct text *out, struct slice value) {
    text_put(out, slice_of("\""));
    for (size_t i = 0; i < value.length; i++) {
        unsigned char c = (unsigned char)value.at[i];
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < ' ')
            text_printf(out, "\\u%04x", c);
        else
            text_put(out, (struct slice){value.at + i, 1});
    }
    text_put(out, slice_of("\""));
}

void render_template(struct text *out, const char *template, const struct render_field *fields,
                     size_t count) {
    const char *open, *close;
    while ((open = strstr(template, "{{")) && (close = strstr(open, "}}"))) {
        text_put(out, (struct slice){template, (size_t)(open - template)});
        struct slice name = {open + 2, (size_t)(close - open) - 2};
        for (size_t i = 0; i < count; i++) {
            if (slice_equal(name, slice_of(fields[i].name)))
                put_html(out, fields[i].value);
        }
        template = close + 2;
    }
    text_put(out, slice_of(template));
}

/* The article as the content store would deliver it: words drawn by its id. */
static void compose_body(struct text *body, uint64_t draw) {
    size_t count = 180 + draw % 360;
    for (size_t i = 0; i < count; i++) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        text_put(body, slice_of(words[(draw >> 33) % WORDS]));
        text_put(body, slice_of(i % 19 == 18 ? ".\n" : " "));
    }
}

void render_article(struct text *out, struct slice id) {
    uint64_t draw = table_hash(0, id.at, id.length);
    struct text title = {0}, body = {0};
    text_printf(&title, "On the %s and the %s", words[draw % WORDS], words[(draw >> 8) % WORDS]);
    compose_body(&body, draw);
    const struct render_field fields[] = {
        {"id", id}, {"title", text_slice(&title)}, {"body", text_slice(&body)}};
    render_template(out, article_template, fields, sizeof fields / sizeof fields[0]);
    out->failed |= title.failed || body.failed;
    text_fini(&title);
    text_fini(&body);
}

void render_preferences(struct text *out, struct slice user) {
    const struct render_field fields[] = {{"user", user}};
    render_template(out, preferences_template, fields, 1);
}
