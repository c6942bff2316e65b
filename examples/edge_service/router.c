#include "router.h"

static const struct {
    enum route route;
    const char *method;
    const char *pattern;
} routes[] = {
    {ROUTE_ARTICLE, "GET", "/articles/:id"}, {ROUTE_USER, "GET", "/api/users/:id"},
    {ROUTE_LOGIN, "POST", "/login"},         {ROUTE_HEALTH, "GET", "/health"},
    {ROUTE_METRICS, "GET", "/metrics"},
};

/* A pattern ends in ":id", which stands for decimal digits, or it is the path itself. */
static bool matches(const char *pattern, struct slice path, struct slice *id) {
    const char *colon = strchr(pattern, ':');
    if (!colon)
        return slice_equal(path, slice_of(pattern));
    size_t prefix = (size_t)(colon - pattern);
    if (path.length <= prefix || memcmp(path.at, pattern, prefix) != 0)
        return false;
    *id = (struct slice){path.at + prefix, path.length - prefix};
    for (size_t i = 0; i < id->length; i++) {
        if (id->at[i] < '0' || id->at[i] > '9')
            return false;
    }
    return true;
}

struct route_match router_match(const struct http_request *request) {
    struct route_match match = {.route = ROUTE_NONE, .pattern = "none"};
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (!matches(routes[i].pattern, request->path, &match.id))
            continue;
        match.route = ROUTE_METHOD;
        if (slice_equal(request->method, slice_of(routes[i].method))) {
            match.route = routes[i].route;
            match.pattern = routes[i].pattern;
            return match;
        }
    }
    return match;
}
