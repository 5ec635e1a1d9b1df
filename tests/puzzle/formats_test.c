// SPDX-License-Identifier: GPL-3.0-or-later
// What a puzzle file may look like, and what is said when it does not: field cases F-038,
// F-041 to F-043 and the corners around them.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "corner.h"

static struct arena arena;

static str refusal(str text) // the message of a text that cannot be opened
{
    struct puzzle_reader *r = NULL;
    struct err err = { 0 };
    if (puzzle_reader_open_text(S("t.csv"), text, &r, &err))
        fail_msg("opened");
    assert_int_equal(err.code, ERR_INPUT);
    return error_text(&err, &arena);
}

static str the_bad_row(str text) // the message of the only bad row; no good one
{
    struct reading got = read_text(text, &arena);
    assert_int_equal(got.good.n, 0);
    assert_int_equal(got.bad.n, 1);
    return got.bad.v[0];
}

// ---- plain rows ----

static void the_first_move_belongs_to_the_opponent(void **s)
{
    (void)s;
    struct reading got = read_text(S("PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,"
                                     "Themes,GameUrl,OpeningTags\n"
                                     "00008," FEN_A "," LINE_A
                                     ",1807,75,95,8000,crushing hangingPiece long middlegame,"
                                     "https://lichess.org/787zsVup/black#48,\n"),
                                   &arena);
    assert_int_equal(got.good.n, 1);
    assert_int_equal(got.bad.n, 0);
    const struct puzzle *p = &got.good.v[0];
    assert_str(p->id, S("00008"));
    assert_str(p->fen, S(FEN_A));
    assert_str(p->line, S(LINE_A));
    assert_str(p->themes, S("crushing hangingPiece long middlegame"));
    assert_true(p->has_rating);
    assert_int_equal(p->rating, 1807);
    assert_int_equal(p->n_moves, 6);
    assert_int_equal(p->row, 0);
    assert_int_equal(p->lineno, 2);
    struct puzzle_positions positions;
    puzzles_expand(&got.good, &arena, &positions);
    static const char *const solutions[] = { "e6e7", "b3c1", "h6c1" };
    assert_int_equal(positions.n, 3);
    for (int i = 0; i < 3; i++) {
        assert_str(positions.v[i].reference, str_from(solutions[i]));
        assert_str(positions.v[i].inputs[1], S("white"));
        assert_int_equal(positions.v[i].index, i);
        assert_int_equal(positions.v[i].count, 3);
    }
    assert_str(positions.v[0].inputs[0], S("r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2b1/PqP3PP/7K w - - 0 25"));
}

static void columns_stand_in_any_order_and_others_are_ignored(void **s)
{
    (void)s;
    struct reading got = read_text(S(",Moves,themes,Extra,FEN,puzzleid\n"
                                     "7," LINE_B ",endgame,x," FEN_B ",q\n"),
                                   &arena);
    assert_int_equal(got.good.n, 1);
    assert_str(got.good.v[0].id, S("q"));
    assert_str(got.good.v[0].themes, S("endgame"));
    assert_false(got.good.v[0].has_rating);
}

static void optional_fields_may_be_missing_at_the_end_of_a_row(void **s)
{
    (void)s;
    struct reading got = read_text(S(HEADER "b," FEN_B "," LINE_B), &arena);
    assert_int_equal(got.good.n, 1);
    assert_false(got.good.v[0].has_rating);
    assert_str(got.good.v[0].themes, S(""));
    assert_str(the_bad_row(S(HEADER "b," FEN_B "\n")),
               S("t.csv:2: b: 2 fields, at least 3 are needed; fix or remove the row"));
}

static void empty_lines_count_as_lines_but_not_as_rows(void **s)
{
    (void)s;
    struct reading got = read_text(S("\n" HEADER "\n\r\n" ROW_A "\n" ROW_B "\n\n"), &arena);
    assert_int_equal(got.good.n, 2);
    assert_int_equal(got.good.v[0].lineno, 5);
    assert_int_equal(got.good.v[1].lineno, 7);
    assert_int_equal(got.good.v[1].row, 1);
}

// ---- F-042, F-043 ----

static void a_byte_order_mark_before_a_quoted_header_is_dropped(void **s)
{
    (void)s;
    struct reading got = read_text(S("\xEF\xBB\xBF\"PuzzleId\",\"FEN\",\"Moves\"\r\n"
                                     "\"a,1\",\"" FEN_B "\",\"" LINE_B "\"\r\n"),
                                   &arena);
    assert_int_equal(got.good.n, 1);
    assert_str(got.good.v[0].id, S("a,1"));
    assert_str(got.good.v[0].line, S(LINE_B));
}

static void quoted_fields_keep_line_breaks_and_halve_doubled_quotes(void **s)
{
    (void)s;
    struct reading got = read_text(S("note,PuzzleId,FEN,Moves\r\n"
                                     "\"two\r\nlines\",1," FEN_B "," LINE_B "\r\n"
                                     "x,\"say \"\"e4\"\"\"," FEN_B "," LINE_B "\r\n"
                                     "\"\"\"\"," FEN_B "," FEN_B "," LINE_B "\r\n"
                                     ",4," FEN_B "," LINE_B),
                                   &arena);
    assert_int_equal(got.good.n, 4);
    assert_str(got.good.v[0].id, S("1"));
    assert_str(got.good.v[1].id, S("say \"e4\""));
    assert_int_equal(got.good.v[1].lineno, 4); // the first row has two lines
    assert_str(got.good.v[3].id, S("4"));      // no line feed at the end
    assert_str(the_bad_row(S("PuzzleId,FEN,Moves\n\"i\r\nd\"," FEN_B "," LINE_B "\n")),
               S("t.csv:2: i??d: the id is over 64 bytes, has control characters or is not UTF-8; "
                 "fix or remove the row"));
}

static void an_unterminated_quote_is_named_by_its_line(void **s)
{
    (void)s;
    struct reading got = read_text(S("PuzzleId,FEN,Moves,note\r\n"
                                     "1," FEN_B "," LINE_B ",\"two\r\nlines\"\r\n"
                                     "2," FEN_B "," LINE_B ",\"say \"\"e4\"\"\"\r\n"
                                     "3," FEN_B "," LINE_B ",\r\n"
                                     "4," FEN_B "," LINE_B ",\"open\r\n"),
                                   &arena);
    assert_int_equal(got.good.n, 3);
    assert_int_equal(got.bad.n, 1);
    assert_str(got.bad.v[0],
               S("t.csv:6: unterminated quote starting at line 6; close or remove it"));
}

static void rows_behind_an_unterminated_quote_are_still_read(void **s)
{
    (void)s;
    struct reading got = read_text(S(HEADER "\"x," FEN_B "," LINE_B "\n" ROW_A ROW_B), &arena);
    assert_int_equal(got.bad.n, 1);
    assert_str(got.bad.v[0],
               S("t.csv:2: unterminated quote starting at line 2; close or remove it"));
    assert_int_equal(got.good.n, 2);
    assert_int_equal(got.good.v[0].lineno, 3);
    assert_int_equal(got.good.v[1].row, 2);
}

static void text_behind_a_closing_quote_is_a_bad_row(void **s)
{
    (void)s;
    struct reading got = read_text(S(HEADER "\"x\"y," FEN_B "," LINE_B "\n" ROW_A), &arena);
    assert_int_equal(got.good.n, 1);
    assert_int_equal(got.bad.n, 1);
    assert_contains(got.bad.v[0], S("t.csv:2: text behind a closing quote"));
}

// ---- limits ----

static str long_row(size_t n_bytes, char fill, bool fields)
{
    struct buf b = { .arena = &arena };
    buf_add(&b, S(HEADER "big," FEN_B "," LINE_B ",,,"));
    for (size_t i = 0; i < n_bytes; i++)
        buf_add_char(&b, fields && i % 100000 == 0 ? ',' : fill);
    buf_add(&b, S("\n" ROW_A));
    return buf_str(&b);
}

static void a_field_over_one_mib_is_a_bad_row(void **s)
{
    (void)s;
    struct reading fits = read_text(long_row(1 << 20, 'x', false), &arena);
    assert_int_equal(fits.good.n, 2);
    struct reading got = read_text(long_row((1 << 20) + 1, 'x', false), &arena);
    assert_int_equal(got.good.n, 1);
    assert_int_equal(got.good.v[0].lineno, 3);
    assert_int_equal(got.bad.n, 1);
    assert_str(got.bad.v[0], S("t.csv:2: field 6 is over 1 MiB; remove the row"));
    arena_reset(&arena);
}

static void a_row_over_four_mib_is_a_bad_row(void **s)
{
    (void)s;
    struct reading got = read_text(long_row(5 << 20, 'x', true), &arena);
    assert_int_equal(got.good.n, 1);
    assert_int_equal(got.good.v[0].lineno, 3);
    assert_int_equal(got.bad.n, 1);
    assert_contains(got.bad.v[0], S("is over 4 MiB; remove the row"));
    arena_reset(&arena);
}

static void a_quote_left_open_in_a_large_file_costs_one_row(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    buf_add(&b, S(HEADER "\"x," FEN_B "," LINE_B "\n"));
    size_t n = 0;
    while (b.len < 3 << 20)
        buf_addf(&b, "p%zu,%s,%s,,\n", n++, FEN_B, LINE_B);
    struct reading got = read_text(buf_str(&b), &arena);
    assert_int_equal(got.bad.n, 1);
    assert_contains(got.bad.v[0], S("field 1 is over 1 MiB, perhaps for an unterminated quote"));
    assert_int_equal(got.good.n, n);
    arena_reset(&arena);
}

static void at_most_64_columns_are_read(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    buf_add(&b, S(HEADER "many," FEN_B "," LINE_B));
    for (int i = 3; i < 65; i++)
        buf_add_char(&b, ',');
    buf_add(&b, S("\n" ROW_A));
    struct reading got = read_text(buf_str(&b), &arena);
    assert_int_equal(got.good.n, 1);
    assert_int_equal(got.bad.n, 1);
    assert_str(got.bad.v[0], S("t.csv:2: 65 columns, at most 64 are read; remove the row"));
}

static void a_line_has_at_most_256_moves(void **s)
{
    (void)s;
    static const char *const cycle[] = { "e2e1", "e5e6", "e1e2", "e6e5" };
    for (int n = 256; n <= 257; n++) {
        struct buf b = { .arena = &arena };
        buf_add(&b, S(HEADER "m," FEN_B ","));
        for (int i = 0; i < n; i++)
            buf_addf(&b, "%s ", cycle[i % 4]);
        struct reading got = read_text(buf_str(&b), &arena);
        assert_int_equal(got.good.n, n == 256);
        if (n == 257)
            assert_str(got.bad.v[0], S("t.csv:2: m: more than 256 moves; fix or remove the row"));
    }
}

// ---- what makes a row bad ----

static void an_illegal_move_is_named_with_its_number(void **s)
{
    (void)s;
    assert_str(the_bad_row(S(HEADER "z," FEN_B ",e2e1 e5e6 e2e5 e6e7,,\n")),
               S("t.csv:2: z: move 3 'e2e5' is not legal in the line 'e2e1 e5e6 e2e5 e6e7' of FEN "
                 "'" FEN_B "'; fix or remove the row"));
    assert_contains(the_bad_row(S(HEADER "z," FEN_B ",Ke1 e5e6,,\n")), S("move 1 'Ke1'"));
    assert_contains(the_bad_row(S(HEADER "z," FEN_B ",e2e1 0000,,\n")), S("move 2 '0000'"));
    assert_contains(the_bad_row(S(HEADER "z," FEN_B ",E2E1 e5e6,,\n")), S("move 1 'E2E1'"));
}

static void a_bad_fen_is_named(void **s)
{
    (void)s;
    str got = the_bad_row(S(HEADER "z,8/8/8/4k3/8/8/8/8 w - - 0 1,e2e1 e5e6,,\n"));
    assert_true(str_starts(got, S("t.csv:2: z: ")));
    assert_contains(got, S("'8/8/8/4k3/8/8/8/8 w - - 0 1'; fix or remove the row"));
    the_bad_row(S(HEADER "z,,e2e1 e5e6,,\n"));
}

static void at_least_two_moves_are_needed(void **s)
{
    (void)s;
    assert_str(the_bad_row(S(HEADER "z," FEN_B ",e2e1,,\n")),
               S("t.csv:2: z: 1 moves, at least two are needed: the opponent's and the solution; "
                 "fix or remove the row"));
    assert_contains(the_bad_row(S(HEADER "z," FEN_B ",,,\n")), S("0 moves"));
}

static void nothing_is_asked_after_an_odd_last_move(void **s)
{
    (void)s;
    struct reading got = read_text(S(HEADER "o," FEN_B "," LINE_B " e1e2,,\n"), &arena);
    struct puzzle_positions positions;
    assert_int_equal(got.good.n, 1);
    puzzles_expand(&got.good, &arena, &positions);
    assert_int_equal(positions.n, 1);
    assert_str(positions.v[0].reference, S("e5e6"));
    assert_str(positions.v[0].inputs[1], S("black"));
    the_bad_row(S(HEADER "o," FEN_B "," LINE_B " e1e3,,\n")); // but it must be legal
}

static void ids_are_short_clean_text(void **s)
{
    (void)s;
    char id[66];
    memset(id, 'i', sizeof id);
    for (int n = 64; n <= 65; n++) {
        struct reading got =
            read_text(arena_printf(&arena, HEADER "%.*s,%s,%s,,\n", n, id, FEN_B, LINE_B), &arena);
        assert_int_equal(got.good.n, n == 64);
    }
    assert_str(the_bad_row(S(HEADER "," FEN_B "," LINE_B ",,\n")),
               S("t.csv:2: the id is empty; give the row one or remove it"));
    assert_contains(the_bad_row(S(HEADER "a\tb," FEN_B "," LINE_B ",,\n")), S("control"));
    assert_contains(the_bad_row(S(HEADER "a\xE9," FEN_B "," LINE_B ",,\n")), S("UTF-8"));
}

static void ratings_are_numbers(void **s)
{
    (void)s;
    struct reading got = read_text(S(HEADER "r," FEN_B "," LINE_B ",1116.6,\n"), &arena);
    assert_int_equal(got.good.v[0].rating, 1117);
    assert_str(the_bad_row(S(HEADER "r," FEN_B "," LINE_B ",hard,\n")),
               S("t.csv:2: r: rating 'hard' is not a number from 0 to 9999; fix or empty the "
                 "field"));
    assert_contains(the_bad_row(S(HEADER "r," FEN_B "," LINE_B ",-1,\n")), S("'-1'"));
    assert_contains(the_bad_row(S(HEADER "r," FEN_B "," LINE_B ",10000,\n")), S("'10000'"));
}

static void themes_are_clean_text(void **s)
{
    (void)s;
    assert_contains(the_bad_row(S(HEADER "r," FEN_B "," LINE_B ",,\"fork\npin\"\n")),
                    S("t.csv:2: r: the themes"));
}

// ---- what is no puzzle file ----

static void a_header_without_the_needed_columns_is_named(void **s)
{
    (void)s;
    assert_str(refusal(S("id,FEN,Line\n1,x,y\n")),
               S("t.csv:1: missing column PuzzleId, Moves; the first row has: id, FEN, Line; name "
                 "them in a header, or begin with a puzzle (id, FEN, moves)"));
    assert_contains(refusal(S("\x7F"
                              "ELF\n")),
                    S("?ELF"));
    assert_contains(refusal(S("PuzzleId,FEN,Moves,FEN\n")), S("column FEN stands twice"));
}

static void an_empty_file_is_refused(void **s)
{
    (void)s;
    assert_str(refusal(S("")), S("t.csv: is empty; name a file with puzzles"));
    assert_str(refusal(S("\xEF\xBB\xBF")), S("t.csv: is empty; name a file with puzzles"));
    assert_str(refusal(S("\n \r\n")), S("t.csv: is empty; name a file with puzzles"));
}

static void gzip_is_named_with_its_cure(void **s)
{
    (void)s;
    assert_contains(refusal(S("\x1f\x8b\x08")), S("gunzip"));
}

static void paths_that_are_no_files_are_refused(void **s)
{
    (void)s;
    struct puzzle_reader *r = NULL;
    struct err err = { 0 };
    assert_false(puzzle_reader_open(S("."), &r, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_contains(error_text(&err, &arena), S(".: is a directory"));
    assert_false(puzzle_reader_open(S("no-such-file.csv"), &r, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_contains(error_text(&err, &arena), S("no-such-file.csv: "));
    assert_false(puzzle_reader_open(S("builtin:all"), &r, &err));
    assert_contains(error_text(&err, &arena), S("builtin:train and builtin:test"));
}

// ---- without a header ----

static void the_first_row_tells_the_columns_of_a_headerless_file(void **s)
{
    (void)s;
    struct reading got = read_text(S("k1," FEN_A "," LINE_A ",1500,69,endgame mateIn2,500\n"
                                     "k2," FEN_B "," LINE_B ",1501,69,,500\n"),
                                   &arena);
    assert_int_equal(got.good.n, 2);
    assert_str(got.good.v[0].id, S("k1"));
    assert_int_equal(got.good.v[0].rating, 1500);
    assert_str(got.good.v[0].themes, S("endgame mateIn2"));
    assert_int_equal(got.good.v[0].lineno, 1);
    assert_str(got.good.v[1].id, S("k2"));
    assert_str(got.good.v[1].themes, S(""));
}

static void the_ten_official_columns_need_no_header(void **s)
{
    (void)s;
    struct reading got = read_text(
        S("00008," FEN_A "," LINE_A ",1807,75,95,8000,crushing long,https://lichess.org/x,\n"
          "b," FEN_B "," LINE_B ",700,75,95,8000,endgame,https://lichess.org/y,Kings_Pawn\n"),
        &arena);
    assert_int_equal(got.good.n, 2);
    assert_str(got.good.v[0].themes, S("crushing long"));
    assert_str(got.good.v[1].themes, S("endgame"));
}

static void rows_without_ids_are_numbered(void **s)
{
    (void)s;
    struct reading got = read_text(
        S(FEN_A "," LINE_A ",1479\n" FEN_B ",e2e9 e5e6,9\n" FEN_B "," LINE_B ",600\n"), &arena);
    assert_int_equal(got.good.n, 2);
    assert_str(got.good.v[0].id, S("row-0"));
    assert_str(got.good.v[1].id, S("row-2"));
    assert_int_equal(got.good.v[1].rating, 600);
    assert_contains(got.bad.v[0], S("t.csv:2: row-1: move 1 'e2e9'"));
}

// ---- JSON Lines ----

static void json_lines_take_the_names_of_dump_and_database(void **s)
{
    (void)s;
    struct reading got =
        read_text(S("{\"id\":\"q1\",\"fen\":\"" FEN_A "\",\"line\":\"" LINE_A
                    "\",\"rating\":1116.08,\"themes\":[\"opening\",\"fork\"],\"cp\":7}\n"
                    "\n"
                    "{\"PuzzleId\":\"q2\",\"FEN\":\"" FEN_B "\",\"Moves\":[\"e2e1\",\"e5e6\"],"
                    "\"Rating\":\"1500\",\"Themes\":\"endgame\"}\r\n"
                    "{\"fen\":\"" FEN_B "\",\"moves\":\"" LINE_B "\",\"rating\":null}"),
                  &arena);
    assert_int_equal(got.bad.n, 0);
    assert_int_equal(got.good.n, 3);
    assert_str(got.good.v[0].id, S("q1"));
    assert_int_equal(got.good.v[0].rating, 1116);
    assert_str(got.good.v[0].themes, S("opening fork"));
    assert_str(got.good.v[1].id, S("q2"));
    assert_str(got.good.v[1].line, S(LINE_B));
    assert_int_equal(got.good.v[1].rating, 1500);
    assert_str(got.good.v[1].themes, S("endgame"));
    assert_int_equal(got.good.v[1].lineno, 3);
    assert_str(got.good.v[2].id, S("row-2"));
    assert_false(got.good.v[2].has_rating);
}

static void bad_json_lines_are_bad_rows(void **s)
{
    (void)s;
    struct reading got = read_text(
        S("{\"id\":\"q\",\"fen\":\"" FEN_B "\"}\n"
          "{\"id\":\"q\"\n"
          "[1]\n"
          "{\"id\":\"q\",\"fen\":\"" FEN_B "\",\"moves\":[1,2]}\n"
          "{\"id\":\"q\",\"fen\":\"" FEN_B "\",\"moves\":\"" LINE_B "\",\"rating\":true}\n"
          "{\"id\":\"q\",\"moves\":\"" LINE_B "\"}\n"
          "{\"id\":\"q\",\"fen\":\"" FEN_B "\",\"moves\":\"" LINE_B "\"}\n"),
        &arena);
    assert_int_equal(got.good.n, 1);
    assert_int_equal(got.good.v[0].row, 6);
    assert_int_equal(got.bad.n, 6);
    assert_str(got.bad.v[0],
               S("t.csv:1: q: no \"moves\" in the object; add it or remove the line"));
    assert_true(str_starts(got.bad.v[1], S("t.csv:2: ")));
    assert_contains(got.bad.v[2], S("t.csv:3: not a JSON object"));
    assert_contains(got.bad.v[3], S("\"moves\" is neither"));
    assert_contains(got.bad.v[4], S("\"rating\" is not a number"));
    assert_contains(got.bad.v[5], S("no \"fen\""));
}

static void a_json_line_over_four_mib_is_a_bad_row(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    buf_add(&b, S("{\"id\":\""));
    while (b.len < 5 << 20)
        buf_add(&b, S("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    buf_add(&b, S("\"}\n{\"id\":\"q\",\"fen\":\"" FEN_B "\",\"moves\":\"" LINE_B "\"}\n"));
    struct reading got = read_text(buf_str(&b), &arena);
    assert_int_equal(got.bad.n, 1);
    assert_str(got.bad.v[0], S("t.csv:1: the line is over 4 MiB; remove it"));
    assert_int_equal(got.good.n, 1);
    assert_int_equal(got.good.v[0].lineno, 2);
    arena_reset(&arena);
}

// ---- zstd ----

static void add_frame(struct buf *b, str text)
{
    size_t room = ZSTD_compressBound(text.len);
    char *frame = arena_alloc(&arena, room);
    size_t n = ZSTD_compress(frame, room, text.data, text.len, 3);
    assert_false(ZSTD_isError(n));
    buf_add(b, (str){ frame, n });
}

static void add_skippable(struct buf *b)
{
    buf_add(b, ((str){ "\x50\x2a\x4d\x18\x04\x00\x00\x00\xde\xad\xbe\xef", 12 }));
}

static void all_frames_are_read_and_skippable_ones_skipped_anywhere(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    add_skippable(&b);
    add_frame(&b, S("PuzzleId,FEN,Mo"));
    add_skippable(&b);
    add_frame(&b, S("ves,Rating,Themes\n" ROW_A));
    add_frame(&b, S(""));
    add_frame(&b, S(ROW_B));
    add_skippable(&b);
    struct reading got = read_text(buf_str(&b), &arena);
    assert_int_equal(got.good.n, 2);
    assert_str(got.good.v[1].id, S("b"));
    assert_str(got.sha256, sha256_of(buf_str(&b), &arena)); // of the bytes as stored
}

// The 59 bytes of field case F-041 behind a frame that makes their text a puzzle file.
static void the_frames_of_f041_decode_to_header_and_row(void **s)
{
    (void)s;
    static const unsigned char bytes[] = {
        0x50, 0x2a, 0x4d, 0x18, 0x04, 0x00, 0x00, 0x00, 0xde, 0xad, 0xbe, 0xef, 0x28, 0xb5, 0x2f,
        0xfd, 0x24, 0x0d, 0x69, 0x00, 0x00, 0x50, 0x75, 0x7a, 0x7a, 0x6c, 0x65, 0x49, 0x64, 0x2c,
        0x46, 0x45, 0x4e, 0x0a, 0xa3, 0x95, 0x81, 0x6b, 0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x08, 0x41,
        0x00, 0x00, 0x30, 0x30, 0x30, 0x30, 0x38, 0x2c, 0x78, 0x0a, 0x35, 0xce, 0x1c, 0x37
    };
    str f041 = { (const char *)bytes, sizeof bytes };
    assert_contains(refusal(f041), S("missing column Moves; the first row has: PuzzleId, FEN;"));
    struct buf b = { .arena = &arena };
    add_frame(&b, S("FEN,Moves,"));
    buf_add(&b, f041);
    assert_contains(refusal(buf_str(&b)), S("column FEN stands twice"));
    b.len = 0;
    add_frame(&b, S("Moves,FEN\x2C\x22")); // the quote swallows the header's end
    buf_add(&b, f041);
    add_frame(&b, S("\""));
    assert_contains(refusal(buf_str(&b)), S("FEN, PuzzleId,FEN?00008,x?"));
}

static void truncated_zstd_is_an_error_wherever_it_is_cut(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    add_frame(&b, S(HEADER ROW_A));
    size_t first = b.len;
    add_frame(&b, S(ROW_B));
    size_t second = b.len;
    add_skippable(&b);
    str whole = buf_str(&b);
    for (size_t n = 4; n < whole.len; n++) {
        struct puzzle_reader *r = NULL;
        struct err err = { 0 };
        bool opened = puzzle_reader_open_text(S("t"), str_sub(whole, 0, n), &r, &err);
        bool at_border = n == first || n == second;
        if (opened != at_border)
            fail_msg("cut at %zu: %s", n, opened ? "read" : err.text);
        if (!opened)
            assert_contains(error_text(&err, &arena), S("get the file again"));
        puzzle_reader_free(r);
    }
}

static void damaged_zstd_is_an_error(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    add_frame(&b, S(HEADER ROW_A));
    buf_add(&b, S("garbage behind the frame"));
    assert_contains(refusal(buf_str(&b)), S("near byte"));
}

// A file larger than the ring of blocks, so that the reading thread works.
static str large_file(struct buf *text)
{
    for (size_t i = 0; text->len < 3 << 20; i++)
        buf_addf(text, "p%zu,%s,%s,%zu,\n", i, i % 2 ? FEN_A : FEN_B, i % 2 ? LINE_A : LINE_B,
                 500 + i % 2000);
    return buf_str(text);
}

static str temporary_file(str content)
{
    static char path[64];
    snprintf(path, sizeof path, "puzzle-formats-%ld.tmp", (long)getpid());
    struct err err = { 0 };
    if (!file_save(str_from(path), content, &err))
        fail_msg("%s", err.text);
    return str_from(path);
}

static void a_large_file_reads_alike_plain_and_compressed(void **s)
{
    (void)s;
    struct buf text = { .arena = &arena }, packed = { .arena = &arena };
    buf_add(&text, S(HEADER));
    str plain = large_file(&text);
    add_frame(&packed, str_sub(plain, 0, 1000001));
    add_skippable(&packed);
    add_frame(&packed, str_sub(plain, 1000001, plain.len));
    size_t n = 0;
    for (int compressed = 0; compressed < 2; compressed++) {
        str content = compressed ? buf_str(&packed) : plain;
        struct reading got = read_path(temporary_file(content), &arena);
        assert_int_equal(got.bad.n, 0);
        assert_true(got.good.n > 30000 && (n == 0 || n == got.good.n));
        n = got.good.n;
        for (size_t i = 0; i < n; i++)
            if (got.good.v[i].lineno != i + 2 || got.good.v[i].rating != (int)(500 + i % 2000))
                fail_msg("row %zu is wrong", i);
        assert_str(got.sha256, sha256_of(content, &arena));
    }
    // A reader may be left in the middle, and a cut file fails in the middle.
    for (int cut = 0; cut < 2; cut++) {
        str content = cut ? str_sub(buf_str(&packed), 0, packed.len - 3) : plain;
        struct puzzle_reader *r = NULL;
        struct puzzle p;
        struct err err = { 0 };
        assert_true(puzzle_reader_open(temporary_file(content), &r, &err));
        enum puzzle_read got = puzzle_reader_next(r, &arena, &p, &err);
        assert_int_equal(got, PUZZLE_ROW);
        assert_str(puzzle_reader_sha256(r, &arena), S(""));
        while (cut && got == PUZZLE_ROW)
            got = puzzle_reader_next(r, &arena, &p, &err);
        assert_int_equal(got, cut ? PUZZLE_FAIL : PUZZLE_ROW);
        if (cut)
            assert_contains(error_text(&err, &arena), S("cut off"));
        puzzle_reader_free(r);
    }
    unlink(temporary_file(S("")).data);
    arena_reset(&arena);
}

// ---- loading ----

static bool load(str text, const struct puzzle_load_opts *opts, struct puzzles *out,
                 struct err *err)
{
    *err = (struct err){ 0 };
    str path = temporary_file(text);
    bool ok = puzzles_load(path, opts, &arena, out, err);
    unlink(path.data);
    return ok;
}

static void duplicate_ids_are_bad_rows(void **s)
{
    (void)s;
    struct puzzles got;
    struct err err;
    str text = S(HEADER ROW_A ROW_B "a," FEN_B "," LINE_B ",,\n");
    assert_true(load(text, NULL, &got, &err));
    assert_int_equal(got.n, 2);
    assert_int_equal(got.n_rejected, 1);
    assert_str(got.sha256, sha256_of(text, &arena));
    assert_false(load(text, &(struct puzzle_load_opts){ .strict = true }, &got, &err));
    assert_contains(error_text(&err, &arena), S(":4: a: the id stands at line 2 already"));
}

static void strict_loading_stops_at_the_first_bad_row(void **s)
{
    (void)s;
    struct puzzles got;
    struct err err;
    str text = S(HEADER ROW_A "x," FEN_B ",e2e1 e1e1,,\n" ROW_B);
    assert_true(load(text, NULL, &got, &err));
    assert_int_equal(got.n, 2);
    assert_int_equal(got.v[1].row, 2);
    assert_int_equal(got.n_rejected, 1);
    assert_false(load(text, &(struct puzzle_load_opts){ .strict = true }, &got, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_contains(error_text(&err, &arena), S(":3: x: move 2 'e1e1'"));
}

static void a_file_without_a_good_row_is_an_error(void **s)
{
    (void)s;
    struct puzzles got;
    struct err err;
    assert_false(load(S(HEADER), NULL, &got, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_false(load(S(HEADER "x," FEN_B ",e2e1 e1e1,,\n"), NULL, &got, &err));
    assert_contains(error_text(&err, &arena), S("no good row among 1"));
}

static size_t filtered(struct puzzle_filter filter)
{
    struct puzzles got;
    struct err err;
    struct puzzle_load_opts opts = { .filter = filter };
    return load(S(HEADER ROW_A ROW_B), &opts, &got, &err) ? got.n : 0;
}

static void filters_choose_puzzles(void **s)
{
    (void)s;
    assert_int_equal(filtered((struct puzzle_filter){ 0 }), 2);
    assert_int_equal(filtered((struct puzzle_filter){ .theme = S("hangingPiece") }), 1);
    assert_int_equal(filtered((struct puzzle_filter){ .theme = S("hanging") }), 0);
    assert_int_equal(filtered((struct puzzle_filter){ .min_rating = 1807 }), 1);
    assert_int_equal(filtered((struct puzzle_filter){ .min_rating = 1808 }), 0);
    assert_int_equal(filtered((struct puzzle_filter){ .max_rating = 1807 }), 1);
    assert_int_equal(filtered((struct puzzle_filter){ .max_rating = 1806 }), 0);
    assert_int_equal(filtered((struct puzzle_filter){ .solver_moves = 1 }), 1);
    assert_int_equal(filtered((struct puzzle_filter){ .solver_moves = 2 }), 0);
    assert_int_equal(filtered((struct puzzle_filter){ .solver_moves = 3 }), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_move_belongs_to_the_opponent),
        cmocka_unit_test(columns_stand_in_any_order_and_others_are_ignored),
        cmocka_unit_test(optional_fields_may_be_missing_at_the_end_of_a_row),
        cmocka_unit_test(empty_lines_count_as_lines_but_not_as_rows),
        cmocka_unit_test(a_byte_order_mark_before_a_quoted_header_is_dropped),
        cmocka_unit_test(quoted_fields_keep_line_breaks_and_halve_doubled_quotes),
        cmocka_unit_test(an_unterminated_quote_is_named_by_its_line),
        cmocka_unit_test(rows_behind_an_unterminated_quote_are_still_read),
        cmocka_unit_test(text_behind_a_closing_quote_is_a_bad_row),
        cmocka_unit_test(a_field_over_one_mib_is_a_bad_row),
        cmocka_unit_test(a_row_over_four_mib_is_a_bad_row),
        cmocka_unit_test(a_quote_left_open_in_a_large_file_costs_one_row),
        cmocka_unit_test(at_most_64_columns_are_read),
        cmocka_unit_test(a_line_has_at_most_256_moves),
        cmocka_unit_test(an_illegal_move_is_named_with_its_number),
        cmocka_unit_test(a_bad_fen_is_named),
        cmocka_unit_test(at_least_two_moves_are_needed),
        cmocka_unit_test(nothing_is_asked_after_an_odd_last_move),
        cmocka_unit_test(ids_are_short_clean_text),
        cmocka_unit_test(ratings_are_numbers),
        cmocka_unit_test(themes_are_clean_text),
        cmocka_unit_test(a_header_without_the_needed_columns_is_named),
        cmocka_unit_test(an_empty_file_is_refused),
        cmocka_unit_test(gzip_is_named_with_its_cure),
        cmocka_unit_test(paths_that_are_no_files_are_refused),
        cmocka_unit_test(the_first_row_tells_the_columns_of_a_headerless_file),
        cmocka_unit_test(the_ten_official_columns_need_no_header),
        cmocka_unit_test(rows_without_ids_are_numbered),
        cmocka_unit_test(json_lines_take_the_names_of_dump_and_database),
        cmocka_unit_test(bad_json_lines_are_bad_rows),
        cmocka_unit_test(a_json_line_over_four_mib_is_a_bad_row),
        cmocka_unit_test(all_frames_are_read_and_skippable_ones_skipped_anywhere),
        cmocka_unit_test(the_frames_of_f041_decode_to_header_and_row),
        cmocka_unit_test(truncated_zstd_is_an_error_wherever_it_is_cut),
        cmocka_unit_test(damaged_zstd_is_an_error),
        cmocka_unit_test(a_large_file_reads_alike_plain_and_compressed),
        cmocka_unit_test(duplicate_ids_are_bad_rows),
        cmocka_unit_test(strict_loading_stops_at_the_first_bad_row),
        cmocka_unit_test(a_file_without_a_good_row_is_an_error),
        cmocka_unit_test(filters_choose_puzzles),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
