// SPDX-License-Identifier: GPL-3.0-or-later
// Strangers' puzzle files, whole, and positions that an independent rules library computed from
// them; the built-in files.
#include "corner.h"

static struct arena arena;

// ---- whole files ----

static void read_whole(const char *name, size_t n_rows)
{
    str path = shared_path(arena_printf(&arena, "data/puzzles/%s", name), &arena);
    struct puzzle_reader *r = NULL;
    struct err err = { 0 };
    if (!puzzle_reader_open(path, &r, &err))
        fail_msg("%s", err.text);
    struct arena row = { 0 };
    size_t n = 0;
    for (struct puzzle p; puzzle_reader_next(r, &row, &p, &err) == PUZZLE_ROW; n++) {
        assert_true(p.n_moves >= 2 && p.n_moves % 2 == 0);
        assert_int_equal(p.row, n);
        assert_true(p.has_rating && p.rating >= 300 && p.rating <= 3400);
        arena_reset(&row);
    }
    if (err.code != ERR_NONE)
        fail_msg("%s", err.text);
    assert_int_equal(puzzle_reader_sha256(r, &row).len, 64);
    puzzle_reader_free(r);
    arena_free(&row);
    assert_int_equal(n, n_rows);
}

static void the_ten_official_columns_are_read(void **s)
{
    (void)s;
    read_whole("lichess_full10.csv", 15401);
}

static void carriage_returns_are_read(void **s)
{
    (void)s;
    read_whole("lichess_full10_crlf.csv", 600);
}

static void an_unnamed_index_column_is_read_over(void **s)
{
    (void)s;
    read_whole("lichess_pandas_index_2022dump.csv", 2968);
}

static void seven_columns_without_header_are_read(void **s)
{
    (void)s;
    read_whole("lichess_reduced7_noheader.csv", 48022);
    read_whole("lichess_reduced7_popular_noheader.csv", 10013);
}

static void fen_moves_and_rating_alone_are_read(void **s)
{
    (void)s;
    read_whole("lichess_fen_moves_rating_noheader.csv", 6002);
}

static void a_sort_key_behind_is_read_over(void **s)
{
    (void)s;
    read_whole("lichess_sortkey11.csv", 585);
}

static void a_quoted_game_of_many_lines_is_read_over(void **s)
{
    (void)s;
    read_whole("lichess_with_game_pgn.csv", 611);
}

static void the_puzzles_of_the_database_are_read(void **s)
{
    (void)s;
    read_whole("lila_db_seed.jsonl", 1842);
}

static void themes_are_found_in_headerless_files(void **s)
{
    (void)s;
    struct reading got = read_path(
        shared_path(S("data/puzzles/lichess_reduced7_popular_noheader.csv"), &arena), &arena);
    assert_str(got.good.v[0].id, S("00JET"));
    assert_int_equal(got.good.v[0].rating, 400);
    assert_str(got.good.v[0].themes, S("backRankMate endgame mate mateIn2 rookEndgame short"));
    for (size_t i = 0; i < got.good.n; i++)
        assert_true(got.good.v[i].themes.len > 0);
}

static void the_papers_extra_columns_are_read_over(void **s)
{
    (void)s;
    struct reading got =
        read_path(shared_path(S("data/paper/puzzle_test_excerpt.csv"), &arena), &arena);
    static const char *const ids[] = { "26r8d", "rpb2n", "Mgulb", "DKfti", "F4dfY" };
    static const int ratings[] = { 491, 462, 537, 550, 716 };
    assert_int_equal(got.bad.n, 0);
    assert_int_equal(got.good.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_str(got.good.v[i].id, str_from(ids[i]));
        assert_int_equal(got.good.v[i].rating, ratings[i]);
        assert_int_equal(got.good.v[i].n_moves, 2);
    }
}

// ---- the oracle ----

static FILE *open_gzip(str path)
{
    return popen(arena_printf(&arena, "gzip -dc '%.*s'", STR(path)).data, "r");
}

static str joined(const json_t *list, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < json_array_size(list); i++) {
        buf_add(&b, i > 0 ? S(", ") : S(""));
        buf_add(&b, json_view(json_array_get(list, i)));
    }
    return buf_str(&b);
}

// One line of the oracle: the puzzle read from its id, FEN and moves has the oracle's positions.
static void check_oracle_line(const json_t *o, struct arena *a)
{
    str fen = json_get_str(o, "fen"), moves = json_get_str(o, "moves");
    struct reading got = read_text(arena_printf(a, HEADER "%.*s,%.*s,%.*s,,\n",
                                                STR(json_get_str(o, "id")), STR(fen), STR(moves)),
                                   a);
    assert_int_equal(got.good.n, 1);
    struct puzzle_positions p;
    puzzles_expand(&got.good, a, &p);
    const json_t *positions = json_object_get(o, "positions");
    assert_int_equal(p.n, json_array_size(positions));
    assert_int_equal(p.n, json_get_int(o, "n_solver", 0));
    for (size_t i = 0; i < p.n; i++) {
        const json_t *at = json_array_get(positions, i);
        assert_str(p.v[i].inputs[0], json_get_str(at, "fen"));
        assert_str(p.v[i].inputs[1], json_get_str(at, "side"));
        assert_str(p.v[i].reference, json_get_str(at, "solution_uci"));
        assert_int_equal(p.v[i].count, p.n);
        if (i == 0)
            assert_str(p.v[i].inputs[2], joined(json_object_get(at, "legal_gen_order"), a));
    }
}

static void every_position_of_the_oracle_is_reproduced(void **s)
{
    (void)s;
    FILE *in = open_gzip(shared_path(S("data/puzzles/puzzle_oracle.jsonl.gz"), &arena));
    assert_non_null(in);
    char *line = NULL;
    size_t cap = 0, n = 0;
    struct arena row = { 0 };
    for (ssize_t len; (len = getline(&line, &cap, in)) > 0; n++) {
        struct err err = { 0 };
        json_t *o = json_read_strict(str_trim((str){ line, (size_t)len }), &err);
        if (!o)
            fail_msg("%s", err.text);
        check_oracle_line(o, &row);
        json_decref(o);
        arena_reset(&row);
    }
    free(line);
    arena_free(&row);
    assert_int_equal(pclose(in), 0);
    assert_int_equal(n, 3600);
}

// ---- the built-in files ----

static struct puzzles builtin(str name)
{
    struct puzzles out;
    struct err err = { 0 };
    if (!puzzles_load(name, &(struct puzzle_load_opts){ .strict = true }, &arena, &out, &err))
        fail_msg("%s", err.text);
    return out;
}

static void the_built_in_halves_are_as_large_and_as_hard(void **s)
{
    (void)s;
    struct puzzles half[2] = { builtin(S("builtin:train")), builtin(S("builtin:test")) };
    double mean[2] = { 0 };
    for (int h = 0; h < 2; h++) {
        for (size_t i = 0; i < half[h].n; i++)
            mean[h] += (double)half[h].v[i].rating / (double)half[h].n;
    }
    assert_int_equal(half[0].n + half[1].n, 771);
    assert_in_range(half[0].n, 380, 391);
    assert_true(mean[0] - mean[1] < 10 && mean[1] - mean[0] < 10);
}

// Pieces, turn, castling and en passant: the counters of a FEN do not make another position.
static str position_name(const struct puzzle_position *p)
{
    str fen = p->inputs[0], rest = fen;
    for (int i = 0; i < 4; i++)
        str_cut(&rest, ' ');
    return str_sub(fen, 0, fen.len - rest.len);
}

static void the_built_in_halves_share_no_id_and_no_position(void **s)
{
    (void)s;
    struct map seen = { .arena = &arena };
    static const char *const names[] = { "builtin:train", "builtin:test" };
    for (int h = 0; h < 2; h++) {
        struct puzzles p = builtin(str_from(names[h]));
        struct puzzle_positions positions;
        puzzles_expand(&p, &arena, &positions);
        for (size_t i = 0; i < positions.n + p.n; i++) {
            bool fresh;
            str key = i < p.n ? p.v[i].id : position_name(&positions.v[i - p.n]);
            struct map_entry *e = map_put(&seen, key, &fresh);
            if (!fresh && e->number != h)
                fail_msg("%.*s is in both halves", STR(key));
            e->number = h;
        }
    }
}

static void the_built_in_files_are_those_of_the_source_tree(void **s)
{
    (void)s;
    static const char *const names[] = { "train", "test" };
    const char *root = getenv("ROOKERY_SOURCE");
    for (int h = 0; h < 2; h++) {
        str path = arena_printf(&arena, "%s/data/puzzles-%s.csv", root ? root : ".", names[h]);
        struct err err = { 0 };
        str text;
        if (!file_read(path, 1 << 20, &arena, &text, &err))
            fail_msg("%s", err.text);
        assert_str(builtin(arena_printf(&arena, "builtin:%s", names[h])).sha256,
                   sha256_of(text, &arena));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ten_official_columns_are_read),
        cmocka_unit_test(carriage_returns_are_read),
        cmocka_unit_test(an_unnamed_index_column_is_read_over),
        cmocka_unit_test(seven_columns_without_header_are_read),
        cmocka_unit_test(fen_moves_and_rating_alone_are_read),
        cmocka_unit_test(a_sort_key_behind_is_read_over),
        cmocka_unit_test(a_quoted_game_of_many_lines_is_read_over),
        cmocka_unit_test(the_puzzles_of_the_database_are_read),
        cmocka_unit_test(themes_are_found_in_headerless_files),
        cmocka_unit_test(the_papers_extra_columns_are_read_over),
        cmocka_unit_test(every_position_of_the_oracle_is_reproduced),
        cmocka_unit_test(the_built_in_halves_are_as_large_and_as_hard),
        cmocka_unit_test(the_built_in_halves_share_no_id_and_no_position),
        cmocka_unit_test(the_built_in_files_are_those_of_the_source_tree),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
