// SPDX-License-Identifier: GPL-3.0-or-later
// How long to wait: Retry-After in every legal and illegal form (field case F-002), HTTP dates, and
// the headers beside them.
#include "fixture.h"

static int64_t after(str value, str date)
{
    int64_t ms = 0;
    return retry_after_parse(value, date, &ms) ? ms : -1;
}

static int64_t date_of(str text)
{
    int64_t ms = 0;
    return http_date_parse(text, &ms) ? ms : -1;
}

static int64_t hint_of(const struct http_response_headers *h)
{
    struct http_response in = { .status = 429, .complete = true, .body = S("{}"), .headers = *h };
    return fixture_parse(S("openai/gpt-4o-mini"), &in).retry_after_ms;
}

static void retry_after_is_seconds_or_a_date(void **s)
{
    (void)s;
    const str now = S("Wed, 21 Oct 2026 07:27:50 GMT");
    assert_int_equal(after(S("7"), now), 7000);
    assert_int_equal(after(S("Wed, 21 Oct 2026 07:28:00 GMT"), now), 10000);
    assert_int_equal(after(S("soon"), now), -1);
    assert_int_equal(after(S("-5"), now), -1);
    assert_int_equal(after(S("3600"), now), 3600000);
    assert_int_equal(after(S("0"), now), 0);
    assert_int_equal(after(S(" 2 "), now), 2000);
    assert_int_equal(after(S("1.5"), now), 1500);
    assert_int_equal(after(S("0.0001"), now), 1);
    assert_int_equal(after(S(""), now), -1);
    assert_int_equal(after(S("7 s"), now), -1);
    assert_int_equal(after(S("1e300"), now), -1);
    assert_int_equal(after(S("99999999999999999999"), now), -1);
    assert_int_equal(after(S("nan"), now), -1);
}

static void a_past_date_is_now_and_no_date_to_measure_is_no_hint(void **s)
{
    (void)s;
    const str then = S("Wed, 21 Oct 2026 07:28:00 GMT");
    assert_int_equal(after(then, S("Wed, 21 Oct 2026 08:00:00 GMT")), 0);
    assert_int_equal(after(then, S("")), -1);
    assert_int_equal(after(then, S("yesterday")), -1);
    assert_int_equal(after(S("Wed, 21 Oct 2099 07:28:00 GMT"), then), -1);
}

static void http_dates_have_three_forms(void **s)
{
    (void)s;
    // The example of RFC 9110, section 5.6.7, in its three forms.
    assert_int_equal(date_of(S("Sun, 06 Nov 1994 08:49:37 GMT")), 784111777000);
    assert_int_equal(date_of(S("Sunday, 06-Nov-94 08:49:37 GMT")), 784111777000);
    assert_int_equal(date_of(S("Sun Nov  6 08:49:37 1994")), 784111777000);
    assert_int_equal(date_of(S("Thu, 01 Jan 1970 00:00:00 GMT")), 0);
    assert_int_equal(date_of(S("Thu, 29 Feb 2024 12:00:00 GMT")), 1709208000000);
    assert_int_equal(date_of(S("Sat, 31 Dec 2016 23:59:60 GMT")), 1483228800000); // a leap second
    static const char *const bad[] = {
        "",
        "Sun",
        "Sun, 06 Nov 1994",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 PST",
        "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 anF 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT x",
        "Sun Nov 6 08:49:37",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(date_of(str_from(bad[i])), -1);
}

static void the_finer_header_goes_first(void **s)
{
    (void)s;
    assert_int_equal(hint_of(&(struct http_response_headers){ .retry_after = S("2"),
                                                              .retry_after_ms = S("1250") }),
                     1250);
    assert_int_equal(
        hint_of(&(struct http_response_headers){ .retry_after = S("2"), .retry_after_ms = S("x") }),
        2000);
    assert_int_equal(hint_of(&(struct http_response_headers){ 0 }), -1);
}

static void resets_count_when_nothing_remains(void **s)
{
    (void)s;
    struct http_response_headers h = { .remaining_requests = S("0"),
                                       .reset_requests = S("1s"),
                                       .remaining_tokens = S("0"),
                                       .reset_tokens = S("6m0s") };
    assert_int_equal(hint_of(&h), 360000);
    h.remaining_tokens = S("12");
    assert_int_equal(hint_of(&h), 1000);
    h.reset_requests = S("120ms");
    assert_int_equal(hint_of(&h), 120);
    h.reset_requests = S("1h2m3.5s");
    assert_int_equal(hint_of(&h), 3723500);
    h.reset_requests = S("20.4");
    assert_int_equal(hint_of(&h), -1);
    h.reset_requests = S("5 minutes");
    assert_int_equal(hint_of(&h), -1);
    h.remaining_requests = S("3");
    h.reset_requests = S("1s");
    assert_int_equal(hint_of(&h), -1);
}

static void a_reset_in_milliseconds_since_1970_is_measured_by_the_date(void **s)
{
    (void)s;
    struct http_response_headers h = { .ratelimit_reset = S("1000000060000"),
                                       .date = S("Sun, 09 Sep 2001 01:46:40 GMT") };
    assert_int_equal(hint_of(&h), 60000);
    h.ratelimit_reset = S("999999999999999999");
    assert_int_equal(hint_of(&h), -1);
    h.ratelimit_reset = S("1");
    assert_int_equal(hint_of(&h), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retry_after_is_seconds_or_a_date),
        cmocka_unit_test(a_past_date_is_now_and_no_date_to_measure_is_no_hint),
        cmocka_unit_test(http_dates_have_three_forms),
        cmocka_unit_test(the_finer_header_goes_first),
        cmocka_unit_test(resets_count_when_nothing_remains),
        cmocka_unit_test(a_reset_in_milliseconds_since_1970_is_measured_by_the_date),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
