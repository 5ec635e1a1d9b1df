// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold of every position, tried on the positions of random games.
#include "helpers.h"

enum { GAMES = 150, PLIES_MAX = 160 };

static void check_fen(const struct position *pos, struct arena *a)
{
    str fen = fen_of(pos, a);
    struct position read;
    struct err err = { 0 };
    unsigned repairs = 0;
    if (position_parse_as(fen, (enum variant)pos->variant, &read, &repairs, &err) != FAULT_NONE)
        fail_msg("%.*s: %s", STR(fen), err.text);
    assert_int_equal(repairs, 0);
    assert_str(fen_of(&read, a), fen);
    assert_true(read.key == pos->key); // kept up move by move: the same as computed from nothing
    assert_true(read.castling == pos->castling && read.en_passant == pos->en_passant);
    assert_memory_equal(read.piece, pos->piece, sizeof read.piece);
    assert_memory_equal(read.side, pos->side, sizeof read.side);
    struct buf shredder = { .arena = a };
    position_format_shredder(pos, &shredder);
    assert_int_equal(
        position_parse_as(buf_str(&shredder), (enum variant)pos->variant, &read, NULL, NULL),
        FAULT_NONE);
    assert_true(read.key == pos->key);
}

static void check_moves(const struct position *pos, const struct move_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        move m = list->v[i], read = MOVE_NONE;
        assert_true(uci_parse(pos, str_from(uci_format(m).data), &read));
        assert_int_equal(read, m);
        read = MOVE_NONE;
        assert_int_equal(san_parse(pos, str_from(san_format(pos, m).data), &read), SAN_LEGAL);
        assert_int_equal(read, m);
        struct position next = position_after(pos, m);
        assert_int_equal(move_gives_check(pos, m), position_in_check(&next));
        assert_int_equal(move_gives_mate(pos, m), position_is_checkmate(&next));
    }
}

static int compare_moves(const void *a, const void *b)
{
    move x = *(const move *)a, y = *(const move *)b;
    return (x > y) - (x < y);
}

// The three lists hold the same moves, each once, and perft counts them.
static void check_lists(const struct position *pos)
{
    struct move_list lists[3];
    moves_legal(pos, &lists[0]);
    moves_ordered(pos, &lists[1]);
    moves_sorted(pos, &lists[2]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lists[i].n, perft(pos, 1));
        qsort(lists[i].v, lists[i].n, sizeof lists[i].v[0], compare_moves);
        assert_memory_equal(lists[i].v, lists[0].v, lists[0].n * sizeof(move));
    }
    for (size_t i = 1; i < lists[0].n; i++)
        assert_true(lists[0].v[i] != lists[0].v[i - 1]);
}

// Every other game is chess960, from an initial position drawn for it.
static struct position draw_start(int game, struct rng *rng, struct arena *a)
{
    return game % 2 ? start960((int)rng_below(rng, 960), a) : position_start();
}

static void random_games_keep_all_promises(void **state)
{
    (void)state;
    struct rng rng;
    struct arena a = { 0 };
    rng_seed(&rng, 1, S("chess property test"));
    int positions = 0, castled[2] = { 0, 0 };
    for (int game = 0; game < GAMES; game++) {
        struct game g = { .now = draw_start(game, &rng, &a) };
        for (int ply = 0; ply < PLIES_MAX && game_end(&g) == GAME_ONGOING; ply++, positions++) {
            struct move_list list;
            moves_legal(&g.now, &list);
            check_fen(&g.now, &a);
            check_lists(&g.now);
            check_moves(&g.now, &list);
            move m = list.v[rng_below(&rng, list.n)];
            castled[g.now.variant] += move_kind(m) == MOVE_CASTLING;
            game_play(&g, m, &a);
        }
        arena_reset(&a);
    }
    assert_true(positions > GAMES * 50);
    assert_true(castled[VARIANT_STANDARD] > 5 && castled[VARIANT_CHESS960] > 5);
    arena_free(&a);
}

static void check_start(int n, const char *back)
{
    struct arena a = { 0 };
    struct position pos = start960(n, &a);
    assert_true(str_ends(str_cut(&(str){ fen_of(&pos, &a).data, 64 }, ' '), str_from(back)));
    arena_free(&a);
}

static void all_960_initial_positions_differ_and_have_four_rights(void **state)
{
    (void)state;
    struct arena a = { 0 };
    uint64_t keys[960];
    for (int n = 0; n < 960; n++) {
        struct position pos = start960(n, &a);
        keys[n] = pos.key;
        assert_int_equal(__builtin_popcountll(pos.castling), 4);
        for (int i = 0; i < n; i++)
            assert_true(keys[i] != keys[n]);
        check_fen(&pos, &a);
        arena_reset(&a);
    }
    arena_free(&a);
    check_start(0, "BBQNNRKR"); // as published tables number them
    check_start(518, "RNBQKBNR");
    check_start(959, "RKRNNQBB");
}

// Pieces mirrored top to bottom with colours exchanged: nothing but names may change.
static struct position mirrored(const struct position *pos, struct arena *a)
{
    str fen = arena_str(a, fen_of(pos, a));
    str placement = str_cut(&fen, ' '), turn = str_cut(&fen, ' ');
    str castling = str_cut(&fen, ' '), ep = str_cut(&fen, ' ');
    str ranks[8] = { 0 };
    for (int i = 7; i >= 0; i--)
        ranks[i] = str_cut(&placement, '/');
    struct buf b = { .arena = a };
    for (int i = 0; i < 8; i++) {
        buf_add(&b, i ? S("/") : S(""));
        for (size_t k = 0; k < ranks[i].len; k++) {
            char c = ranks[i].data[k];
            buf_add_char(&b, c >= 'A' ? (char)(c ^ 32) : c);
        }
    }
    buf_add(&b, str_eq(turn, S("w")) ? S(" b ") : S(" w "));
    for (int black = 1; black >= 0; black--) { // white letters come first
        for (size_t k = 0; k < castling.len; k++) {
            if (castling.data[k] != '-' && (castling.data[k] >= 'a') == (black == 1))
                buf_add_char(&b, (char)(castling.data[k] ^ 32));
        }
    }
    buf_add(&b, str_eq(castling, S("-")) ? S("-") : S(""));
    if (str_eq(ep, S("-")))
        buf_add(&b, S(" - 0 1"));
    else
        buf_addf(&b, " %c%c 0 1", ep.data[0], ep.data[1] == '3' ? '6' : '3');
    return pos->variant == VARIANT_CHESS960 ? pos960_of(buf_str(&b).data)
                                            : pos_of(buf_str(&b).data);
}

// The moves of `mirror` are those of `pos` with ranks exchanged.
static void check_mirrored_moves(const struct position *pos, const struct position *mirror,
                                 struct arena *a)
{
    struct move_list here, there;
    moves_legal(pos, &here);
    moves_legal(mirror, &there);
    assert_int_equal(here.n, there.n);
    for (size_t i = 0; i < here.n; i++)
        here.v[i] ^= 56 | 56 << 6; // both squares
    qsort(here.v, here.n, sizeof here.v[0], compare_moves);
    qsort(there.v, there.n, sizeof there.v[0], compare_moves);
    assert_str(uci_list(&here, a), uci_list(&there, a));
}

static void colours_are_treated_alike(void **state)
{
    (void)state;
    struct rng rng;
    struct arena a = { 0 };
    rng_seed(&rng, 2, S("chess property test"));
    for (int game = 0; game < GAMES; game++) {
        struct game g = { .now = draw_start(game, &rng, &a) };
        for (int ply = 0; ply < PLIES_MAX && game_end(&g) == GAME_ONGOING; ply++) {
            struct position mirror = mirrored(&g.now, &a);
            struct move_list list;
            moves_legal(&g.now, &list);
            check_mirrored_moves(&g.now, &mirror, &a);
            assert_int_equal(perft(&mirror, 2), perft(&g.now, 2));
            game_play(&g, list.v[rng_below(&rng, list.n)], &a);
        }
        arena_reset(&a);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_games_keep_all_promises),
        cmocka_unit_test(all_960_initial_positions_differ_and_have_four_rights),
        cmocka_unit_test(colours_are_treated_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
