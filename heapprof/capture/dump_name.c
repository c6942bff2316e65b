#include "heapprof/capture/dump_name.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/date.h"
#include "heapprof/base/writer.h"

static const char prefix[] = "heapprof.";
static const char suffix[] = ".pb.gz";

/* Letters, digits, '-' and '_' stay; anything else becomes '_'. */
static void clean(char *part, size_t cap, const char *text) {
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < cap; n++) {
        char c = text[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '_';
        part[n] = c;
        if (!plain) {
            part[n] = '_';
        }
    }
    part[n] = '\0';
    if (n == 0) {
        clean(part, cap, "unnamed");
    }
}

static void write_time(char *text, size_t cap, int64_t wall_ns) {
    struct hp_date d = hp_date_of(wall_ns);
    struct hp_writer w = hp_writer_over(text, cap);
    hp_writer_format(&w, "%04lu%02lu%02luT%02lu%02lu%02lu%03lu", d.year, d.month, d.day, d.hour, d.minute,
                     d.second, d.millisecond);
}

void hp_dump_identity_init(struct hp_dump_identity *identity, const char *service) {
    struct utsname names;
    clean(identity->service, sizeof identity->service, service);
    clean(identity->host, sizeof identity->host, uname(&names) == 0 ? names.nodename : "");
    identity->start_ns = hp_clock_wall_ns();
    write_time(identity->start, sizeof identity->start, identity->start_ns);
    identity->pid = getpid();
}

void hp_dump_name_own(char *name, const struct hp_dump_identity *identity) {
    struct hp_writer w = hp_writer_over(name, HP_DUMP_NAME_MAX + 1);
    hp_writer_format(&w, "%s%s.%s.%d.%s.", prefix, identity->service, identity->host, identity->pid,
                     identity->start);
}

void hp_dump_name_write(char *name, const struct hp_dump_identity *identity, unsigned seq,
                        const char *reason) {
    hp_dump_name_own(name, identity);
    struct hp_writer w = {.buf = name, .cap = HP_DUMP_NAME_MAX + 1, .len = strlen(name)};
    hp_writer_format(&w, "%u.%s%s", seq, reason, suffix);
}

size_t hp_dump_name_own_bytes(const char *name) {
    enum { DOTS = 5 }; /* after the prefix, the service, the host, the pid and the start time */
    size_t bytes = 0;
    for (unsigned dots = 0; name[bytes] != '\0' && dots < DOTS; bytes++) {
        dots += name[bytes] == '.';
    }
    return bytes;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text);
    size_t tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool belongs(const char *name, const char *service) {
    size_t length = strlen(service);
    return strncmp(name, prefix, sizeof prefix - 1) == 0 &&
           strncmp(name + sizeof prefix - 1, service, length) == 0 && name[sizeof prefix - 1 + length] == '.';
}

/* The dots of a whole name: six between its seven parts, two in ".pb.gz". */
static bool has_all_parts(const char *name) {
    unsigned dots = 0;
    for (const char *p = name; *p != '\0'; p++) {
        dots += *p == '.';
    }
    return dots == 8;
}

bool hp_dump_name_is_dump(const char *name, const char *service) {
    return belongs(name, service) && ends_with(name, suffix) && has_all_parts(name);
}

bool hp_dump_name_is_temporary(const char *name, const char *service) {
    return name[0] == '.' && belongs(name + 1, service) && ends_with(name, ".pb.gz.tmp");
}
