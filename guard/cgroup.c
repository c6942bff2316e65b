#include "guard/cgroup.h"

#include <string.h>

#include "heapprof/base/procfs.h"
#include "heapprof/base/writer.h"

struct span {
    const char *text;
    size_t len;
};

/* Takes what stands before the next `end` off the front of `rest`. */
static struct span take_until(struct span *rest, char end) {
    const char *at = memchr(rest->text, end, rest->len);
    size_t len = at != NULL ? (size_t)(at - rest->text) : rest->len;
    size_t step = at != NULL ? len + 1 : len;
    struct span taken = {rest->text, len};
    rest->text += step;
    rest->len -= step;
    return taken;
}

static bool is(struct span span, const char *word) {
    return span.len == strlen(word) && memcmp(span.text, word, span.len) == 0;
}

static bool has_word(struct span list, const char *word) {
    while (list.len > 0) {
        if (is(take_until(&list, ','), word)) {
            return true;
        }
    }
    return false;
}

/* One byte of a mountinfo field, where blank, tab, newline and backslash are \ooo. */
static char take_char(struct span *field) {
    const char *t = field->text;
    size_t step = 1;
    char c = *t;
    if (c == '\\' && field->len >= 4 && t[1] >= '0' && t[1] <= '3' && t[2] >= '0' && t[2] <= '7' &&
        t[3] >= '0' && t[3] <= '7') {
        c = (char)((t[1] - '0') * 64 + (t[2] - '0') * 8 + (t[3] - '0'));
        step = 4;
    }
    field->text += step;
    field->len -= step;
    return c;
}

static bool has_dots(const char *path) {
    for (const char *p = strstr(path, "/.."); p != NULL; p = strstr(p + 1, "/..")) {
        if (p[3] == '/' || p[3] == '\0') {
            return true;
        }
    }
    return false;
}

bool guard_cgroup_parse_membership(struct guard_cgroup *cgroup, const char *text) {
    struct span rest = {text, strlen(text)};
    struct span found = {NULL, 0};
    cgroup->version = 0;
    cgroup->levels = 0;
    while (rest.len > 0) {
        struct span line = take_until(&rest, '\n');
        struct span hierarchy = take_until(&line, ':');
        struct span controllers = take_until(&line, ':');
        if (has_word(controllers, "memory")) {
            found = line;
            cgroup->version = 1;
        } else if (cgroup->version == 0 && is(hierarchy, "0") && controllers.len == 0) {
            found = line;
            cgroup->version = 2;
        }
    }
    if (found.len == 0 || found.len >= sizeof cgroup->path || found.text[0] != '/') {
        cgroup->version = 0;
        return false;
    }
    memcpy(cgroup->path, found.text, found.len);
    cgroup->path[found.len] = '\0';
    return true;
}

struct mount {
    struct span root;  /* which folder of the hierarchy is mounted … */
    struct span point; /* … and where */
};

/* "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:1 - cgroup cgroup rw,memory" */
static bool parse_mount(struct span line, unsigned version, struct mount *mount) {
    for (int i = 0; i < 3; i++) {
        (void)take_until(&line, ' ');
    }
    mount->root = take_until(&line, ' ');
    mount->point = take_until(&line, ' ');
    while (line.len > 0 && !is(take_until(&line, ' '), "-")) {
    }
    struct span type = take_until(&line, ' ');
    (void)take_until(&line, ' ');
    if (mount->root.len == 0 || mount->point.len == 0) {
        return false;
    }
    return version == 2 ? is(type, "cgroup2") : is(type, "cgroup") && has_word(line, "memory");
}

/* What is left of the cgroup's name below the mount's root: "" for the root itself; NULL: it is not below. */
static const char *name_below(const struct mount *mount, const char *name) {
    struct span root = mount->root;
    const char *rest = name;
    if (!is(root, "/")) {
        while (root.len > 0) {
            if (*rest == '\0' || take_char(&root) != *rest++) {
                return NULL;
            }
        }
    }
    if (strcmp(rest, "/") == 0) {
        rest++;
    }
    return (*rest != '\0' && *rest != '/') || has_dots(rest) ? NULL : rest;
}

/* Which mount to believe. The whole chain seen is best, from as high up as can be; a mount whose root lies
 * above the namespace ("/..") shows an ancestor at least; and a root that the name is not below is, in a
 * container without a namespace, mostly our own cgroup under another name. A name outside the namespace
 * proves nothing. */
static size_t worth(const struct mount *mount, const char *name) {
    if (name_below(mount, name) != NULL) {
        return SIZE_MAX - mount->root.len;
    }
    bool is_above = mount->root.len >= 3 && memcmp(mount->root.text, "/..", 3) == 0;
    return is_above ? 2 : !has_dots(name);
}

static void set_levels(struct guard_cgroup *cgroup, size_t top) {
    size_t len = strlen(cgroup->path);
    while (len >= top && len > 0 && cgroup->levels < GUARD_CGROUP_LEVELS) {
        cgroup->length[cgroup->levels++] = (uint16_t)len;
        while (len > 0 && cgroup->path[--len] != '/') {
        }
    }
}

bool guard_cgroup_parse_mounts(struct guard_cgroup *cgroup, const char *text) {
    struct span rest = {text, strlen(text)};
    struct mount best = {0};
    size_t best_worth = 0;
    cgroup->levels = 0;
    while (rest.len > 0 && cgroup->version != 0) {
        struct mount mount = {0};
        if (parse_mount(take_until(&rest, '\n'), cgroup->version, &mount)) {
            size_t its_worth = worth(&mount, cgroup->path);
            if (its_worth != 0 && its_worth >= best_worth) { /* of two on one folder the later one is seen */
                best = mount;
                best_worth = its_worth;
            }
        }
    }
    if (best_worth == 0) {
        return false;
    }
    const char *below = name_below(&best, cgroup->path);
    char folder[GUARD_CGROUP_PATH];
    struct hp_writer w = hp_writer_over(folder, sizeof folder);
    while (best.point.len > 0) {
        char c = take_char(&best.point);
        hp_writer_bytes(&w, &c, 1);
    }
    size_t top = w.len;
    hp_writer_text(&w, below != NULL ? below : "");
    if (w.len == sizeof folder - 1) {
        return false;
    }
    memcpy(cgroup->path, folder, w.len + 1);
    set_levels(cgroup, top);
    return cgroup->levels > 0;
}

int guard_cgroup_find(struct guard_cgroup *cgroup, char *text, size_t cap) {
    cgroup->version = 0;
    cgroup->levels = 0;
    if (hp_procfs_read("/proc/self/cgroup", text, cap) < 0) {
        return -1;
    }
    if (!guard_cgroup_parse_membership(cgroup, text)) {
        return 0;
    }
    if (hp_procfs_read("/proc/self/mountinfo", text, cap) < 0) {
        return -1;
    }
    (void)guard_cgroup_parse_mounts(cgroup, text);
    return 0;
}

void guard_cgroup_file(const struct guard_cgroup *cgroup, unsigned level, const char *file, char *path,
                       size_t cap) {
    struct hp_writer w = hp_writer_over(path, cap);
    hp_writer_bytes(&w, cgroup->path, cgroup->length[level]);
    hp_writer_text(&w, "/");
    hp_writer_text(&w, file);
}
