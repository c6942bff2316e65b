/* Which handler answers a request. Pure; safe from any thread. */
#ifndef EDGE_ROUTER_H
#define EDGE_ROUTER_H

#include "http.h"

enum route { ROUTE_ARTICLE, ROUTE_USER, ROUTE_LOGIN, ROUTE_HEALTH, ROUTE_METRICS, ROUTE_NONE, ROUTE_METHOD };

struct route_match {
    enum route route;    /* ROUTE_NONE: no such path; ROUTE_METHOD: not with this method */
    const char *pattern; /* "/articles/:id"; "none" for the last two */
    struct slice id;     /* what stands for :id */
};

struct route_match router_match(const struct http_request *request);

#endif
