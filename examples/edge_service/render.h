/* What the service writes: HTML from a template, and JSON. Pure but for the text; safe from any thread. */
#ifndef EDGE_RENDER_H
#define EDGE_RENDER_H

#include "text.h"

struct render_field {
    const char *name;
    struct slice value;
};

/* Copies the template with each {{name}} replaced by the field's value, escaped for HTML; an unknown name
 * becomes nothing. */
void render_template(struct text *out, const char *template, const struct render_field *fields, size_t count);

/* The value in quotes, escaped for JSON. */
void render_json_string(struct text *out, struct slice value);

/* The page of an article; the same id always gives the same page, of 1 to 4 KiB. */
void render_article(struct text *out, struct slice id);

/* The preferences document of a user, about half a KiB. */
void render_preferences(struct text *out, struct slice user);

#endif
