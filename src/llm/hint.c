// SPDX-License-Identifier: GPL-3.0-or-later
// hint.c - how long a server asks us to wait: Retry-After in its legal forms, its relatives, and
// the dates in it (RFC 9110, sections 5.6.7 and 10.2.3). Dates are measured against the response's
// own Date header, so that a wrong local clock does no harm. What cannot be read is no hint.
#include "llm/internal.h"

enum { DAY_S = 86400 };
static const double hint_max_ms = 366.0 * DAY_S * 1000; // beyond: garbage

// ---- dates ----

// Days since 1970-01-01 of a proleptic Gregorian date (H. Hinnant, "chrono-compatible low-level
// date algorithms", days_from_civil).
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146097 + days - 719468;
}

struct date {
    int64_t year, month, day, second; // second of the day
};

static bool month_parse(str name, int64_t *month)
{
    static const str names = T("JanFebMarAprMayJunJulAugSepOctNovDec");
    ptrdiff_t at = name.len == 3 ? str_find(names, name) : -1;
    *month = at / 3 + 1;
    return at >= 0 && at % 3 == 0;
}

static bool time_parse(str text, int64_t *second)
{
    int64_t h = 0;
    int64_t m = 0;
    int64_t s = 0;
    if (text.len != 8 || !str_to_int(str_cut(&text, ':'), 0, 23, &h) ||
        !str_to_int(str_cut(&text, ':'), 0, 59, &m) || !str_to_int(text, 0, 60, &s))
        return false;
    *second = h * 3600 + m * 60 + s;
    return true;
}

// The next word; several blanks count as one, as asctime writes them.
static str word_cut(str *rest)
{
    *rest = str_strip_start(*rest);
    return str_cut(rest, ' ');
}

// "21 Oct 2026 07:28:00 GMT"
static bool fixdate_parse(str rest, struct date *d)
{
    return str_to_int(word_cut(&rest), 1, 31, &d->day) && month_parse(word_cut(&rest), &d->month) &&
           str_to_int(word_cut(&rest), 1970, 9999, &d->year) &&
           time_parse(word_cut(&rest), &d->second) && str_eq(rest, S("GMT"));
}

// "21-Oct-26 07:28:00 GMT": two digits of a year, of this century as RFC 9110 wants it read now.
static bool rfc850_parse(str rest, struct date *d)
{
    str date = word_cut(&rest);
    if (!str_to_int(str_cut(&date, '-'), 1, 31, &d->day) ||
        !month_parse(str_cut(&date, '-'), &d->month) || !str_to_int(date, 0, 99, &d->year))
        return false;
    d->year += d->year < 70 ? 2000 : 1900;
    return time_parse(word_cut(&rest), &d->second) && str_eq(rest, S("GMT"));
}

// "Oct 21 07:28:00 2026"
static bool asctime_parse(str rest, struct date *d)
{
    return month_parse(word_cut(&rest), &d->month) && str_to_int(word_cut(&rest), 1, 31, &d->day) &&
           time_parse(word_cut(&rest), &d->second) && str_to_int(rest, 1970, 9999, &d->year);
}

bool http_date_parse(str text, int64_t *unix_ms)
{
    str rest = str_trim(text);
    str day_name = word_cut(&rest);
    struct date d = { 0 };
    bool good = false;
    if (!str_ends(day_name, S(",")))
        good = asctime_parse(rest, &d);
    else if (day_name.len == 4)
        good = fixdate_parse(rest, &d);
    else
        good = rfc850_parse(rest, &d);
    if (good)
        *unix_ms = (days_from_civil(d.year, d.month, d.day) * DAY_S + d.second) * 1000;
    return good;
}

// ---- hints ----

// Rounded up, so that a hint is never cut short.
static int64_t whole_ms(double ms)
{
    int64_t whole = (int64_t)ms;
    return (double)whole < ms ? whole + 1 : whole;
}

// A number of units of `unit_ms`, rounded up.
static bool amount_parse(str value, double unit_ms, int64_t *ms)
{
    double amount = 0;
    if (!str_to_double(value, &amount) || amount < 0 || amount * unit_ms > hint_max_ms)
        return false;
    *ms = whole_ms(amount * unit_ms);
    return true;
}

// From the response's date to `at`, 0 where that has passed.
static bool wait_until(int64_t at_ms, str date_header, int64_t *ms)
{
    int64_t now = 0;
    if (!http_date_parse(date_header, &now) || (double)(at_ms - now) > hint_max_ms)
        return false;
    *ms = at_ms > now ? at_ms - now : 0;
    return true;
}

bool retry_after_parse(str value, str date_header, int64_t *ms)
{
    value = str_trim(value);
    int64_t at = 0;
    if (amount_parse(value, 1000, ms))
        return true;
    return http_date_parse(value, &at) && wait_until(at, date_header, ms);
}

bool duration_parse(str text, int64_t *ms)
{
    static const struct {
        str name;
        double ms;
    } units[] = { { T("ms"), 1 },
                  { T("s"), 1000 },
                  { T("m"), 60e3 },
                  { T("h"), 3600e3 },
                  { T("d"), DAY_S * 1e3 } };
    double total = 0;
    text = str_trim(text);
    if (text.len == 0)
        return false;
    while (text.len > 0) {
        size_t n = 0;
        while (n < text.len && str_find_char(S("0123456789."), text.data[n]) >= 0)
            n++;
        double amount = 0;
        if (!str_to_double(str_sub(text, 0, n), &amount))
            return false;
        text = str_sub(text, n, text.len);
        size_t u = 0;
        while (u < ARRAY_LEN(units) && !str_starts(text, units[u].name))
            u++;
        if (u == ARRAY_LEN(units))
            return false;
        total += amount * units[u].ms;
        text = str_sub(text, units[u].name.len, text.len);
    }
    if (total > hint_max_ms)
        return false;
    *ms = whole_ms(total);
    return true;
}

// "2026-10-21T07:28:00Z", with or without parts of a second: RFC 3339 in UTC (section 7).
static bool rfc3339_parse(str text, int64_t *unix_ms)
{
    struct date d = { 0 };
    str time = str_trim(text);
    str day = str_cut(&time, 'T');
    if (!str_ends(time, S("Z")) || !str_to_int(str_cut(&day, '-'), 1970, 9999, &d.year) ||
        !str_to_int(str_cut(&day, '-'), 1, 12, &d.month) || !str_to_int(day, 1, 31, &d.day) ||
        !time_parse(str_sub(time, 0, 8), &d.second))
        return false;
    *unix_ms = (days_from_civil(d.year, d.month, d.day) * DAY_S + d.second) * 1000;
    return true;
}

// A reset is a duration or a date.
static bool reset_parse(str value, str date_header, int64_t *ms)
{
    int64_t at = 0;
    return duration_parse(value, ms) ||
           (rfc3339_parse(value, &at) && wait_until(at, date_header, ms));
}

// Whether a remaining count is told and under what is needed.
static bool is_short(str remaining, int64_t needed)
{
    int64_t left = 0;
    return str_to_int(str_trim(remaining), 0, INT64_MAX, &left) && left < needed;
}

int64_t rate_pause_ms(const struct http_response_headers *h, int64_t tok)
{
    int64_t longest = -1;
    int64_t ms = 0;
    if (is_short(h->remaining_requests, 1) && reset_parse(h->reset_requests, h->date, &ms))
        longest = ms;
    if (is_short(h->remaining_tokens, tok > 0 ? tok : 1) &&
        reset_parse(h->reset_tokens, h->date, &ms) && ms > longest)
        longest = ms;
    return longest;
}

int64_t retry_hint_ms(const struct http_response_headers *h)
{
    int64_t ms = 0;
    int64_t at = 0;
    if (amount_parse(str_trim(h->retry_after_ms), 1, &ms))
        return ms;
    if (retry_after_parse(h->retry_after, h->date, &ms))
        return ms;
    if (str_to_int(str_trim(h->ratelimit_reset), 0, INT64_MAX / 2, &at) &&
        wait_until(at, h->date, &ms))
        return ms;
    return rate_pause_ms(h, 1);
}
