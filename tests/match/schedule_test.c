// SPDX-License-Identifier: GPL-3.0-or-later
// Who meets whom in a tournament, the openings it takes, and its standings.
#include <math.h>

#include "test.h"

#include "match/match.h"

static struct arena arena;

enum { PLAYERS = 5, ROUNDS = 4 };

struct met { // games by colours
    int n[PLAYERS][PLAYERS];
};

static struct met met_of(const struct match_format *f)
{
    struct met met = { 0 };
    for (size_t g = 0; g < (size_t)f->n_rounds * match_round_games(f); g++) {
        struct match_pairing m = match_pairing_at(f, g);
        assert_int_not_equal(m.white, m.black);
        assert_int_equal(m.round, g / match_round_games(f));
        met.n[m.white][m.black]++;
    }
    return met;
}

static void each_meets_each_with_both_colours_from_one_opening(void **s)
{
    (void)s;
    struct match_format f = { .n_players = PLAYERS, .n_rounds = ROUNDS, .n_openings = 3 };
    assert_int_equal(match_encounters(&f), 10);
    assert_int_equal(match_round_games(&f), 20);
    struct met met = met_of(&f);
    for (size_t a = 0; a < PLAYERS; a++)
        for (size_t b = 0; b < PLAYERS; b++)
            assert_int_equal(met.n[a][b], a == b ? 0 : ROUNDS);
    for (size_t g = 0; g < 80; g += 2) {
        struct match_pairing one = match_pairing_at(&f, g), two = match_pairing_at(&f, g + 1);
        assert_int_equal(one.white, two.black);
        assert_int_equal(one.black, two.white);
        assert_int_equal(one.opening, two.opening);
        assert_int_equal(one.opening, one.round % 3);
    }
}

static void in_a_gauntlet_only_the_first_meets_all(void **s)
{
    (void)s;
    struct match_format f = { .n_players = PLAYERS, .n_rounds = ROUNDS, .gauntlet = true };
    assert_int_equal(match_round_games(&f), 8);
    struct met met = met_of(&f);
    for (size_t a = 0; a < PLAYERS; a++)
        for (size_t b = 0; b < PLAYERS; b++)
            assert_int_equal(met.n[a][b], a != b && (a == 0 || b == 0) ? ROUNDS : 0);
}

static void single_games_share_the_colours_out(void **s)
{
    (void)s;
    struct match_format f = { .n_players = PLAYERS, .n_rounds = ROUNDS, .single = true };
    assert_int_equal(match_round_games(&f), 10);
    struct met met = met_of(&f);
    for (size_t a = 0; a < PLAYERS; a++)
        for (size_t b = 0; b < PLAYERS; b++)
            assert_int_equal(met.n[a][b], a == b ? 0 : ROUNDS / 2);
}

// ---- openings ----

static struct match_openings load(const char *name, const char *text, struct err *err)
{
    struct match_openings o;
    str path = arena_printf(&arena, "schedule-test-%s", name);
    assert_true(file_save(path, str_from(text), err));
    *err = (struct err){ 0 };
    if (!match_openings_load(path, 4, &arena, &o, err))
        o = (struct match_openings){ 0 };
    remove(path.data);
    return o;
}

static str fen_of(const struct match_opening *o)
{
    struct buf b = { .arena = &arena };
    position_format(&o->at, &b);
    return buf_str(&b);
}

static void openings_are_lines_of_epd_or_games(void **s)
{
    (void)s;
    struct err err = { 0 };
    struct match_openings o =
        load("a.epd",
             "# a book\n\nrnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - id \"King's "
             "pawn\";\r\nrnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1\n",
             &err);
    assert_int_equal(o.n, 2);
    assert_str(o.v[0].name, S("King's pawn"));
    assert_int_equal(o.v[1].lineno, 4);
    o = load("b.pgn",
             "[ECO \"C60\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n\n[Event \"x\"]\n\n1. d4 *\n",
             &err);
    assert_int_equal(o.n, 2); // four half-moves of the first, one of the other
    assert_str(fen_of(&o.v[0]),
               S("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"));
    assert_str(o.v[0].name, S("C60"));
    assert_str(fen_of(&o.v[1]), S("rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"));
}

static void bad_openings_are_refused_with_their_line(void **s)
{
    (void)s;
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        { "c.epd", "\nrubbish\n", "c.epd:2: " },
        { "d.epd", "7k/5Q2/6K1/8/8/8/8/8 b - -\n", "d.epd:1: nobody can move" },
        { "e.pgn", "1. e4 e5 *\n\n[Event \"y\"]\n\n1. e4 e4 *\n", "e.pgn:5: " },
        { "f.pgn", "", "no opening" },
        { "g.epd", "# nothing\n", "no opening" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };
        struct match_openings o = load(rows[i].name, rows[i].text, &err);
        assert_int_equal(o.n, 0);
        assert_int_equal(err.code, ERR_INPUT);
        if (!strstr(err.text, rows[i].says))
            fail_msg("%s: %s", rows[i].name, err.text);
    }
}

static void a_seed_decides_the_order(void **s)
{
    (void)s;
    struct match_openings a = { 0 }, b = { 0 };
    for (size_t i = 0; i < 50; i++) {
        *vec_push(&arena, &a) = (struct match_opening){ .lineno = i };
        *vec_push(&arena, &b) = (struct match_opening){ .lineno = i };
    }
    match_openings_shuffle(&a, 3);
    match_openings_shuffle(&b, 3);
    size_t same = 0, sum = 0;
    for (size_t i = 0; i < 50; i++) {
        assert_int_equal(a.v[i].lineno, b.v[i].lineno);
        same += a.v[i].lineno == i;
        sum += a.v[i].lineno;
    }
    assert_true(same < 20);
    assert_int_equal(sum, 49 * 50 / 2);
}

// ---- standings ----

// Of 40 games 22 won, 10 drawn, 8 lost: 67.5 %, which is 127 Elo (-400 log10(1 / 0.675 - 1)).
static void standings_count_colours_causes_and_elo(void **s)
{
    (void)s;
    struct match_result r[40];
    for (size_t i = 0; i < 40; i++) {
        size_t white = i % 2;
        int first = white == 0 ? WHITE : BLACK;
        r[i] = (struct match_result){ .pairing = { .white = white, .black = 1 - white },
                                      .class = i < 4 ? CLASS_PROTOCOL_LOSS : CLASS_CHESS,
                                      .winner = i < 22   ? first
                                                : i < 32 ? -1
                                                         : 1 - first };
    }
    struct match_standing out[3];
    match_standings(r, 40, 3, out);
    assert_int_equal(out[0].player, 0);
    assert_true(out[0].points == 27 && out[1].points == 13);
    assert_int_equal(out[0].wins[WHITE] + out[0].wins[BLACK], 22);
    assert_int_equal(out[0].wins[WHITE], 11);
    assert_int_equal(out[1].protocol_losses, 4);
    assert_int_equal(out[0].protocol_losses, 0);
    assert_true(fabs(out[0].elo.rating - 126.97) < 0.1);
    assert_true(fabs(out[0].elo.rating + out[1].elo.rating) < 0.01);
    assert_int_equal(out[2].player, 2); // played nothing
    assert_int_equal(out[2].elo.kind, ELO_NO_GAMES);
    int64_t n;
    assert_true(match_points_between(r, 40, 1, 0, &n) == 13);
    assert_int_equal(n, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_meets_each_with_both_colours_from_one_opening),
        cmocka_unit_test(in_a_gauntlet_only_the_first_meets_all),
        cmocka_unit_test(single_games_share_the_colours_out),
        cmocka_unit_test(openings_are_lines_of_epd_or_games),
        cmocka_unit_test(bad_openings_are_refused_with_their_line),
        cmocka_unit_test(a_seed_decides_the_order),
        cmocka_unit_test(standings_count_colours_causes_and_elo),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
