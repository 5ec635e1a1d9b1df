// SPDX-License-Identifier: GPL-3.0-or-later
// Thousands of positions for which python-chess has said everything there is to say.
#include "helpers.h"

// The moves of `list` that satisfy `is`, in UCI.
static str chosen(const struct position *pos, const struct move_list *list,
                  bool (*is)(const struct position *pos, move m), struct arena *a)
{
    struct move_list some = { .n = 0 };
    for (size_t i = 0; i < list->n; i++) {
        if (is(pos, list->v[i]))
            some.v[some.n++] = list->v[i];
    }
    return uci_list(&some, a);
}

static str san_list(const struct position *pos, const struct move_list *list, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < list->n; i++) {
        struct move_text text = san_format(pos, list->v[i]);
        buf_addf(&b, i ? " %s" : "%s", text.data);
    }
    return buf_str(&b);
}

static str sorted_copy(const json_t *array, const struct position *pos, struct arena *a)
{
    struct move_list list;
    struct move_list wanted = { .n = 0 };
    moves_sorted(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct move_text text = uci_format(list.v[i]);
        for (size_t k = 0; k < json_array_size(array); k++) {
            if (str_eq(json_view(json_array_get(array, k)), str_from(text.data)))
                wanted.v[wanted.n++] = list.v[i];
        }
    }
    assert_int_equal(wanted.n, json_array_size(array));
    return uci_list(&wanted, a);
}

static void check_flag(const json_t *row, const char *key, bool actual)
{
    const json_t *flag = json_object_get(row, key);
    assert_non_null(flag);
    if (json_is_true(flag) != actual)
        fail_msg("%.*s: %s", STR(json_get_str(row, "fen")), key);
}

static void check_state(const json_t *row, const char *const keys[4], const struct position *pos)
{
    check_flag(row, keys[0], position_in_check(pos));
    check_flag(row, keys[1], position_is_checkmate(pos));
    check_flag(row, keys[2], position_is_stalemate(pos));
    check_flag(row, keys[3], position_is_insufficient(pos));
}

// How many moves of each kind there are.
static void check_counts(const json_t *row, const struct position *pos,
                         const struct move_list *list)
{
    int64_t captures = 0, en_passant = 0, castling = 0, promotions = 0;
    for (size_t i = 0; i < list->n; i++) {
        captures += move_is_capture(pos, list->v[i]);
        en_passant += move_kind(list->v[i]) == MOVE_EN_PASSANT;
        castling += move_kind(list->v[i]) == MOVE_CASTLING;
        promotions += move_promotion(list->v[i]) != PIECE_NONE;
    }
    assert_int_equal(captures, json_get_int(row, "n_capture", -1));
    assert_int_equal(en_passant, json_get_int(row, "n_ep", -1));
    assert_int_equal(castling, json_get_int(row, "n_castle", -1));
    assert_int_equal(promotions, json_get_int(row, "n_promo", -1));
}

static int chess960_positions;

static void check_position(const json_t *row, struct arena *a)
{
    static const char *const keys[] = { "is_check", "is_checkmate", "is_stalemate",
                                        "is_insufficient_material" };
    bool is_960 = json_is_true(json_object_get(row, "chess960"));
    chess960_positions += is_960;
    str norm = json_get_str(row, "fen_norm");
    struct position pos = is_960 ? pos960_of(norm.data) : pos_of(norm.data), found;
    assert_str(fen_of(&pos, a), norm);
    enum position_fault fault =
        position_parse_as(json_get_str(row, "fen"), (enum variant)pos.variant, &found, NULL, NULL);
    assert_true(fault == FAULT_NONE && found.key == pos.key);
    struct move_list list;
    moves_sorted(&pos, &list);
    assert_str(uci_list(&list, a), joined(json_object_get(row, "legal"), a));
    assert_str(san_list(&pos, &list, a), joined(json_object_get(row, "san"), a));
    assert_str(chosen(&pos, &list, move_gives_check, a),
               sorted_copy(json_object_get(row, "gives_check"), &pos, a));
    assert_str(chosen(&pos, &list, move_gives_mate, a),
               sorted_copy(json_object_get(row, "gives_mate"), &pos, a));
    check_counts(row, &pos, &list);
    check_state(row, keys, &pos);
}

static void positions_agree_in_moves_san_and_state(void **state)
{
    (void)state;
    assert_int_equal(records_each(S("data/positions/oracle_positions.jsonl.gz"), check_position),
                     5341);
    assert_int_equal(chess960_positions, 384);
}

static void check_order(const struct position *pos, const json_t *order, struct arena *a)
{
    struct move_list list;
    moves_ordered(pos, &list);
    assert_str(uci_list(&list, a), joined(order, a));
}

static int order_rows;

static void check_order_row(const json_t *row, struct arena *a)
{
    str fen = json_get_str(row, "fen");
    struct position pos;
    order_rows++;
    pos = pos_of(fen.data);
    check_order(&pos, json_object_get(row, "legal_gen_order"), a);
}

static void the_order_of_moves_agrees(void **state)
{
    (void)state;
    assert_int_equal(
        records_each(S("data/positions/legal_order_pychess.jsonl.gz"), check_order_row), 1500);
    assert_int_equal(order_rows, 1500);
}

static void check_solver_position(const json_t *row, const struct position *pos, struct arena *a)
{
    struct move_list list;
    assert_str(fen_of(pos, a), json_get_str(row, "fen"));
    assert_true(pos->key == pos_of(json_get_str(row, "fen").data).key);
    moves_sorted(pos, &list);
    assert_str(uci_list(&list, a), joined(json_object_get(row, "legal"), a));
    assert_str(chosen(pos, &list, move_gives_mate, a),
               sorted_copy(json_object_get(row, "mates"), pos, a));
    check_flag(row, "check", position_in_check(pos));
    if (json_object_get(row, "legal_gen_order"))
        check_order(pos, json_object_get(row, "legal_gen_order"), a);
    move m = move_of(pos, json_get_str(row, "solution_uci"));
    assert_str(str_from(san_format(pos, m).data), json_get_str(row, "solution_san"));
}

static void check_puzzle(const json_t *row, struct arena *a)
{
    struct position pos = pos_of(json_get_str(row, "fen").data);
    const json_t *positions = json_object_get(row, "positions");
    str moves = json_get_str(row, "moves");
    for (size_t ply = 0; moves.len > 0; ply++) {
        if (ply % 2 == 1)
            check_solver_position(json_array_get(positions, ply / 2), &pos, a);
        pos = position_after(&pos, move_of(&pos, str_cut(&moves, ' ')));
    }
    assert_str(fen_of(&pos, a), json_get_str(row, "final_fen"));
    check_flag(row, "final_checkmate", position_is_checkmate(&pos));
    check_flag(row, "final_check", position_in_check(&pos));
}

static void puzzles_agree_from_first_move_to_last(void **state)
{
    (void)state;
    assert_int_equal(records_each(S("data/puzzles/puzzle_oracle.jsonl.gz"), check_puzzle), 3600);
}

static void check_state_row(const json_t *row, struct arena *a)
{
    static const char *const keys[] = { "check", "checkmate", "stalemate",
                                        "insufficient_material" };
    (void)a;
    const json_t *oracle = json_object_get(row, "pychess");
    struct position pos;
    bool accepted = position_parse(json_get_str(row, "fen"), &pos, NULL) == FAULT_NONE;
    check_flag(oracle, "valid", accepted);
    if (!accepted)
        return;
    struct move_list list;
    moves_legal(&pos, &list);
    assert_int_equal(list.n, json_get_int(oracle, "n_legal", -1));
    check_state(oracle, keys, &pos);
}

static void state_vectors_agree(void **state)
{
    (void)state;
    assert_int_equal(records_each(S("data/vectors/state_vectors.jsonl"), check_state_row), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_agree_in_moves_san_and_state),
        cmocka_unit_test(the_order_of_moves_agrees),
        cmocka_unit_test(puzzles_agree_from_first_move_to_last),
        cmocka_unit_test(state_vectors_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
