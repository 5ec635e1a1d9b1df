// SPDX-License-Identifier: GPL-3.0-or-later
// The controller of an endpoint, section 13 of the endpoint specification: permits that grow and
// shrink, pauses, pacing, the breaker; and a server that bears so much, played with its own clock.
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "pump/gate.h"

static struct gates *gates_of(struct gates_opts opts)
{
    struct err err = { 0 };
    struct gates *g = gates_new(&opts, 2, &err);
    assert_non_null(g);
    assert_int_equal(gates_find(g, S("http://a"), S("m")), 0);
    return g;
}

static bool enter(struct gates *g, int64_t now_ms)
{
    int64_t at;
    return gate_enter(g, &(struct gate_ask){ .now_ms = now_ms }, &at) == GATE_OPEN;
}

static int enter_all(struct gates *g, int64_t now_ms)
{
    int n = 0;
    while (enter(g, now_ms))
        n++;
    return n;
}

static int64_t leave(struct gates *g, int64_t sent_ms, int64_t now_ms, enum gate_result result)
{
    return gate_leave(g,
                      &(struct gate_exit){ .sent_ms = sent_ms, .now_ms = now_ms, .result = result })
        .opened_ms;
}

static void leave_n(struct gates *g, int n, int64_t sent_ms, int64_t now_ms,
                    enum gate_result result)
{
    for (int i = 0; i < n; i++)
        leave(g, sent_ms, now_ms, result);
}

static double limit_of(struct gates *g)
{
    return gate_look(g, 0, 0).limit;
}

static void it_starts_with_four_and_doubles(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .limit = 20 });
    static const int wanted[] = { 4, 8, 16, 20, 20 };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_int_equal(enter_all(g, 1000 + (int64_t)i), wanted[i]);
        leave_n(g, wanted[i], 1000, 1001 + (int64_t)i, GATE_GOOD);
    }
    gates_free(g);
    g = gates_of((struct gates_opts){ .limit = 20, .fixed = true });
    assert_int_equal(enter_all(g, 1000), 20);
    gates_free(g);
    g = gates_of((struct gates_opts){ .limit = 2 });
    assert_int_equal(enter_all(g, 1000), 2);
    gates_free(g);
}

// Half for a rate limit, four fifths for an overload; once for all that was in flight.
static void it_is_cut_once_an_epoch(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .limit = 40, .fixed = true });
    assert_int_equal(enter_all(g, 1000), 40);
    leave_n(g, 40, 1000, 1100, GATE_OVERLOAD);
    assert_true(limit_of(g) == 32);
    assert_int_equal(enter_all(g, 1200), 32);
    leave_n(g, 32, 1200, 1300, GATE_OVERLOAD); // sent after the cut, but within two seconds of it
    assert_true(limit_of(g) == 32);
    assert_int_equal(enter_all(g, 4000), 32);
    leave_n(g, 32, 4000, 4100, GATE_RATE_LIMIT);
    assert_true(limit_of(g) == 16);
    for (int64_t t = 20000; t < 300000; t += 15000) {
        assert_true(enter(g, t));
        leave(g, t, t + 100, GATE_RATE_LIMIT);
    }
    assert_true(limit_of(g) == 1); // never less
    gates_free(g);
}

static void after_a_cut_it_grows_by_one_while_it_is_used(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .limit = 8, .fixed = true });
    assert_int_equal(enter_all(g, 0), 8);
    leave(g, 0, 100, GATE_OVERLOAD);
    leave(g, 0, 100, GATE_OVERLOAD);
    leave_n(g, 6, 0, 200, GATE_GOOD);
    assert_true(limit_of(g) == 6.4); // cools down
    assert_int_equal(enter_all(g, 3000), 6);
    leave_n(g, 6, 3000, 3100, GATE_GOOD);
    assert_true(limit_of(g) == 7.4); // six answers of six at once
    assert_int_equal(enter_all(g, 3200), 7);
    leave_n(g, 7, 3200, 3300, GATE_GOOD);
    assert_true(limit_of(g) == 8); // the most
    for (int i = 0; i < 50; i++) { // one at a time needs no more
        assert_true(enter(g, 4000 + i));
        leave(g, 4000 + i, 4001 + i, GATE_GOOD);
    }
    assert_true(limit_of(g) == 8);
    gates_free(g);
}

static void a_pause_holds_everybody(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ 0 });
    int64_t at = 0;
    assert_true(enter(g, 1000));
    gate_leave(g, &(struct gate_exit){ .sent_ms = 1000, .now_ms = 1100, .pause_ms = 5000 });
    assert_int_equal(gate_enter(g, &(struct gate_ask){ .now_ms = 2000 }, &at), GATE_LATER);
    assert_int_equal(at, 6100);
    assert_false(enter(g, 6099));
    assert_true(enter(g, 6100));
    gates_free(g);
}

// How many get through in two minutes, answered at once.
static int through(struct gates_opts opts, int64_t tok, int64_t used_tok)
{
    struct gates *g = gates_of(opts);
    int n = 0;
    for (int64_t now = 1, at; now <= 120000;) {
        struct gate_ask ask = { .now_ms = now, .tok = tok };
        if (gate_enter(g, &ask, &at) == GATE_OPEN) {
            gate_leave(g, &(struct gate_exit){
                              .sent_ms = now, .now_ms = now, .tok = tok, .used_tok = used_tok });
            n++;
        } else {
            assert_true(at > now && at < now + 120000);
            now = at;
        }
    }
    gates_free(g);
    return n;
}

static void pacing_keeps_to_so_many_a_minute(void **s)
{
    (void)s;
    assert_in_range(through((struct gates_opts){ .rpm = 60 }, 0, 0), 119, 121);
    assert_in_range(through((struct gates_opts){ .rpm = 6000 }, 0, 0), 12000, 12101);
    // 1,000 tokens each: the first minute's worth at once, then as they are earned
    assert_in_range(through((struct gates_opts){ .tpm = 30000 }, 1000, 0), 89, 91);
    assert_in_range(through((struct gates_opts){ .tpm = 30000 }, 1000, 500), 178, 182);
    // a call larger than the minute's worth waits for a full bucket, and not for ever
    assert_in_range(through((struct gates_opts){ .tpm = 500 }, 1000, 500), 2, 3);
}

static void retries_are_a_fifth_at_most_while_others_wait(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .fixed = true });
    struct gate_ask retry = { .now_ms = 1000, .deferred = true };
    int64_t at;
    for (int i = 0; i < 3; i++) { // three are free
        assert_int_equal(gate_enter(g, &retry, &at), GATE_OPEN);
        gate_leave(g, &(struct gate_exit){ .now_ms = 1000, .retry = true });
    }
    assert_int_equal(gate_enter(g, &retry, &at), GATE_LATER);
    for (int i = 0; i < 13; i++) {
        assert_true(enter(g, 1000));
        leave(g, 1000, 1000, GATE_GOOD);
    }
    assert_int_equal(gate_enter(g, &retry, &at), GATE_OPEN); // 3 of 16
    gate_leave(g, &(struct gate_exit){ .now_ms = 1000, .retry = true });
    assert_int_equal(gate_enter(g, &retry, &at), GATE_LATER); // 4 of 17
    retry.deferred = false;                                   // nothing else is left to do
    assert_int_equal(gate_enter(g, &retry, &at), GATE_OPEN);
    gates_free(g);
}

static void five_failed_connections_open_the_breaker(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .fixed = true });
    for (int i = 0; i < 5; i++)
        assert_true(enter(g, 1000));
    for (int i = 0; i < 4; i++)
        assert_int_equal(leave(g, 1000, 1100, GATE_NO_CONNECTION), 0);
    assert_int_equal(leave(g, 1000, 1100, GATE_NO_CONNECTION), 30000);
    assert_false(enter(g, 31099));
    assert_true(enter(g, 31100)); // one finds out
    assert_false(enter(g, 31100));
    assert_int_equal(leave(g, 31100, 31200, GATE_NO_CONNECTION), 60000);
    assert_false(enter(g, 91199));
    assert_true(enter(g, 91200));
    assert_int_equal(leave(g, 91200, 91300, GATE_GOOD), 0);
    assert_int_equal(enter_all(g, 91300), 64);
    gates_free(g);
}

static void half_of_ten_open_it_and_rate_limits_never_do(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .fixed = true });
    for (int i = 0; i < 9; i++) {
        assert_true(enter(g, 1000));
        assert_int_equal(leave(g, 1000, 1000, i % 2 ? GATE_BROKEN : GATE_GOOD), 0);
    }
    assert_true(enter(g, 1000));
    assert_int_equal(leave(g, 1000, 1000, GATE_BROKEN), 30000); // 5 of 10
    gates_free(g);
    g = gates_of((struct gates_opts){ .fixed = true });
    for (int i = 0; i < 100; i++) {
        assert_true(enter(g, 1000));
        assert_int_equal(leave(g, 1000, 1000, i % 2 ? GATE_RATE_LIMIT : GATE_OVERLOAD), 0);
    }
    for (int i = 0; i < 9; i++) { // nine failures in a window of their own are too few
        assert_true(enter(g, 40000));
        assert_int_equal(leave(g, 40000, 40000, GATE_BROKEN), 0);
    }
    assert_true(enter(g, 75000)); // and forgotten half a minute later
    assert_int_equal(leave(g, 75000, 75000, GATE_BROKEN), 0);
    gates_free(g);
}

static void it_gives_up_after_a_quarter_of_an_hour(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .fixed = true });
    int64_t now = 1000, at = 0;
    int probes = 0;
    for (int i = 0; i < 5; i++)
        assert_true(enter(g, now));
    leave_n(g, 5, now, now, GATE_NO_CONNECTION);
    enum gate_answer answer;
    while ((answer = gate_enter(g, &(struct gate_ask){ .now_ms = now }, &at)) != GATE_DOWN) {
        if (answer == GATE_OPEN) {
            probes++;
            leave(g, now, now, GATE_NO_CONNECTION);
        } else {
            now = at < 901000 ? at : 901000;
        }
    }
    assert_int_equal(now, 901000);
    assert_int_equal(probes, 4); // after 30, 90, 210 and 450 s; the next would be at 930
    gates_free(g);
}

// What a killed process held is free again, the probe too.
static void the_dead_give_their_permits_back(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .limit = 4, .fixed = true });
    pid_t pid = fork();
    if (pid == 0) {
        int64_t at;
        for (int i = 0; i < 3; i++)
            gate_enter(g, &(struct gate_ask){ .now_ms = 1000, .holder = 1 }, &at);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(enter_all(g, 1000), 1);
    gates_forfeit(g, 1);
    assert_int_equal(enter_all(g, 1000), 3);
    assert_int_equal(gate_look(g, 0, 1000).flying, 4);
    gates_free(g);
}

static void each_endpoint_and_model_has_its_own(void **s)
{
    (void)s;
    struct gates *g = gates_of((struct gates_opts){ .limit = 1, .fixed = true });
    int64_t at;
    size_t other = gates_find(g, S("http://b"), S("m")),
           third = gates_find(g, S("http://a"), S("n"));
    assert_true(other != 0 && third != 0 && other != third);
    assert_int_equal(gates_find(g, S("http://b"), S("m")), other);
    assert_true(enter(g, 1000));
    assert_false(enter(g, 1000));
    assert_int_equal(gate_enter(g, &(struct gate_ask){ .gate = other, .now_ms = 1000 }, &at),
                     GATE_OPEN);
    for (int i = 0; i < 2 * GATES_MAX; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "http://%d", i);
        assert_true(gates_find(g, (str){ name, (size_t)len }, S("m")) < GATES_MAX);
    }
    gates_free(g);
}

// Field case F-055: a server that bears five requests a second and says Retry-After: 1 beyond; 200
// calls, sixteen at once at most. All get through, with fewer than 15 % refused.
static void a_slow_server_is_found_out(void **s)
{
    enum { CALLS = 200, WORKERS = 16, PER_SECOND = 5, TAKES_MS = 200 };
    struct gates *g = gates_of((struct gates_opts){ .limit = WORKERS });
    struct worker {
        int64_t sent_ms, due_ms;
        bool flying, refused;
    } workers[WORKERS] = { 0 };
    int64_t second = 0, in_second = 0, at;
    int done = 0, requests = 0, refused = 0;
    (void)s;
    for (int64_t now = 1000; done < CALLS; now += 10) {
        assert_true(now < 600000);
        for (int i = 0; i < WORKERS; i++) {
            struct worker *w = &workers[i];
            if (w->flying && now >= w->sent_ms + TAKES_MS) {
                leave(g, w->sent_ms, now, w->refused ? GATE_RATE_LIMIT : GATE_GOOD);
                w->flying = false;
                done += !w->refused;
                w->due_ms = w->refused ? now + 1500 : now;
            }
            if (w->flying || now < w->due_ms ||
                gate_enter(g, &(struct gate_ask){ .now_ms = now }, &at) != GATE_OPEN)
                continue;
            if (now / 1000 != second) {
                second = now / 1000;
                in_second = 0;
            }
            *w = (struct worker){ .sent_ms = now,
                                  .flying = true,
                                  .refused = ++in_second > PER_SECOND };
            requests++;
            refused += w->refused;
        }
    }
    print_message("%d of %d requests refused\n", refused, requests);
    assert_true(refused * 100 < 15 * requests);
    gates_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_starts_with_four_and_doubles),
        cmocka_unit_test(it_is_cut_once_an_epoch),
        cmocka_unit_test(after_a_cut_it_grows_by_one_while_it_is_used),
        cmocka_unit_test(a_pause_holds_everybody),
        cmocka_unit_test(pacing_keeps_to_so_many_a_minute),
        cmocka_unit_test(retries_are_a_fifth_at_most_while_others_wait),
        cmocka_unit_test(five_failed_connections_open_the_breaker),
        cmocka_unit_test(half_of_ten_open_it_and_rate_limits_never_do),
        cmocka_unit_test(it_gives_up_after_a_quarter_of_an_hour),
        cmocka_unit_test(the_dead_give_their_permits_back),
        cmocka_unit_test(each_endpoint_and_model_has_its_own),
        cmocka_unit_test(a_slow_server_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
