#include "guard/limit.h"

#include <string.h>
#include <sys/resource.h>

#include "heapprof/base/writer.h"

bool guard_limits_find(struct guard_limits *limits, struct guard_scratch *scratch) {
    struct guard_cgroup cgroup;
    bool all = true;
    if (guard_cgroup_find(&cgroup, scratch->text, sizeof scratch->text) == 0) {
        if (cgroup.levels != limits->cgroup.levels || cgroup.version != limits->cgroup.version ||
            (cgroup.levels > 0 && strcmp(cgroup.path, limits->cgroup.path) != 0)) {
            limits->cgroup = cgroup;
            limits->finding++; /* the levels mean other folders now */
        }
    } else {
        all = false;
    }
    uint64_t ram = 0;
    uint64_t swap = 0;
    if (guard_machine_memory(scratch, &ram, &swap) == 0) {
        limits->ram = ram;
        limits->swap = swap;
    } else {
        all = false;
    }
    return all;
}

/* The list as it is being made, with the old one to fall back on. */
struct making {
    const struct guard_limits *old;
    struct guard_pair pairs[GUARD_PAIRS_MAX];
    unsigned count;
    bool all_read;
};

static void add(struct making *m, enum guard_pair_kind kind, unsigned level, uint64_t limit) {
    if (limit > 0 && m->count < GUARD_PAIRS_MAX) {
        uint32_t finding = kind <= GUARD_PAIR_V1_HIDDEN ? m->old->finding : 0;
        m->pairs[m->count++] = (struct guard_pair){kind, level, finding, limit};
    }
}

static void add_below(struct making *m, uint64_t none, enum guard_pair_kind kind, unsigned level,
                      uint64_t limit) {
    if (limit < (none != UINT64_MAX ? none : UINT64_C(1) << 62)) {
        add(m, kind, level, limit);
    }
}

static void add_below_ram(struct making *m, enum guard_pair_kind kind, unsigned level, uint64_t limit) {
    add_below(m, m->old->ram, kind, level, limit);
}

static void add_below_swap(struct making *m, enum guard_pair_kind kind, unsigned level, uint64_t limit) {
    if (m->old->swap > 0 && m->old->ram != UINT64_MAX) {
        add_below(m, m->old->ram + m->old->swap, kind, level, limit);
    }
}

/* The pairs of a level that can't be read any more. A level that never had one mostly has no memory
 * controller. */
static void keep_level(struct making *m, unsigned level) {
    for (unsigned i = 0; i < m->old->count; i++) {
        const struct guard_pair *pair = &m->old->pairs[i];
        if (pair->level == level && pair->finding == m->old->finding && pair->kind <= GUARD_PAIR_V1_HIDDEN) {
            add(m, pair->kind, level, pair->limit);
            m->all_read = false;
        }
    }
}

static void add_v2(struct making *m, struct guard_scratch *scratch) {
    for (unsigned level = 0; level < m->old->cgroup.levels; level++) {
        struct guard_level_limits found;
        if (guard_cgroup_v2_limits(&m->old->cgroup, level, m->old->swap > 0, scratch, &found) != 0) {
            keep_level(m, level);
            continue;
        }
        add_below_ram(m, GUARD_PAIR_V2_MAX, level, found.max);
        add_below_swap(m, GUARD_PAIR_V2_SWAP, level, found.with_swap);
        if (found.high < found.max) {
            add_below_ram(m, GUARD_PAIR_V2_HIGH, level, found.high);
        }
    }
}

static void add_v1(struct making *m, struct guard_scratch *scratch) {
    uint64_t least_seen = UINT64_MAX;
    uint64_t of_ancestors = UINT64_MAX;
    unsigned top = 0;
    for (unsigned level = 0; level < m->old->cgroup.levels; level++) {
        struct guard_level_limits found;
        if (guard_cgroup_v1_limits(&m->old->cgroup, level, m->old->swap > 0, scratch, &found) != 0) {
            keep_level(m, level);
            continue;
        }
        add_below_ram(m, GUARD_PAIR_V1, level, found.max);
        add_below_swap(m, GUARD_PAIR_V1_SWAP, level, found.with_swap);
        least_seen = found.max < least_seen ? found.max : least_seen;
        of_ancestors = found.of_ancestors < of_ancestors ? found.of_ancestors : of_ancestors;
        top = level;
    }
    if (of_ancestors < least_seen) {
        add_below_ram(m, GUARD_PAIR_V1_HIDDEN, top, of_ancestors);
    }
}

/* What "detected" means: the smallest limit that kills, else the machine's memory. */
static uint64_t detected(const struct making *m) {
    uint64_t least = m->old->ram;
    for (unsigned i = 0; i < m->count; i++) {
        if (guard_pair_kills(&m->pairs[i]) && m->pairs[i].limit < least) {
            least = m->pairs[i].limit;
        }
    }
    return least;
}

static void add_own(struct making *m, const struct guard_limit_wish *wish) {
    uint64_t limit = detected(m);
    if (wish->set != 0) {
        add(m, GUARD_PAIR_SET, 0, wish->set);
    } else if (wish->setting.kind == HP_LIMIT_BYTES) {
        add(m, GUARD_PAIR_SETTING, 0, wish->setting.value);
    } else if (limit == UINT64_MAX) {
        m->all_read = false; /* not even the machine's memory is known */
    } else if (wish->setting.kind == HP_LIMIT_PERCENT) {
        uint64_t share = limit / 100 * wish->setting.value + limit % 100 * wish->setting.value / 100;
        add(m, GUARD_PAIR_SETTING, 0, share);
    } else if (limit == m->old->ram) {
        add(m, GUARD_PAIR_MACHINE, 0, limit);
    }
}

/* UINT64_MAX: none. */
static uint64_t rlimit_of(enum guard_pair_kind kind) {
    struct rlimit limit;
    int rc = getrlimit(kind == GUARD_PAIR_RLIMIT_AS ? RLIMIT_AS : RLIMIT_DATA, &limit);
    return rc != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

static void add_rlimit(struct making *m, enum guard_pair_kind kind) {
    uint64_t limit = rlimit_of(kind);
    if (limit != UINT64_MAX) {
        add(m, kind, 0, limit);
    }
}

bool guard_limits_may_refuse(void) {
    return rlimit_of(GUARD_PAIR_RLIMIT_AS) != UINT64_MAX || rlimit_of(GUARD_PAIR_RLIMIT_DATA) != UINT64_MAX;
}

bool guard_limits_read(struct guard_limits *limits, const struct guard_limit_wish *wish,
                       struct guard_scratch *scratch) {
    if (wish->setting.kind == HP_LIMIT_OFF && wish->set == 0) {
        limits->count = 0;
        return true;
    }
    struct making m = {.old = limits, .all_read = true};
    if (limits->cgroup.version == 2) {
        add_v2(&m, scratch);
    } else if (limits->cgroup.version == 1) {
        add_v1(&m, scratch);
    }
    add_own(&m, wish);
    add_rlimit(&m, GUARD_PAIR_RLIMIT_AS);
    add_rlimit(&m, GUARD_PAIR_RLIMIT_DATA);
    memcpy(limits->pairs, m.pairs, m.count * sizeof m.pairs[0]);
    limits->count = m.count;
    return m.all_read;
}

static bool is_process(const struct guard_pair *pair) {
    return pair->kind >= GUARD_PAIR_SET;
}

static bool read_process(const struct guard_limits *limits, struct guard_scratch *scratch,
                         struct guard_process *usage) {
    bool wants_status = limits->swap > 0;
    for (unsigned i = 0; i < limits->count; i++) {
        wants_status = wants_status || limits->pairs[i].kind == GUARD_PAIR_RLIMIT_DATA;
    }
    return guard_process_usage(wants_status, scratch, usage) == 0;
}

static uint64_t share_of_process(const struct guard_pair *pair, const struct guard_process *usage) {
    switch (pair->kind) {
    case GUARD_PAIR_RLIMIT_AS:
        return usage->mapped;
    case GUARD_PAIR_RLIMIT_DATA:
        return usage->data;
    default:
        return usage->resident;
    }
}

static bool read_level(const struct guard_limits *limits, const struct guard_pair *pair,
                       uint64_t matters_from, struct guard_scratch *scratch, struct guard_use *use) {
    bool with_swap = pair->kind == GUARD_PAIR_V2_SWAP || pair->kind == GUARD_PAIR_V1_SWAP;
    if (limits->cgroup.version == 2) {
        return guard_cgroup_v2_usage(&limits->cgroup, pair->level, with_swap, matters_from, scratch, use) ==
               0;
    }
    return guard_cgroup_v1_usage(&limits->cgroup, pair->level, with_swap, matters_from, scratch, use) == 0;
}

bool guard_limits_usage(const struct guard_limits *limits, const uint64_t *floors,
                        struct guard_scratch *scratch, struct guard_use *uses) {
    struct guard_process process = {0};
    bool has_process = false;
    bool all = true;
    for (unsigned i = 0; i < limits->count; i++) {
        const struct guard_pair *pair = &limits->pairs[i];
        if (!is_process(pair)) {
            all = read_level(limits, pair, floors[i], scratch, &uses[i]) && all;
        } else if (has_process || read_process(limits, scratch, &process)) {
            has_process = true;
            uint64_t usage = share_of_process(pair, &process);
            uses[i] = (struct guard_use){.charged = usage, .usage = usage};
        } else {
            all = false;
        }
    }
    return all;
}

bool guard_pair_is_same(const struct guard_pair *a, const struct guard_pair *b) {
    return a->kind == b->kind && a->level == b->level && a->finding == b->finding;
}

bool guard_pair_kills(const struct guard_pair *pair) {
    return pair->kind != GUARD_PAIR_V2_HIGH;
}

void guard_pair_name(const struct guard_limits *limits, const struct guard_pair *pair, char *name,
                     size_t cap) {
    static const char *const words[] = {
        [GUARD_PAIR_V2_MAX] = "cgroup v2 ",
        [GUARD_PAIR_V2_SWAP] = "memory and swap of cgroup v2 ",
        [GUARD_PAIR_V2_HIGH] = "memory.high of cgroup v2 ",
        [GUARD_PAIR_V1] = "cgroup v1 ",
        [GUARD_PAIR_V1_SWAP] = "memory and swap of cgroup v1 ",
        [GUARD_PAIR_V1_HIDDEN] = "a parent of cgroup v1 ",
        [GUARD_PAIR_SET] = "the limit set by the application",
        [GUARD_PAIR_SETTING] = "HEAPPROF_LIMIT",
        [GUARD_PAIR_MACHINE] = "the machine's memory",
        [GUARD_PAIR_RLIMIT_AS] = "RLIMIT_AS",
        [GUARD_PAIR_RLIMIT_DATA] = "RLIMIT_DATA",
    };
    struct hp_writer w = hp_writer_over(name, cap);
    hp_writer_text(&w, words[pair->kind]);
    if (!is_process(pair)) {
        hp_writer_bytes(&w, limits->cgroup.path, limits->cgroup.length[pair->level]);
    }
}
