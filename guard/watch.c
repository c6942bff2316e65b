#include "guard/watch.h"

#include <string.h>

#include "heapprof/base/clock.h"
#include "heapprof/base/log.h"
#include "heapprof/base/writer.h"

#define SECOND INT64_C(1000000000)

#define FIND_EVERY (30 * SECOND)
#define FIND_AGAIN (5 * SECOND)      /* when something is odd */
#define READ_EVERY (SECOND * 9 / 10) /* each turn of a timer that sleeps a second */

/* How long a dump takes: before the first one is known; and at the most, for one that waited for a disk says
 * nothing of the next. */
#define DUMP_FIRST_NS (SECOND / 50)
#define DUMP_MAX_NS SECOND

void guard_watch_init(struct guard_watch *watch, const struct hp_options *options) {
    watch->wish = (struct guard_limit_wish){.setting = options->limit, .set = 0};
    watch->thresholds = &options->thresholds;
    watch->limits.ram = UINT64_MAX;
    watch->reading.limit = UINT64_MAX;
    watch->dump_ns = DUMP_FIRST_NS;
}

struct guard_news guard_watch_take_news(struct guard_watch *watch) {
    struct guard_news news = watch->news;
    news.least_limit = guard_watch_limit(watch);
    watch->news = (struct guard_news){0};
    return news;
}

void guard_news_say(const struct guard_news *news) {
    char size[32];
    struct hp_writer w = hp_writer_over(size, sizeof size);
    hp_writer_size(&w, news->least_limit);
    if (news->is_unreadable) {
        hp_log(HP_LOG_WARN, "memory usage or limit could not be read; heapprof goes on trying");
    }
    if (news->left_out > 0) {
        hp_log(HP_LOG_WARN, "HEAPPROF_THRESHOLDS: %u of them above the limit of %s, ignored%s",
               news->left_out, size, news->has_defaults ? "; using 80%,90%,95%" : "");
    }
    if (news->has_changed) {
        hp_log(HP_LOG_INFO, "the limits have changed; the smallest is now %s", size);
    }
}

static void note_left_out(struct guard_watch *watch, unsigned left_out) {
    if (left_out > 0 && !watch->has_said_sizes) {
        watch->has_said_sizes = true;
        watch->news.left_out = left_out;
        watch->news.has_defaults = left_out == watch->thresholds->count;
    }
}

static const struct guard_watched *find_same(const struct guard_watch *watch, const struct guard_pair *pair) {
    for (unsigned i = 0; i < watch->count; i++) {
        if (guard_pair_is_same(&watch->at[i].pair, pair)) {
            return &watch->at[i];
        }
    }
    return NULL;
}

static bool is_as_before(const struct guard_watch *watch) {
    bool same = watch->count == watch->limits.count;
    for (unsigned i = 0; same && i < watch->count; i++) {
        const struct guard_pair *pair = &watch->limits.pairs[i];
        same = guard_pair_is_same(&watch->at[i].pair, pair) && watch->at[i].pair.limit == pair->limit;
    }
    return same;
}

/* Makes watch->at follow the limits. What was fired stays so for a pair with the same limit; and for an early
 * warning with another one too: some managers move memory.high every second. */
static void follow_limits(struct guard_watch *watch) {
    struct guard_use use[GUARD_PAIRS_MAX] = {0};
    uint64_t least_before = guard_watch_limit(watch);
    for (unsigned i = 0; i < watch->limits.count; i++) {
        struct guard_watched *next = &watch->next[i];
        const struct guard_pair *pair = &watch->limits.pairs[i];
        const struct guard_watched *before = find_same(watch, pair);
        *next = (struct guard_watched){.pair = *pair};
        if (before != NULL) {
            use[i] = watch->use[before - watch->at];
            next->pace = before->pace;
            next->trend = before->trend;
            if (before->pair.limit == pair->limit || !guard_pair_kills(pair)) {
                next->arming = before->arming;
                memcpy(next->fired, before->fired, sizeof next->fired);
            }
        }
        unsigned left_out =
            guard_policy_make(&next->policy, watch->thresholds, pair->limit, guard_pair_kills(pair));
        note_left_out(watch, left_out);
    }
    watch->generation++;
    watch->count = watch->limits.count;
    memcpy(watch->at, watch->next, watch->count * sizeof watch->at[0]);
    memcpy(watch->use, use, watch->count * sizeof use[0]);
    watch->news.has_changed = watch->read_at != 0 && guard_watch_limit(watch) != least_before;
}

static void note_failure(struct guard_watch *watch) {
    watch->is_odd = true;
    if (!watch->has_said_unreadable) {
        watch->has_said_unreadable = true;
        watch->news.is_unreadable = true;
    }
}

static void read_untouched(struct guard_watch *watch) {
    struct guard_process process;
    if (guard_process_usage(watch->limits.swap > 0, &watch->scratch, &process) == 0) {
        watch->untouched = process.untouched;
        watch->resident = process.resident;
    }
}

void guard_watch_refresh(struct guard_watch *watch, bool may_find, int64_t now) {
    int64_t age = now - watch->found_at;
    bool finds =
        watch->found_at == 0 || (may_find && (age >= FIND_EVERY || (watch->is_odd && age >= FIND_AGAIN)));
    if (!finds && watch->read_at != 0 && now - watch->read_at < READ_EVERY) {
        return;
    }
    bool all = true;
    if (finds) {
        watch->is_odd = false;
        watch->found_at = now;
        all = guard_limits_find(&watch->limits, &watch->scratch);
    }
    all = guard_limits_read(&watch->limits, &watch->wish, &watch->scratch) && all;
    if (!all) {
        note_failure(watch);
    }
    if (!is_as_before(watch)) {
        follow_limits(watch);
    }
    read_untouched(watch);
    watch->read_at = now;
}

static uint64_t headroom(const struct guard_watch *watch, unsigned i) {
    uint64_t limit = watch->at[i].pair.limit;
    return limit > watch->use[i].usage ? limit - watch->use[i].usage : 0;
}

/* Whether pair `a` is nearer to its end than pair `b`; of equals, the one that kills. */
static bool is_nearer(const struct guard_watch *watch, unsigned a, unsigned b) {
    uint64_t of_a = headroom(watch, a);
    uint64_t of_b = headroom(watch, b);
    return of_a < of_b || (of_a == of_b && watch->at[a].policy.kills && !watch->at[b].policy.kills);
}

static void fill_reading(const struct guard_watch *watch, unsigned pair, struct guard_reading *reading) {
    reading->usage = watch->use[pair].usage;
    reading->limit = watch->at[pair].pair.limit;
    guard_pair_name(&watch->limits, &watch->at[pair].pair, reading->source, sizeof reading->source);
}

/* What is charged to pair `i` must reach this for its usage to matter: be near a threshold, or have grown so
 * fast that a dump would race, which only exact numbers can tell from a file that is being read. */
static uint64_t floor_of(const struct guard_watch *watch, unsigned i) {
    const struct guard_policy *policy = &watch->at[i].policy;
    uint64_t near = guard_policy_floor(policy);
    uint64_t charged = watch->use[i].charged;
    uint64_t race = guard_policy_race(policy);
    return charged < near && race < near - charged ? charged + race : near;
}

static void read_usages(struct guard_watch *watch, bool exactly) {
    uint64_t floors[GUARD_PAIRS_MAX];
    for (unsigned i = 0; i < watch->count; i++) {
        floors[i] = exactly ? 0 : floor_of(watch, i);
    }
    watch->is_stale = !guard_limits_usage(&watch->limits, floors, &watch->scratch, watch->use);
    if (watch->is_stale) {
        note_failure(watch);
    }
    for (unsigned i = 0; i < watch->count; i++) {
        watch->at[i].is_exact = watch->use[i].charged >= floors[i];
    }
    unsigned nearest = 0;
    for (unsigned i = 0; i < watch->count; i++) {
        nearest = is_nearer(watch, i, nearest) ? i : nearest;
        watch->is_odd =
            watch->is_odd || (watch->use[i].usage > watch->at[i].pair.limit && watch->at[i].policy.kills);
    }
    watch->reading = (struct guard_reading){.limit = UINT64_MAX};
    if (watch->count > 0) {
        fill_reading(watch, nearest, &watch->reading);
        watch->is_exact = watch->at[nearest].is_exact;
    }
}

void guard_watch_read(struct guard_watch *watch) {
    read_usages(watch, true);
}

static void fill_find(const struct guard_watch *watch, unsigned pair, struct guard_verdict verdict,
                      struct guard_find *find) {
    const struct guard_watched *watched = &watch->at[pair];
    *find = (struct guard_find){
        .crossing = {.threshold = watched->policy.at[verdict.rung],
                     .percent = guard_policy_percent(&watched->policy, verdict.rung),
                     .is_last = verdict.is_last,
                     .is_predicted = verdict.is_predicted},
        .pair = watched->pair,
        .expected = verdict.expected,
        .no_relief = verdict.no_relief,
        .is_record = verdict.is_record,
    };
    fill_reading(watch, pair, &find->crossing.reading);
}

/* Between an upper bound and an exact number lies at the least their difference; but up to an upper bound it
 * may be all file cache that has grown. */
static uint64_t growth_of(struct guard_watched *watched, uint64_t usage, int64_t now, int64_t span) {
    uint64_t growth = guard_trend_note(&watched->trend, usage, now, span);
    return watched->is_exact ? growth : 0;
}

/* Notes the thresholds that were armed in `before` and now wait for the job of `ticket`. */
static void note_fired(struct guard_watched *watched, const struct guard_arming *before, uint64_t usage,
                       uint32_t ticket, int64_t now) {
    int64_t wall = hp_clock_wall_ns();
    for (unsigned i = 0; i < watched->policy.count; i++) {
        const struct guard_rung *rung = &watched->arming.rung[i];
        bool is_new = (rung->fired && !before->rung[i].fired) || rung->foreseen == now;
        if (is_new && rung->ticket == ticket) {
            struct guard_fired *fired = &watched->fired[i];
            *fired = (struct guard_fired){.times = fired->times + 1, .wall_ns = wall, .usage = usage};
        }
    }
}

bool guard_watch_look(struct guard_watch *watch, uint64_t pending, uint32_t ticket, int64_t now,
                      struct guard_find *find) {
    struct guard_verdict best = {.crossed = false};
    unsigned best_pair = 0;
    read_usages(watch, false);
    watch->untouched = watch->untouched + pending < pending ? UINT64_MAX : watch->untouched + pending;
    for (unsigned i = 0; i < watch->count; i++) {
        struct guard_watched *watched = &watch->at[i];
        uint64_t usage = watch->use[i].usage;
        guard_pace_note(&watched->pace, usage, now);
        struct guard_outlook outlook = {.pending = pending,
                                        .growth = growth_of(watched, usage, now, watch->dump_ns)};
        struct guard_arming before = watched->arming;
        struct guard_verdict verdict =
            guard_decide(&watched->policy, &watched->arming, usage, &outlook, ticket, now);
        if (verdict.crossed) {
            note_fired(watched, &before, usage, ticket, now);
        }
        bool is_better = !best.crossed || (verdict.is_last && !best.is_last) ||
                         (verdict.is_last == best.is_last && is_nearer(watch, i, best_pair));
        if (verdict.crossed && is_better) {
            best = verdict;
            best_pair = i;
        }
    }
    if (best.crossed) {
        fill_find(watch, best_pair, best, find);
    }
    return best.crossed;
}

bool guard_watch_is_relieved(struct guard_watch *watch, struct guard_find *find) {
    const struct guard_watched *watched = find_same(watch, &find->pair);
    if (watched == NULL) {
        return false;
    }
    read_usages(watch, true);
    uint64_t usage = watch->use[watched - watch->at].usage;
    find->crossing.reading.usage = usage;
    return usage < find->crossing.threshold && find->expected < find->crossing.threshold - usage;
}

void guard_watch_note_dump(struct guard_watch *watch, int64_t took) {
    int64_t expected = took > watch->dump_ns / 2 ? took : watch->dump_ns / 2;
    watch->dump_ns = expected < DUMP_MAX_NS ? expected : DUMP_MAX_NS;
}

void guard_watch_settle(struct guard_watch *watch, uint32_t ticket, enum guard_outcome outcome, int64_t retry,
                        int64_t now) {
    for (unsigned i = 0; i < watch->count; i++) {
        guard_settle(&watch->at[i].arming, ticket, outcome, retry, now);
    }
}

void guard_watch_reset(struct guard_watch *watch) {
    for (unsigned i = 0; i < watch->count; i++) {
        watch->at[i].arming = (struct guard_arming){0};
        watch->at[i].pace = (struct guard_pace){0};
        watch->at[i].trend = (struct guard_trend){0};
        memset(watch->at[i].fired, 0, sizeof watch->at[i].fired);
    }
    watch->found_at = 0;
    watch->read_at = 0;
}

uint64_t guard_watch_distance(const struct guard_watch *watch) {
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < watch->count; i++) {
        uint64_t distance = guard_distance(&watch->at[i].policy, &watch->at[i].arming, watch->use[i].usage);
        least = distance < least ? distance : least;
    }
    return least;
}

/* How many processes of its size would make the usage of a pair. A reading costs microseconds: never too
 * many. */
static uint64_t crowd_of(const struct guard_watch *watch, unsigned pair) {
    enum { CROWD_MAX = 16 };
    uint64_t crowd = watch->resident != 0 ? watch->use[pair].usage / watch->resident : 1;
    return crowd < 1 ? 1 : crowd > CROWD_MAX ? CROWD_MAX : crowd;
}

/* Of a limit that others live under too. What they are about to take does not show yet in the usage, by which
 * a crowd is known: eight workers that were just forked make an eighth of the limit while each hands out this
 * share. */
enum { SHARE_AMONG_OTHERS = 64 };

uint64_t guard_watch_allowance(const struct guard_watch *watch) {
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < watch->count; i++) {
        uint64_t distance = guard_distance(&watch->at[i].policy, &watch->at[i].arming, watch->use[i].usage);
        uint64_t crowd = crowd_of(watch, i);
        uint64_t part = distance / 2 / crowd;
        uint64_t most = watch->at[i].pair.limit / SHARE_AMONG_OTHERS;
        part = part < most || (crowd == 1 && !watch->has_relatives) ? part : most;
        least = part < least ? part : least;
    }
    return least;
}

int64_t guard_watch_sleep(const struct guard_watch *watch) {
    int64_t least = guard_watch_is_wanted(watch) ? GUARD_SLEEP_MAX_NS : -1;
    for (unsigned i = 0; i < watch->count; i++) {
        const struct guard_watched *watched = &watch->at[i];
        uint64_t distance = guard_distance(&watched->policy, &watched->arming, watch->use[i].usage);
        int64_t sleep = guard_pace_sleep(&watched->pace, distance, watch->untouched);
        least = sleep < least ? sleep : least;
    }
    return least;
}

bool guard_watch_is_wanted(const struct guard_watch *watch) {
    return watch->wish.setting.kind != HP_LIMIT_OFF || watch->wish.set != 0;
}

uint64_t guard_watch_limit(const struct guard_watch *watch) {
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < watch->count; i++) {
        least = watch->at[i].pair.limit < least ? watch->at[i].pair.limit : least;
    }
    return least;
}
