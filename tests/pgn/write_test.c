// SPDX-License-Identifier: GPL-3.0-or-later
// write_test.c - what is written is read again as the same game, and looks as the standard says.
#include "helpers.h"

static bool same_notes(const struct pgn_notes *x, const struct pgn_notes *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        const struct pgn_note *p = &x->v[i], *q = &y->v[i];
        if (p->kind != q->kind || p->ply != q->ply || p->nag != q->nag || p->side != q->side ||
            !str_eq(p->text, q->text))
            return false;
    }
    return true;
}

// Writes, reads, compares, and writes once more: nothing may change.
static void check_round_trip(const struct pgn_game *game, struct arena *a)
{
    struct buf first = { .arena = a }, second = { .arena = a };
    struct pgn_game again;
    pgn_write(game, &first);
    struct pgn_reader *r = open_text(buf_str(&first));
    if (next_game(r, a, &again) != PGN_GOOD)
        fail_msg("%s\n%s", again.fault.text, buf_str(&first).data);
    assert_str(moves_text(&again, a), moves_text(game, a));
    assert_true(again.end.now.key == game->end.now.key);
    if (!same_notes(&game->notes, &again.notes))
        fail_msg("other notes in\n%s", buf_str(&first).data);
    for (size_t i = 0; i < game->tags.n; i++)
        assert_str(pgn_tag(&again, game->tags.v[i].name), game->tags.v[i].value);
    pgn_write(&again, &second);
    assert_str(buf_str(&second), buf_str(&first));
    pgn_close(r);
}

static void a_game_is_written_in_export_format(void **s)
{
    struct arena a = { 0 };
    struct buf b = { .arena = &a };
    struct pgn_game game;
    struct pgn_reader *r = open_text(S("[White \"A \\\"B\\\" \\\\\"]\n[ECO \"C20\"]\n"
                                       "e2e4!(d4 d5 ;good\n) {x} e7e5 Bf1c4 Nb8c6 Qd1h5 Ng8f6 "
                                       "Qh5f7 1-0"));
    (void)s;
    assert_int_equal(next_game(r, &a, &game), PGN_GOOD);
    pgn_write(&game, &b);
    assert_str(buf_str(&b), S("[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n"
                              "[White \"A \\\"B\\\" \\\\\"]\n[Black \"?\"]\n[Result \"1-0\"]\n"
                              "[ECO \"C20\"]\n\n"
                              "1. e4 $1 (1. d4 d5 { good }) { x } 1... e5 2. Bc4 Nc6 3. Qh5 Nf6 4. "
                              "Qxf7# 1-0\n\n"));
    pgn_close(r);
    arena_free(&a);
}

static void random_games_come_back(void **s)
{
    enum { GAMES = 200, PLIES = 120 };
    struct arena a = { 0 };
    struct rng rng;
    rng_seed(&rng, 5, S("games"));
    (void)s;
    for (int i = 0; i < GAMES; i++) {
        struct pgn_game game = { .start = position_start() };
        game.end.now = game.start;
        for (int ply = 0; ply < PLIES; ply++) {
            struct move_list list;
            moves_legal(&game.end.now, &list);
            if (list.n == 0)
                break;
            struct move_list side = list;
            move m = list.v[rng_below(&rng, list.n)];
            *vec_push(&a, &game.moves) = m;
            game_play(&game.end, m, &a);
            if (rng_below(&rng, 8) > 0)
                continue;
            struct pgn_note open = { .kind = PGN_OPEN, .ply = game.moves.n };
            struct pgn_note other = { .kind = PGN_SIDE_MOVE,
                                      .ply = game.moves.n,
                                      .side = side.v[0] };
            struct pgn_note close = { .kind = PGN_CLOSE, .ply = game.moves.n };
            struct pgn_note comment = { .kind = PGN_COMMENT,
                                        .ply = game.moves.n,
                                        .text = S("[%clk 0:01:02]") };
            *vec_push(&a, &game.notes) = comment;
            *vec_push(&a, &game.notes) = open;
            *vec_push(&a, &game.notes) = other;
            *vec_push(&a, &game.notes) = close;
        }
        game.result = S("*");
        check_round_trip(&game, &a);
        arena_reset(&a);
    }
    arena_free(&a);
}

static void check_file(const char *name)
{
    struct arena a = { 0 }, one = { 0 };
    struct pgn_reader *r = NULL;
    struct pgn_game game;
    struct err err = { 0 };
    str path = shared_path(arena_printf(&a, "data/pgn/%s", name), &a);
    assert_true(pgn_open(path, &r, &err));
    for (enum pgn_read got; (got = next_game(r, &one, &game)) != PGN_END; arena_reset(&one)) {
        if (got == PGN_GOOD)
            check_round_trip(&game, &one);
    }
    pgn_close(r);
    arena_free(&one);
    arena_free(&a);
}

static void real_games_come_back(void **s)
{
    (void)s;
    check_file("twic1599.pgn");
    check_file("lichess_2025_05_clk.pgn");
    check_file("llm_games_chessbench960.pgn");
    check_file("odd/pychess__beautiful-chess-studies-1_by_thijscom_2018.03.05.pgn");
    check_file("odd/fastchess__variations.pgn");
    check_file("odd/scid__res_gameLatin1.pgn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game_is_written_in_export_format),
        cmocka_unit_test(random_games_come_back),
        cmocka_unit_test(real_games_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
