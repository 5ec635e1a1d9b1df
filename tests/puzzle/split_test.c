// SPDX-License-Identifier: GPL-3.0-or-later
// Order, split and expansion: the tables of few-shot specification 1.8, 3.2 and 8.1, and a split
// recorded from the reference software.
#include "corner.h"

static struct arena arena;

// As many puzzles as the paper's files have, told apart by their row.
static struct puzzles synthetic(size_t n)
{
    struct puzzles out = { 0 };
    for (size_t i = 0; i < n; i++)
        *vec_push(&arena, &out) = (struct puzzle){ .row = i };
    return out;
}

static struct puzzle_split split(size_t n, struct puzzle_split_opts opts)
{
    struct puzzles all = synthetic(n);
    struct puzzle_split out;
    struct err err = { 0 };
    if (!puzzles_split(&all, &opts, &arena, &out, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(all.v[i].row, i); // the file's order is left alone
    return out;
}

static void the_first_training_rows_are_those_of_the_specification(void **s)
{
    (void)s;
    static const struct {
        uint64_t seed;
        size_t rows[6];
    } cases[] = {
        { 42, { 526, 468, 470, 206, 359, 0 } },
        { 43, { 309, 8, 233, 558, 356, 35 } },
        { 44, { 191, 3, 412, 50, 85, 6 } },
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct puzzle_split got =
            split(559, (struct puzzle_split_opts){ .seed = cases[c].seed, .validation_size = 140 });
        assert_int_equal(got.train.n, 419);
        assert_int_equal(got.validation.n, 140);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(got.train.v[i].row, cases[c].rows[i]);
    }
}

static void the_double_shuffle_starts_as_recorded(void **s)
{
    (void)s;
    static const size_t rows[] = { 252, 437, 43, 263, 49, 535, 546, 231 };
    struct puzzle_split got =
        split(559, (struct puzzle_split_opts){ .seed = 42, .validation_size = 140 });
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(got.validation.v[i].row, rows[i]);
}

static void one_shuffle_is_that_of_the_test_file(void **s)
{
    (void)s;
    static const size_t rows[2][10] = { { 7, 3, 2, 8, 5, 6, 9, 4, 0, 1 },
                                        { 7, 8, 1, 5, 3, 4, 2, 0, 9, 6 } };
    for (int c = 0; c < 2; c++) {
        struct puzzles p = synthetic(10);
        puzzles_shuffle(&p, c == 0 ? 42 : 0);
        for (size_t i = 0; i < 10; i++)
            assert_int_equal(p.v[i].row, rows[c][i]);
    }
    struct puzzles none = { 0 };
    puzzles_shuffle(&none, 1);
    assert_int_equal(none.n, 0);
}

static void every_puzzle_is_on_one_side(void **s)
{
    (void)s;
    struct puzzle_split got =
        split(100, (struct puzzle_split_opts){ .seed = 7, .validation_size = 33 });
    int seen[100] = { 0 };
    for (size_t i = 0; i < got.train.n; i++)
        seen[got.train.v[i].row]++;
    for (size_t i = 0; i < got.validation.n; i++)
        seen[got.validation.v[i].row]++;
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
}

static void a_train_limit_cuts_puzzles_behind(void **s)
{
    (void)s;
    struct puzzle_split_opts opts = { .seed = 42, .validation_size = 140, .train_limit = 2 };
    struct puzzle_split got = split(559, opts);
    assert_int_equal(got.train.n, 2);
    assert_int_equal(got.train.v[1].row, 468);
    opts.train_limit = 420;
    assert_int_equal(split(559, opts).train.n, 419);
}

static void a_validation_set_of_all_puzzles_is_an_error(void **s)
{
    (void)s;
    struct puzzles all = synthetic(5);
    struct puzzle_split out;
    for (size_t size = 5; size < 7; size++) {
        struct err err = { 0 };
        struct puzzle_split_opts opts = { .validation_size = size };
        assert_false(puzzles_split(&all, &opts, &arena, &out, &err));
        assert_int_equal(err.code, ERR_INPUT);
        assert_contains(error_text(&err, &arena), S("there are 5 puzzles"));
    }
    assert_int_equal(split(5, (struct puzzle_split_opts){ .validation_size = 4 }).train.n, 1);
}

// ---- positions ----

static struct puzzle_positions expanded(str row)
{
    struct reading got = read_text(arena_printf(&arena, HEADER "%.*s\n", STR(row)), &arena);
    struct puzzles *kept = NEW(&arena, struct puzzles); // positions point into it
    *kept = got.good;
    struct puzzle_positions out;
    assert_int_equal(kept->n, 1);
    puzzles_expand(kept, &arena, &out);
    return out;
}

static void a_position_shows_fen_side_and_moves_in_generation_order(void **s)
{
    (void)s;
    struct puzzle_positions p = expanded(S("x,4k3/4p3/8/8/8/8/8/R3K2R b KQ - 4 10,e7e6 e1g1,,"));
    assert_int_equal(p.n, 1);
    assert_str(p.v[0].inputs[0], S("4k3/8/4p3/8/8/8/8/R3K2R w KQ - 0 11"));
    assert_str(p.v[0].inputs[1], S("white"));
    assert_str(p.v[0].inputs[2],
               S("h1h8, h1h7, h1h6, h1h5, h1h4, h1h3, h1h2, h1g1, h1f1, e1f2, e1e2, e1d2, e1f1, "
                 "e1d1, a1a8, a1a7, a1a6, a1a5, a1a4, a1a3, a1a2, a1d1, a1c1, a1b1, e1g1, e1c1"));
    assert_str(p.v[0].reference, S("e1g1"));
}

static void en_passant_is_shown_only_where_it_is_legal(void **s)
{
    (void)s;
    struct puzzle_positions p = expanded(S("x,4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1,e2e4 d4e3,,"));
    assert_str(p.v[0].inputs[0], S("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"));
    assert_str(p.v[0].inputs[1], S("black"));
    p = expanded(S("x,8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1,e2e4 a4b4,,"));
    assert_str(p.v[0].inputs[0], S("8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1"));
}

static void promotions_stand_in_the_order_q_r_b_n(void **s)
{
    (void)s;
    struct puzzle_positions p = expanded(S("x,1r2k3/P2p4/8/8/8/8/8/4K3 b - - 0 1,d7d6 a7b8n,,"));
    assert_str(p.v[0].inputs[2], S("e1f2, e1e2, e1d2, e1f1, e1d1, a7b8q, a7b8r, a7b8b, a7b8n, "
                                   "a7a8q, a7a8r, a7a8b, a7a8n"));
    assert_str(p.v[0].reference, S("a7b8n"));
}

// ---- the recorded split ----

// The first `n` lines of a text.
static str first_lines(str text, size_t n)
{
    str rest = text;
    for (size_t i = 0; i < n; i++)
        str_cut(&rest, '\n');
    return str_sub(text, 0, text.len - rest.len);
}

static void check_golden(const json_t *want, const struct puzzle_position *got)
{
    str pos = arena_printf(&arena, "%.*s/%d", STR(got->puzzle->id), got->index);
    assert_str(pos, json_get_str(want, "pos"));
    assert_int_equal(got->puzzle->row, json_get_int(want, "row", -1));
    assert_int_equal(got->puzzle->rating, json_get_int(want, "rating", -1));
    assert_str(got->puzzle->themes, json_get_str(want, "themes"));
    assert_int_equal(got->count, json_get_int(want, "position_count", -1));
    assert_str(got->inputs[0], json_get_str(want, "position_fen"));
    assert_str(got->inputs[1], json_get_str(want, "side_to_move"));
    assert_str(got->inputs[2], json_get_str(want, "legal_moves_uci"));
    assert_str(got->reference, json_get_str(want, "reference"));
}

static void the_recorded_split_is_reproduced_in_every_field(void **s)
{
    (void)s;
    str csv, path = source_path(S("tests/golden/train-80.csv"), &arena);
    str golden = source_path(S("tests/golden/split.jsonl.gz"), &arena);
    struct err err = { 0 };
    if (!file_read(path, 1 << 20, &arena, &csv, &err))
        fail_msg("%s", err.text);
    struct reading file = read_text(first_lines(csv, 81), &arena);
    assert_int_equal(file.good.n, 80);
    struct puzzle_split got;
    struct puzzle_split_opts opts = { .seed = 42, .validation_size = 20 };
    assert_true(puzzles_split(&file.good, &opts, &arena, &got, &err));
    struct puzzle_positions train, validation;
    puzzles_expand(&got.train, &arena, &train);
    puzzles_expand(&got.validation, &arena, &validation);

    str lines = read_gz(golden, &arena);
    size_t n = 0;
    for (; lines.len > 0; n++) {
        json_t *want = json_read_strict(str_cut_line(&lines), &err);
        assert_non_null(want);
        const struct puzzle_positions *set =
            str_eq(json_get_str(want, "set"), S("train")) ? &train : &validation;
        size_t i = (size_t)json_get_int(want, "index", 0);
        assert_true(i < set->n);
        check_golden(want, &set->v[i]);
        json_decref(want);
    }
    assert_int_equal(n, train.n + validation.n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_training_rows_are_those_of_the_specification),
        cmocka_unit_test(the_double_shuffle_starts_as_recorded),
        cmocka_unit_test(one_shuffle_is_that_of_the_test_file),
        cmocka_unit_test(every_puzzle_is_on_one_side),
        cmocka_unit_test(a_train_limit_cuts_puzzles_behind),
        cmocka_unit_test(a_validation_set_of_all_puzzles_is_an_error),
        cmocka_unit_test(a_position_shows_fen_side_and_moves_in_generation_order),
        cmocka_unit_test(en_passant_is_shown_only_where_it_is_legal),
        cmocka_unit_test(promotions_stand_in_the_order_q_r_b_n),
        cmocka_unit_test(the_recorded_split_is_reproduced_in_every_field),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
