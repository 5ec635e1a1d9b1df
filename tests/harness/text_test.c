// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the harness contract: observations (Meta-Harness specification 1.6), prompts (7.3), and
// what is refused of a source before it is parsed (3.2).
#include "test.h"

#include "fixtures.h"
#include "harness/harness.h"

static struct position position_of(const char *fen)
{
    struct position pos;
    struct err err = { 0 };
    if (position_parse(str_from(fen), &pos, &err) != FAULT_NONE)
        fail_msg("%s", err.text);
    return pos;
}

static struct position play(struct position pos, const char *uci)
{
    move m;
    assert_true(uci_parse(&pos, str_from(uci), &m));
    return position_after(&pos, m);
}

static void the_fixtures_are_matched_byte_by_byte(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct position pos = position_of("8/4R3/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 w - - 1 64");
    pos = play(pos, "e7f7");
    assert_str(harness_observation(&(struct observed){ .at = &pos }, &a), S(OBS_A));
    pos = play(play(pos, "f5e5"), "e2f1");
    str accepted[] = { S("f5e5") };
    assert_str(harness_observation(&(struct observed){ &pos, S("e2f1"), accepted, 1 }, &a),
               S(OBS_B));
    arena_free(&a);
}

static bool shows(const char *fen, const char *uci, const char *text)
{
    struct arena a = { 0 };
    struct position pos = position_of(fen);
    if (uci)
        pos = play(pos, uci);
    bool found =
        str_find(harness_observation(&(struct observed){ .at = &pos }, &a), str_from(text)) >= 0;
    arena_free(&a);
    return found;
}

static void en_passant_is_shown_only_where_it_can_be_played(void **s)
{
    (void)s;
    assert_true(shows("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", "a2a4",
                      "FEN: 4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1\n"));
    assert_true(shows("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", "a2a4", "- [b4a3] SAN=bxa3"));
    assert_true(shows("4k3/8/8/8/7p/8/P7/4K3 w - - 0 1", "a2a4", " b - - 0 1\n"));
    assert_true(shows("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", "e2e4",
                      "FEN: 8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1\n"));
}

static void castling_and_promotions_have_rows_of_their_own(void **s)
{
    (void)s;
    const char *fen = "1n2k3/P7/8/8/8/8/8/4K2R w K - 0 1";
    static const char *const wanted[] = {
        "- [a7a8b] SAN=a8=B\n- [a7a8n] SAN=a8=N\n- [a7a8q] SAN=a8=Q\n- [a7a8r] SAN=a8=R\n"
        "- [a7b8b] SAN=axb8=B\n- [a7b8n] SAN=axb8=N\n- [a7b8q] SAN=axb8=Q+\n- [a7b8r] SAN=axb8=R+",
        "- [e1g1] SAN=O-O",
    };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_true(shows(fen, NULL, wanted[i]));
    assert_false(shows(fen, NULL, "e1h1"));
}

static void prompts_are_filled_by_the_table(void **s)
{
    (void)s;
    static const struct {
        const char *template, *want;
    } rows[] = {
        { "A {observation} B", "A OBS B" },
        { "{observation}{observation}", "OBSOBS" },
        { "{{x}} {observation}", "{x} OBS" },
        { "no field", "no field\n\nOBS" },
        { "{other} {observation}", "{other} {observation}\n\nOBS" },
        { "{} {observation}", "{} {observation}\n\nOBS" },
        { "{observation.x}", "{observation.x}\n\nOBS" },
        { "{observation[0]}", "{observation[0]}\n\nOBS" },
        { "{observation!r}", "{observation!r}\n\nOBS" },
        { "{observation:>9}", "{observation:>9}\n\nOBS" },
        { "{\"move\": 1} {observation}", "{\"move\": 1} {observation}\n\nOBS" },
        { "lone } {observation}", "lone } {observation}\n\nOBS" },
        { "{observation", "{observation\n\nOBS" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_str(harness_fill(str_from(rows[i].template), S("OBS"), false, &a),
                   str_from(rows[i].want));
    assert_str(harness_fill(S("<{observation}>"), S("{observation} {x}"), false, &a),
               S("<{observation} {x}>"));
    assert_str(harness_fill(S("no field"), S("OBS"), true, &a), S("no field"));
    assert_str(harness_fill(harness_default_user, S("OBS"), false, &a),
               S("Current puzzle position:\n\nOBS\n\nAnswer with exactly one move, written as "
                 "<move>uci</move>."));
    assert_true(harness_shows_observation(S("{observation}")));
    assert_false(harness_shows_observation(S("{{observation}}")));
    arena_free(&a);
}

static str filled(char c, size_t n, struct arena *a)
{
    char *data = arena_alloc(a, n);
    memset(data, c, n);
    return (str){ data, n };
}

static void sources_are_refused_before_anybody_parses_them(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct violations v;
    assert_true(harness_source_check(S("x = 1\n"), &a, &v));
    assert_true(harness_source_check(S(""), &a, &v));
    assert_false(harness_source_check(S("\xef\xbb\xbfx = 1\n"), &a, &v));
    assert_true(violations_have(&v, S("S02")));
    assert_false(harness_source_check(S("x = '\xff'\n"), &a, &v));
    assert_true(violations_have(&v, S("S02")));
    assert_false(harness_source_check(S("x = 1\n\0y"), &a, &v));
    assert_int_equal(v.v[0].line, 2);
    assert_false(harness_source_check(filled('\n', 70000, &a), &a, &v));
    assert_true(violations_have(&v, S("S01")) && violations_have(&v, S("S04")));
    assert_false(harness_source_check(filled('#', 5000, &a), &a, &v));
    assert_true(violations_have(&v, S("S04")) && !violations_have(&v, S("S01")));
    assert_false(harness_source_check(filled('\r', 3000, &a), &a, &v));
    assert_true(violations_have(&v, S("S04")));
    assert_false(harness_source_check(filled('x', 10 << 20, &a), &a, &v));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixtures_are_matched_byte_by_byte),
        cmocka_unit_test(en_passant_is_shown_only_where_it_can_be_played),
        cmocka_unit_test(castling_and_promotions_have_rows_of_their_own),
        cmocka_unit_test(prompts_are_filled_by_the_table),
        cmocka_unit_test(sources_are_refused_before_anybody_parses_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
