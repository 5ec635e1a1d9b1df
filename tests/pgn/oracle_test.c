// SPDX-License-Identifier: GPL-3.0-or-later
// oracle_test.c - real and odd files against what an independent rules library read in them.
#include "helpers.h"

// Files in which we mean to differ, and why.
static const char *const other_by_intent[] = {
    // the library ends a game at an empty line, also after an opening comment; we do not
    "odd/pgnextract__barnes-horton.pgn",
    "odd/pgnextract__test-C.pgn",
    "odd/pgnextract__test-F-text.pgn",
    "odd/pgnextract__test-Ta.pgn",
    "odd/pgnextract__test-checkmate.pgn",
    "odd/pgnextract__test-nochecks.pgn",
    "odd/pgnextract__test-stalemate.pgn",
    "odd/scid__res_gameLatin1.pgn",
    "odd/scalachess__FWWRC_tags_only_part1.pgn",
    // it needs an empty line to begin another, we do not
    "odd/pgnextract__test-fuzzydepth.pgn",
    "odd/pgnextract__test-nobadresults.pgn",
    "odd/sunfish__movetext_lines_part1.pgn",
    // words it passes over in silence are faults for us: text of a web page, half a move, what
    // follows the first brace that closes
    "odd/chessjs__0.pgn",
    "odd/fastchess__corrupted.pgn",
    "odd/pgnextract__nested-comment.pgn",
};

static bool is_compared(str file, const json_t *row)
{
    for (size_t i = 0; i < ARRAY_LEN(other_by_intent); i++) {
        if (str_eq(file, str_from(other_by_intent[i])))
            return false;
    }
    return str_find_char(file, '#') < 0 && str_eq(json_get_str(row, "variant"), S("chess"));
}

struct file_reader {
    str file;
    struct pgn_reader *r;
    int64_t index; // of the game read last
    struct pgn_game game;
    struct arena a;
    int mended; // games whose start has other castling rights for us
};

// Reads on in the file, which is opened anew where the rows change to another.
static enum pgn_read read_to(struct file_reader *f, str file, int64_t index, str path)
{
    enum pgn_read got = PGN_GOOD;
    struct err err = { 0 };
    if (!str_eq(f->file, file)) {
        pgn_close(f->r);
        if (!pgn_open(path, &f->r, &err))
            fail_msg("%s", err.text);
        f->file = file;
        f->index = -1;
    }
    for (; f->index < index; f->index++) {
        arena_reset(&f->a);
        got = next_game(f->r, &f->a, &f->game);
        if (got == PGN_END)
            fail_msg("%.*s has only %d games", STR(file), (int)f->index + 1);
    }
    return got;
}

static void check_row(struct file_reader *f, const json_t *row, enum pgn_read got)
{
    struct buf fen = { .arena = &f->a }, start = { .arena = &f->a };
    bool bad = json_array_size(json_object_get(row, "errors")) > 0;
    assert_str(moves_text(&f->game, &f->a), json_get_str(row, "uci"));
    assert_int_equal(got == PGN_BROKEN || f->game.bad_variations > 0, bad);
    position_format(&f->game.start, &start);
    if (str_eq(buf_str(&start), json_get_str(row, "start_fen"))) {
        position_format(&f->game.end.now, &fen);
        assert_str(buf_str(&fen), json_get_str(row, "final_fen"));
    } else {
        f->mended++; // rights of a king that is not at home, which the library keeps
    }
    assert_int_equal(game_repetitions(&f->game.end), json_get_int(row, "repetitions", -1));
    const json_t *headers = json_object_get(row, "headers");
    for (size_t i = 0; i < f->game.tags.n; i++) {
        str name = f->game.tags.v[i].name, value = f->game.tags.v[i].value;
        str want = json_get_str(headers, arena_str(&f->a, name).data);
        // Escaped quotes are not unescaped there, and the movetext overwrites the result.
        if (str_find_char(want, '\\') < 0 && !str_eq(name, S("Result")))
            assert_str(value, want);
    }
}

static void real_files_are_read_as_by_the_library(void **s)
{
    struct arena a = { 0 };
    struct file_reader f = { .index = -1 };
    size_t n = 0;
    (void)s;
    str lines = read_gz(shared_path(S("data/pgn/oracle_games.jsonl.gz"), &a), &a);
    json_t *row;
    while ((row = next_row(&lines))) {
        str file = arena_str(&a, json_get_str(row, "file"));
        if (is_compared(file, row)) {
            str path = shared_path(arena_printf(&a, "data/pgn/%.*s", STR(file)), &a);
            check_row(&f, row, read_to(&f, file, json_get_int(row, "index", -1), path));
            n++;
        }
        json_decref(row);
    }
    assert_true(n > 650);
    assert_true(f.mended <= 1);
    pgn_close(f.r);
    arena_free(&f.a);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_are_read_as_by_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
