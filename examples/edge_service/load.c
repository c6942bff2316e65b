#include "load.h"

#include <stdio.h>

enum {
    REQUESTS_A_CLIENT = 8, /* the login and what follows */
    ARTICLES = 20000,      /* how many different ones are read */
    SCRAPE_EVERY = 5000    /* the metrics store asks for /metrics; nobody told it to stop */
};

static const char *const agents[] = {
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
    "EdgeReader/4.2 (Android 14; build 8812)",
};

static uint64_t next_random(struct load *load) { /* splitmix64 */
    uint64_t z = load->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void load_init(struct load *load, uint64_t seed) {
    *load = (struct load){.random = seed};
}

/* Keeps the session that the response sets. */
static void take_cookie(struct load_client *client, struct slice response) {
    static const char field[] = "Set-Cookie: ";
    const char *at = response.length ? memmem(response.at, response.length, field, sizeof field - 1) : NULL;
    if (!at)
        return;
    at += sizeof field - 1;
    size_t left = (size_t)(response.at + response.length - at);
    const char *end = memchr(at, ';', left);
    size_t length = end ? (size_t)(end - at) : 0;
    if (length < sizeof client->cookie) {
        memcpy(client->cookie, at, length);
        client->cookie[length] = 0;
    }
}

static void pick_path(struct load *load, const struct load_client *client, char *path, size_t capacity) {
    uint64_t draw = next_random(load);
    if (++load->requests % SCRAPE_EVERY == 0) {
        snprintf(path, capacity, "/metrics");
    } else if (draw % 100 < 64) { /* the smaller of two draws: a few articles are read often */
        uint64_t a = (draw >> 8) % ARTICLES, b = (draw >> 32) % ARTICLES;
        snprintf(path, capacity, "/articles/%llu", (unsigned long long)(a < b ? a : b));
    } else if (draw % 100 < 99) {
        snprintf(path, capacity, "/api/users/%u", client->number);
    } else {
        snprintf(path, capacity, "/health");
    }
}

/* The headers of every request, up to and with the blank line. */
static int write_headers(struct load *load, const struct load_client *client, size_t body_length, char *out,
                         size_t capacity) {
    unsigned long long high = next_random(load), low = next_random(load), span = next_random(load);
    return snprintf(out, capacity,
                    "Host: edge.example\r\nUser-Agent: %s\r\nAccept: */*\r\nX-Client-Id: client-%08u\r\n"
                    "Traceparent: 00-%016llx%016llx-%016llx-01\r\n%s%s%sContent-Length: %zu\r\n\r\n",
                    agents[client->number % (sizeof agents / sizeof agents[0])], client->number, high, low,
                    span, client->cookie[0] ? "Cookie: " : "", client->cookie,
                    client->cookie[0] ? "\r\n" : "", body_length);
}

size_t load_next(struct load *load, unsigned connection, struct slice response, char *out, size_t capacity) {
    struct load_client *client = &load->clients[connection];
    char path[64], body[64] = "";
    const char *method = "GET";
    take_cookie(client, response);
    if (client->requests_left == 0) {
        *client = (struct load_client){.number = load->clients_seen++, .requests_left = REQUESTS_A_CLIENT};
        method = "POST";
        load->requests++;
        snprintf(path, sizeof path, "/login");
        snprintf(body, sizeof body, "user=reader%u", client->number);
    } else {
        pick_path(load, client, path, sizeof path);
    }
    client->requests_left--;
    int length = snprintf(out, capacity, "%s %s HTTP/1.1\r\n", method, path);
    length += write_headers(load, client, strlen(body), out + length, capacity - (size_t)length);
    length += snprintf(out + length, capacity - (size_t)length, "%s", body);
    return (size_t)length;
}
