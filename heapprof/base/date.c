#include "heapprof/base/date.h"

/* The civil date of a day since the epoch: years begin in March, so that the leap day is a year's last, and
 * eras have 400 years (H. Hinnant, "chrono-compatible low-level date algorithms"). */
static void set_day(struct hp_date *date, uint64_t days_since_epoch) {
    uint64_t days = days_since_epoch + 719468; /* since 0000-03-01 */
    uint64_t era = days / 146097;
    uint64_t day_of_era = days % 146097;
    uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint64_t march_month = (5 * day_of_year + 2) / 153;
    date->day = day_of_year - (153 * march_month + 2) / 5 + 1;
    date->month = march_month < 10 ? march_month + 3 : march_month - 9;
    date->year = year_of_era + era * 400 + (date->month <= 2);
}

struct hp_date hp_date_of(int64_t wall_ns) {
    uint64_t ms = (uint64_t)wall_ns / 1000000;
    uint64_t s = ms / 1000;
    struct hp_date date = {
        .hour = s / 3600 % 24, .minute = s / 60 % 60, .second = s % 60, .millisecond = ms % 1000};
    set_day(&date, s / 86400);
    return date;
}
