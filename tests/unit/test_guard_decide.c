/* guard/decide: when to act. Usages are MiB, times ms, of a limit of 1000 MiB unless said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guard/decide.h"

#define MIB (UINT64_C(1) << 20)
#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

static const hp_option_thresholds usual = {3, {{true, 80}, {true, 90}, {true, 95}}};

struct bench {
    struct guard_policy policy;
    struct guard_arming arming;
    uint32_t ticket;
};

static struct bench bench(uint64_t limit_mib) {
    struct bench b = {.ticket = 0};
    assert_int_equal(guard_policy_make(&b.policy, &usual, limit_mib * MIB, true), 0);
    return b;
}

static struct guard_verdict at_growth(struct bench *b, int64_t ms, uint64_t usage, uint64_t pending,
                                      uint64_t growth) {
    struct guard_outlook outlook = {.pending = pending * MIB, .growth = growth * MIB};
    return guard_decide(&b->policy, &b->arming, usage * MIB, &outlook, ++b->ticket, HOUR + ms * MS);
}

static struct guard_verdict at(struct bench *b, int64_t ms, uint64_t usage, uint64_t pending) {
    return at_growth(b, ms, usage, pending, 0);
}

/* What a step says: '-' nothing, '8' '9' 'L' the three thresholds, in lower case when only predicted. */
static char said(struct guard_verdict verdict) {
    static const char real[] = "89L";
    static const char predicted[] = "efl";
    return !verdict.crossed ? '-' : verdict.is_predicted ? predicted[verdict.rung] : real[verdict.rung];
}

struct step {
    int64_t ms;
    uint64_t usage;
    uint64_t on_top; /* pending, or growth while a dump is made */
};

struct row {
    const char *what;
    const char *says;
    struct step steps[12];
};

static const struct row rows[] = {
    {"below", "--", {{0, 0, 0}, {1, 799, 0}}},
    {"each once", "8-9-L-", {{0, 800, 0}, {1, 850, 0}, {2, 900, 0}, {3, 949, 0}, {4, 950, 0}, {5, 990, 0}}},
    {"several at once: one, the highest", "L--", {{0, 960, 0}, {1, 901, 0}, {2, 960, 0}}},
    {"not armed again at threshold less 5 %", "8---", {{0, 800, 0}, {1, 750, 0}, {2, 810, 0}, {3, 749, 0}}},
    {"armed again below threshold less 5 %", "8-8", {{0, 800, 0}, {1, 749, 0}, {2, 800, 0}}},
    {"the last alone is armed again", "L-L", {{0, 990, 0}, {1, 899, 0}, {2, 950, 0}}},
    {"over the limit", "L-", {{0, 2000, 0}, {1, 5000, 0}}},
    {"P16 G14 a large request is seen before it is touched", "l", {{0, 200, 900}}},
    {"a large request short of a threshold", "-", {{0, 200, 500}}},
    {"a predicted one of the middle", "f", {{0, 500, 400}}},
    {"small requests are not predicted", "-8", {{0, 799, 10}, {1, 800, 10}}},
    {"P15 a prediction that does not come true, in a loop",
     "l---l---l-",
     {{0, 100, 2000},
      {1, 100, 2000},
      {1000, 100, 2000},
      {29999, 100, 2000},
      {30000, 100, 2000},
      {60000, 100, 2000},
      {80000, 100, 2000},
      {89999, 100, 2000},
      {90000, 100, 2000},
      {209999, 100, 2000}}},
    {"predicted, then real: only the last one again",
     "l--L",
     {{0, 200, 900}, {10, 800, 0}, {20, 900, 0}, {30, 950, 0}}},
    {"predicted, real much later: all of them",
     "l89L",
     {{0, 200, 900}, {20000, 800, 0}, {20001, 900, 0}, {20002, 950, 0}}},
    {"reached and predicted at once: the higher", "l-", {{0, 810, 500}, {1, 810, 500}}},
    {"pending beyond 64 bits", "l", {{0, 200, (UINT64_MAX >> 20) - 1}}},
};

static const struct row growth_rows[] = {
    {"growth that a dump would race", "l-", {{0, 400, 550}, {1, 410, 550}}},
    {"growth short of the last threshold", "--8", {{0, 400, 549}, {1, 790, 150}, {2, 800, 149}}},
    {"growth beyond 64 bits", "l", {{0, 200, (UINT64_MAX >> 20) - 1}}},
    {"slow growth changes nothing, however near",
     "8-9-L-",
     {{0, 800, 12}, {1, 890, 12}, {2, 940, 12}, {3, 949, 12}, {4, 950, 12}, {5, 960, 12}}},
    {"faster than the room above can hold", "9l", {{0, 940, 9}, {1, 940, 13}}},
    {"growth foreseen, then real: only the last one again",
     "l--L-",
     {{0, 500, 500}, {10, 810, 300}, {20, 910, 100}, {30, 950, 100}, {40, 980, 100}}},
    {"P15 growth that stops, again and again",
     "l--l--l-",
     {{0, 500, 500},
      {1, 600, 500},
      {29999, 600, 500},
      {30000, 600, 500},
      {60000, 600, 500},
      {89999, 600, 500},
      {90000, 600, 500},
      {209999, 600, 500}}},
    {"growth is for the last one: no other is foreseen in its place",
     "l---",
     {{0, 500, 500}, {10, 810, 0}, {20, 700, 0}, {30, 700, 300}}},
    {"growth after the last threshold", "L--", {{0, 960, 100}, {1, 970, 100}, {2, 910, 100}}},
};

static void play(const struct row *row, bool grows) {
    struct bench b = bench(1000);
    for (size_t j = 0; row->says[j] != '\0'; j++) {
        const struct step *s = &row->steps[j];
        char says =
            said(grows ? at_growth(&b, s->ms, s->usage, 0, s->on_top) : at(&b, s->ms, s->usage, s->on_top));
        if (says != row->says[j]) {
            fail_msg("%s: step %zu says %c, not %c", row->what, j, says, row->says[j]);
        }
    }
}

static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        play(&rows[i], false);
    }
}

static void test_growth_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof growth_rows / sizeof growth_rows[0]; i++) {
        play(&growth_rows[i], true);
    }
}

static void test_last_is_marked(void **state) {
    (void)state;
    struct bench b = bench(1000);
    assert_false(at(&b, 0, 900, 0).is_last);
    assert_true(at(&b, 1, 950, 0).is_last);
    b = bench(1000);
    b.policy.kills = false; /* memory.high: abort, exit and the gate are not for it */
    assert_true(at(&b, 0, 950, 0).crossed);
    b = bench(1000);
    b.policy.kills = false;
    assert_false(at(&b, 0, 950, 0).is_last);
}

static void test_policy_sorts_and_drops(void **state) {
    (void)state;
    const hp_option_thresholds given = {
        6,
        {{false, 700 * MIB}, {true, 90}, {false, 900 * MIB}, {true, 10}, {false, 2000 * MIB}, {true, 100}}};
    struct guard_policy policy;
    assert_int_equal(guard_policy_make(&policy, &given, 1000 * MIB, true), 1);
    assert_int_equal(policy.count, 4);
    assert_int_equal(policy.at[0], 100 * MIB);
    assert_int_equal(policy.at[1], 700 * MIB);
    assert_int_equal(policy.at[2], 900 * MIB);
    assert_int_equal(policy.at[3], 1000 * MIB);
    assert_int_equal(guard_policy_percent(&policy, 1), 70);
    assert_int_equal(guard_policy_percent(&policy, 3), 100);
}

static void test_policy_falls_back(void **state) {
    (void)state;
    const hp_option_thresholds given = {1, {{false, 2000 * MIB}}};
    struct guard_policy policy;
    assert_int_equal(guard_policy_make(&policy, &given, 1000 * MIB, true), 1);
    assert_int_equal(policy.count, 3);
    assert_int_equal(policy.at[2], 950 * MIB);
}

static void test_G1_percent_of_odd_limits(void **state) {
    (void)state;
    const uint64_t limits[] = {128000000,      128 * MIB,           42, 100, UINT64_MAX,
                               UINT64_MAX - 1, 9223372036854771712U};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct guard_policy policy;
        (void)guard_policy_make(&policy, &usual, limits[i], true);
        for (unsigned r = 0; r < 3; r++) {
            unsigned __int128 exact = (unsigned __int128)limits[i] * usual.at[r].value / 100;
            assert_true(policy.at[r] == (uint64_t)exact);
        }
        if (limits[i] > 100) {
            assert_int_equal(guard_policy_percent(&policy, 0), 80);
            assert_int_equal(guard_policy_percent(&policy, 2), 95);
        }
    }
}

/* Runs a usage over time with a job for each crossing that ends well; counts the dumps. */
struct hour {
    struct bench b;
    struct guard_budget budget;
    unsigned dumps;
    unsigned last_dumps;
    uint64_t at_last_dump;
};

static void hour_step(struct hour *h, int64_t ms, uint64_t usage) {
    struct guard_verdict verdict = at(&h->b, ms, usage, 0);
    if (!verdict.crossed) {
        return;
    }
    enum guard_token token = verdict.is_last ? GUARD_TOKEN_LAST : GUARD_TOKEN_LOWER;
    int64_t retry = verdict.is_record ? 0 : guard_budget_take(&h->budget, token, HOUR + ms * MS);
    guard_settle(&h->b.arming, h->b.ticket, retry != 0 ? GUARD_POSTPONED : GUARD_DONE, retry, HOUR + ms * MS);
    if (retry == 0) {
        h->dumps++;
        h->last_dumps += verdict.is_last;
        h->at_last_dump = usage;
    }
}

static void test_P15_sawtooth_for_an_hour(void **state) {
    (void)state;
    struct hour h = {.b = bench(1000)};
    for (int64_t ms = 0; ms < 3600 * 1000; ms += 100) { /* 600..990 MiB, four seconds a tooth */
        hour_step(&h, ms, 600 + (uint64_t)(ms / 100 % 40) * 10);
    }
    assert_in_range(h.dumps, 360, 8 + 60 + 4 + 360);
    assert_in_range(h.last_dumps, 300, 4 + 360);
}

static void test_P15_last_threshold_has_its_own_tokens(void **state) {
    (void)state;
    struct hour h = {.b = bench(1000)};
    for (int64_t ms = 0; ms < 600 * 1000; ms += 500) { /* across 80 % and 90 % only */
        hour_step(&h, ms, ms / 500 % 2 == 0 ? 600 : 910);
    }
    assert_int_equal(h.last_dumps, 0);
    hour_step(&h, 600 * 1000, 960);
    assert_int_equal(h.last_dumps, 1);
}

static void test_P16_slow_climb_leaves_a_late_dump(void **state) {
    (void)state;
    struct hour h = {.b = bench(1000)};
    for (int64_t ms = 0; ms < 3600 * 1000; ms += 1000) {
        hour_step(&h, ms, 800 + (uint64_t)ms * 190 / 3600000);
    }
    /* 800, 900, 950, and from there a quarter of what is left each: 962.5, 971.9, 978.9, 984.2, 988.2 */
    assert_int_equal(h.dumps, 3 + 5);
    assert_true(990 - h.at_last_dump <= 2);
}

/* One tooth: from 600 MiB to `crest` and back, half a second. Returns when it ends. */
static int64_t tooth(struct hour *h, int64_t ms, uint64_t crest) {
    for (int step = 0; step < 5; step++) {
        hour_step(h, ms + step * 50, 600 + (crest - 600) * (uint64_t)step / 4);
        hour_step(h, ms + 500 - step * 50, 600 + (crest - 600) * (uint64_t)step / 4);
    }
    return ms + 500;
}

/* The tokens are used up, and then it is no tooth but the end. */
static void test_P15_a_leak_after_a_sawtooth(void **state) {
    (void)state;
    struct hour h = {.b = bench(1000)};
    int64_t ms = 0;
    for (int i = 0; i < 19; i++) {
        ms = tooth(&h, ms, 965);
    }
    unsigned before = h.dumps;
    ms = tooth(&h, ms, 967); /* a little higher is no record */
    assert_int_equal(h.dumps, before);
    for (uint64_t usage = 600; usage < 1000; usage += 5) {
        hour_step(&h, ms++, usage);
    }
    assert_true(h.dumps > before);
    assert_in_range(h.at_last_dump, 976, 999); /* 967 and a quarter of the 33 to the limit */
}

static void test_crests_are_forgotten(void **state) {
    (void)state;
    struct bench b = bench(1000);
    assert_int_equal(said(at(&b, 0, 960, 0)), 'L');
    guard_settle(&b.arming, b.ticket, GUARD_POSTPONED, HOUR + 60 * MINUTE, HOUR);
    assert_int_equal(said(at(&b, 1000, 969, 0)), '-');
    assert_int_equal(said(at(&b, 2000, 600, 0)), '-'); /* 969 was survived */
    assert_int_equal(said(at(&b, 3000, 975, 0)), '-');
    assert_int_equal(said(at(&b, 4000, 600, 0)), '-');  /* and 975 */
    assert_int_equal(said(at(&b, 61000, 975, 0)), '-'); /* the minute before */
    assert_int_equal(said(at(&b, 62000, 600, 0)), '-');
    assert_int_equal(said(at(&b, 182000, 600, 0)), '-');
    assert_int_equal(said(at(&b, 182001, 969, 0)), '-');
    assert_int_equal(said(at(&b, 182002, 970, 0)), 'L');
}

/* Between the threshold and the limit for hours: what was dumped when it was crossed says nothing of the end.
 */
static void test_a_record_is_dumped_again(void **state) {
    (void)state;
    struct bench b = bench(1000);
    assert_int_equal(said(at(&b, 0, 950, 0)), 'L');
    guard_settle(&b.arming, b.ticket, GUARD_DONE, 0, HOUR);
    assert_int_equal(said(at(&b, 9999, 980, 0)), '-'); /* the dump is fresh */
    assert_int_equal(said(at(&b, 10000, 962, 0)), '-');
    assert_int_equal(guard_distance(&b.policy, &b.arming, 962 * MIB), MIB / 2);
    struct guard_verdict verdict = at(&b, 10001, 963, 0);
    assert_int_equal(said(verdict), 'L');
    assert_true(verdict.is_last && verdict.is_record);
    assert_int_equal(said(at(&b, 30000, 990, 0)), '-'); /* it is on its way */
    guard_settle(&b.arming, b.ticket - 1, GUARD_DONE, 0, HOUR + 30000 * MS);
    assert_int_equal(said(at(&b, 50000, 992, 0)), '-'); /* 990 when it was done: 992.5 is the next */
    assert_int_equal(said(at(&b, 50001, 993, 0)), 'L');
    guard_settle(&b.arming, b.ticket, GUARD_DONE, 0, HOUR + 50001 * MS);
    assert_int_equal(said(at(&b, 80000, 2000, 0)), 'L'); /* above the limit: the last one */
    guard_settle(&b.arming, b.ticket, GUARD_DONE, 0, HOUR + 80000 * MS);
    assert_int_equal(said(at(&b, 100000, 3000, 0)), '-');
    b = bench(1000);
    b.policy.kills = false; /* memory.high: one may live above it */
    (void)at(&b, 0, 950, 0);
    guard_settle(&b.arming, b.ticket, GUARD_DONE, 0, HOUR);
    assert_int_equal(said(at(&b, 20000, 999, 0)), '-');
}

static void test_a_record_that_fails_is_not_tried_in_a_loop(void **state) {
    (void)state;
    struct bench b = bench(1000);
    assert_int_equal(said(at(&b, 0, 960, 0)), 'L');
    guard_settle(&b.arming, b.ticket, GUARD_FAILED, 0, HOUR);
    assert_int_equal(said(at(&b, 1, 969, 0)), '-');
    assert_int_equal(said(at(&b, 2, 970, 0)), 'L'); /* a quarter of the 40 that were left */
    guard_settle(&b.arming, b.ticket, GUARD_FAILED, 0, HOUR + 2 * MS);
    assert_int_equal(said(at(&b, 3, 970, 0)), '-');
    assert_int_equal(said(at(&b, 2002, 970, 0)), 'L'); /* after 2 s, as ever */
}

static void test_a_record_is_foreseen(void **state) {
    (void)state;
    struct bench b = bench(1000);
    assert_int_equal(said(at(&b, 0, 960, 0)), 'L');
    guard_settle(&b.arming, b.ticket, GUARD_POSTPONED, HOUR + MINUTE, HOUR);
    assert_int_equal(said(at(&b, 1, 600, 0)), '-');
    assert_int_equal(said(at_growth(&b, 2, 700, 0, 269)), '-');
    struct guard_verdict verdict = at_growth(&b, 3, 700, 0, 270);
    assert_int_equal(said(verdict), 'l');
    assert_true(verdict.is_record);
}

static void test_a_dump_without_token_is_late_not_lost(void **state) {
    (void)state;
    struct hour h = {.b = bench(1000)};
    h.budget.bucket[GUARD_TOKEN_LAST] = (struct guard_bucket){.used = 4, .since = HOUR};
    hour_step(&h, 0, 990);
    assert_false(at(&h.b, 9999, 990, 0).crossed); /* nor is purging tried in a loop */
    assert_int_equal(h.last_dumps, 0);
    hour_step(&h, 10000, 990);
    assert_int_equal(h.last_dumps, 1);
}

static void test_failed_dump_is_tried_again(void **state) {
    (void)state;
    struct bench b = bench(1000);
    int64_t pauses[] = {1000, 2000, 4000, 8000, 16000, 32000, 64000, 64000};
    int64_t ms = 0;
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        assert_int_equal(said(at(&b, ms, 810, 0)), '8');
        guard_settle(&b.arming, b.ticket, GUARD_FAILED, 0, HOUR + ms * MS);
        assert_int_equal(said(at(&b, ms + pauses[i] - 1, 810, 0)), '-');
        ms += pauses[i];
    }
    assert_int_equal(said(at(&b, ms, 910, 0)), '9'); /* the next one need not wait for it */
    b = bench(1000);
    assert_int_equal(said(at(&b, 0, 810, 0)), '8');
    guard_settle(&b.arming, b.ticket, GUARD_FAILED, 0, HOUR);
    assert_int_equal(said(at(&b, 1, 910, 0)), '9');
}

static void test_relief_arms_again_but_only_once(void **state) {
    (void)state;
    struct bench b = bench(1000);
    struct guard_verdict verdict = at(&b, 0, 960, 0);
    assert_false(verdict.no_relief);
    guard_settle(&b.arming, b.ticket, GUARD_RELIEVED, 0, HOUR);
    verdict = at(&b, 500, 960, 0);
    assert_int_equal(said(verdict), 'L');
    assert_true(verdict.no_relief); /* no purge in place of a dump twice in a second */
    guard_settle(&b.arming, b.ticket, GUARD_DONE, 0, HOUR);
    assert_int_equal(said(at(&b, 501, 960, 0)), '-');
    b = bench(1000);
    (void)at(&b, 0, 960, 0);
    guard_settle(&b.arming, b.ticket, GUARD_RELIEVED, 0, HOUR);
    assert_false(at(&b, 1000, 960, 0).no_relief);
}

static void test_settling_concerns_its_own_job_only(void **state) {
    (void)state;
    struct bench b = bench(1000);
    (void)at(&b, 0, 810, 0);
    uint32_t first = b.ticket;
    (void)at(&b, 1, 960, 0);
    guard_settle(&b.arming, b.ticket, GUARD_DONE, 0, HOUR);
    guard_settle(&b.arming, first, GUARD_FAILED, 0, HOUR);
    assert_true(b.arming.rung[2].fired);
    assert_true(b.arming.rung[1].fired);
    assert_false(b.arming.rung[0].fired);
}

static void test_distance(void **state) {
    (void)state;
    struct bench b = bench(1000);
    assert_int_equal(guard_distance(&b.policy, &b.arming, 100 * MIB), 700 * MIB);
    (void)at(&b, 0, 840, 0);
    /* 80 % can cross again after a fall to 75 % and a climb: 50 MiB, less than the 60 to 90 % */
    assert_int_equal(guard_distance(&b.policy, &b.arming, 840 * MIB), 50 * MIB);
    assert_int_equal(guard_distance(&b.policy, &b.arming, 890 * MIB), 10 * MIB);
    (void)at(&b, 1, 990, 0);
    assert_int_equal(guard_distance(&b.policy, &b.arming, 990 * MIB), 50 * MIB);
    assert_int_equal(guard_policy_floor(&b.policy), 750 * MIB);
}

static void test_low_threshold_can_be_armed_again(void **state) {
    (void)state;
    const hp_option_thresholds low = {1, {{true, 2}}};
    struct bench b = {.ticket = 0};
    (void)guard_policy_make(&b.policy, &low, 1000 * MIB, true);
    assert_true(at(&b, 0, 20, 0).crossed);
    assert_false(at(&b, 1, 12, 0).crossed);
    assert_false(at(&b, 2, 20, 0).crossed);
    assert_false(at(&b, 3, 9, 0).crossed);
    assert_true(at(&b, 4, 20, 0).crossed);
}

static void test_budget_refills(void **state) {
    (void)state;
    struct guard_budget budget = {0};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_LOWER, HOUR), 0);
    }
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_LOWER, HOUR + SECOND), HOUR + MINUTE);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_LAST, HOUR + SECOND), 0);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_LOWER, HOUR + MINUTE), 0);
    assert_int_not_equal(guard_budget_take(&budget, GUARD_TOKEN_LOWER, HOUR + MINUTE), 0);
    guard_budget_return(&budget, GUARD_TOKEN_LOWER);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_LOWER, HOUR + MINUTE), 0);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_LOWER, 10 * HOUR), 0);
    }
    assert_int_not_equal(guard_budget_take(&budget, GUARD_TOKEN_LOWER, 10 * HOUR), 0);
}

static void test_G25_refused_memory_has_its_own_tokens(void **state) {
    (void)state;
    struct guard_budget budget = {0};
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_REFUSED, HOUR), 0);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_REFUSED, HOUR), 0);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_REFUSED, HOUR + SECOND), HOUR + MINUTE);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_LAST, HOUR + SECOND), 0);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_REFUSED, HOUR + MINUTE), 0);
    assert_int_equal(guard_budget_take(&budget, GUARD_TOKEN_REFUSED, HOUR + MINUTE), HOUR + 2 * MINUTE);
}

static void test_growth_counts_where_it_kills(void **state) {
    (void)state;
    struct bench b = bench(1000);
    struct guard_verdict verdict = at_growth(&b, 0, 500, 0, 500);
    assert_true(verdict.crossed && verdict.is_last && verdict.is_predicted);
    assert_int_equal(verdict.expected, 500 * MIB);
    b = bench(1000);
    b.policy.kills = false; /* memory.high: nothing races */
    assert_false(at_growth(&b, 0, 500, 0, 500).crossed);
    const hp_option_thresholds full = {1, {{true, 100}}};
    b = (struct bench){.ticket = 0};
    (void)guard_policy_make(&b.policy, &full, 1000 * MIB, true); /* no room above it: all growth counts */
    assert_true(at_growth(&b, 0, 999, 0, 1).crossed);
    assert_int_equal(at(&b, 1, 1000, 0).expected, 0);
    b = bench(1000); /* pending and growth at once: the more */
    assert_int_equal(at_growth(&b, 0, 500, 400, 500).expected, 500 * MIB);
    assert_int_equal(at_growth(&b, 31000, 500, 460, 300).expected, 460 * MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_growth_table),
        cmocka_unit_test(test_last_is_marked),
        cmocka_unit_test(test_policy_sorts_and_drops),
        cmocka_unit_test(test_policy_falls_back),
        cmocka_unit_test(test_G1_percent_of_odd_limits),
        cmocka_unit_test(test_P15_sawtooth_for_an_hour),
        cmocka_unit_test(test_P15_last_threshold_has_its_own_tokens),
        cmocka_unit_test(test_P16_slow_climb_leaves_a_late_dump),
        cmocka_unit_test(test_P15_a_leak_after_a_sawtooth),
        cmocka_unit_test(test_crests_are_forgotten),
        cmocka_unit_test(test_a_record_is_dumped_again),
        cmocka_unit_test(test_a_record_that_fails_is_not_tried_in_a_loop),
        cmocka_unit_test(test_a_record_is_foreseen),
        cmocka_unit_test(test_a_dump_without_token_is_late_not_lost),
        cmocka_unit_test(test_failed_dump_is_tried_again),
        cmocka_unit_test(test_relief_arms_again_but_only_once),
        cmocka_unit_test(test_settling_concerns_its_own_job_only),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_low_threshold_can_be_armed_again),
        cmocka_unit_test(test_budget_refills),
        cmocka_unit_test(test_G25_refused_memory_has_its_own_tokens),
        cmocka_unit_test(test_growth_counts_where_it_kills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
