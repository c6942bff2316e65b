#include "handlers.h"

#include "http.h"
#include "router.h"

#include "render.h"

#include <time.h>

struct answer {
    int status;
    const char *type;
    struct text body;
    char session[SESSION_ID_SIZE]; /* of a fresh login; else empty */
    bool cached;
};

static void answer_article(struct service *service, const struct http_request *request, struct slice id,
                           struct answer *answer) {
    answer->type = "text/html; charset=utf-8";
    answer->cached = cache_get(&service->cache, request->path, &answer->body);
    if (answer->cached)
        return;
    render_article(&answer->body, id);
    if (!answer->body.failed)
        cache_put(&service->cache, request->path, text_slice(&answer->body));
}

static void answer_user(struct service *service, const struct http_request *request, struct slice id,
                        struct answer *answer) {
    answer->type = "application/json";
    text_put(&answer->body, slice_of("{\"id\":"));
    render_json_string(&answer->body, id);
    text_put(&answer->body, slice_of(",\"recent\":"));
    if (session_visit(&service->sessions, http_cookie(request, "sid"), request->path, &answer->body)) {
        text_put(&answer->body, slice_of("}\n"));
        return;
    }
    answer->status = 401;
    text_fini(&answer->body);
    text_put(&answer->body, slice_of("{\"error\":\"log in first\"}\n"));
}

static void answer_login(struct service *service, const struct http_request *request, struct answer *answer) {
    static const char key[] = "user=";
    size_t skip = sizeof key - 1;
    if (request->body.length <= skip || memcmp(request->body.at, key, skip) != 0) {
        answer->status = 400;
        return;
    }
    struct slice user = {request->body.at + skip, request->body.length - skip};
    if (session_create(&service->sessions, user, answer->session))
        text_put(&answer->body, slice_of("welcome\n"));
    else
        answer->status = 503;
}

static void dispatch(struct service *service, const struct http_request *request,
                     const struct route_match *match, struct answer *answer) {
    switch (match->route) {
    case ROUTE_ARTICLE:
        answer_article(service, request, match->id, answer);
        break;
    case ROUTE_USER:
        answer_user(service, request, match->id, answer);
        break;
    case ROUTE_LOGIN:
        answer_login(service, request, answer);
        break;
    case ROUTE_HEALTH:
        text_put(&answer->body, slice_of("ok\n"));
        break;
    case ROUTE_METRICS:
        answer->status = metrics_export(&service->metrics, &answer->body) ? 200 : 404;
        break;
    case ROUTE_METHOD:
        answer->status = 405;
        break;
    case ROUTE_NONE:
        answer->status = 404;
        break;
    }
}

static size_t respond(struct answer *answer, char *output, size_t capacity) {
    struct http_response response = {.status = answer->status,
                                     .type = answer->type,
                                     .session = answer->session[0] ? answer->session : NULL,
                                     .body = text_slice(&answer->body)};
    size_t length = answer->body.failed ? 0 : http_write(&response, output, capacity);
    if (length == 0) {
        answer->status = 503;
        response = (struct http_response){.status = 503, .type = "text/plain"};
        length = http_write(&response, output, capacity);
    }
    return length;
}

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

__attribute__((noinline)) size_t handle_request(struct service *service, struct slice input, char *output,
                                                size_t capacity) {
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    struct answer answer = {.status = 200, .type = "text/plain"};
    struct http_request request;
    struct route_match match = {.route = ROUTE_NONE, .pattern = "none"};
    bool parsed = http_parse(input, &request) == HTTP_OK;
    if (parsed) {
        match = router_match(&request);
        dispatch(service, &request, &match, &answer);
    } else {
        answer.status = 400;
    }
    size_t length = respond(&answer, output, capacity);
    if (parsed) {
        struct metrics_event event = {.method = request.method,
                                      .route = match.pattern,
                                      .path = request.path,
                                      .client = http_header(&request, "X-Client-Id"),
                                      .trace = http_header(&request, "Traceparent"),
                                      .agent = http_header(&request, "User-Agent"),
                                      .status = answer.status,
                                      .cached = answer.cached,
                                      .seconds = seconds_since(&start)};
        metrics_observe(&service->metrics, &event);
    }
    text_fini(&answer.body);
    return length;
}
