// SPDX-License-Identifier: GPL-3.0-or-later
// Reading EPD: positions with operations, as the suites in circulation write them.
#include "helpers.h"

#include "chess/chess.h"

static struct epd epd_of(const char *line)
{
    struct epd epd;
    struct err err = { 0 };
    if (!epd_parse(str_from(line), VARIANT_STANDARD, &epd, &err))
        fail_msg("%s: %s", line, err.text);
    return epd;
}

// "opcode=operand|operand" of every operation, with one blank between.
static str written(const struct epd *epd, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < epd->n; i++) {
        buf_addf(&b, i ? " %.*s=" : "%.*s=", STR(epd->v[i].opcode));
        str rest = epd->v[i].operands, word;
        for (int k = 0; epd_operand(&rest, &word); k++)
            buf_addf(&b, k ? "|%.*s" : "%.*s", STR(word));
    }
    return buf_str(&b);
}

#define BOARD "4k3/8/8/8/8/8/8/R3K2R w KQ -"

static void operations_are_read_however_they_are_set(void **state)
{
    (void)state;
    static const struct {
        const char *line, *operations;
    } rows[] = {
        { BOARD, "" },
        { BOARD " bm O-O; id \"castle\";", "bm=O-O id=castle" },
        { BOARD " bm O-O Ra8+;id \"a b; c\"", "bm=O-O|Ra8+ id=a b; c" },
        { BOARD " bm O-O, Ra8; am Kf1;\r\n", "bm=O-O|Ra8 am=Kf1" },
        { BOARD " 3 40 am Kf1", "am=Kf1" },
        { BOARD " 3 40;am Kf1", "am=Kf1" },
        { BOARD ";D1 26 ;D2 112", "D1=26 D2=112" },
        { BOARD " D1 26; D2 112;", "D1=26 D2=112" },
        { BOARD " ce +M2; pv a1a8;", "ce=+M2 pv=a1a8" },
        { BOARD " draw_reject; c0 \"\";", "draw_reject= c0=" },
        { BOARD " ;;; ;", "" },
        { BOARD " c0 \"\" x;", "c0=|x" },
        { BOARD " - bm O-O;", "bm=O-O" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct epd epd = epd_of(rows[i].line);
        assert_str(written(&epd, &a), str_from(rows[i].operations));
        assert_int_equal(epd.repairs, 0);
    }
    struct epd epd = epd_of(BOARD " 3 40 hmvc 7;");
    assert_str(fen_of(&epd.at, &a), S(BOARD " 3 40"));
    assert_str(epd_find(&epd, S("hmvc"))->operands, S("7"));
    assert_null(epd_find(&epd, S("bm")));
    arena_free(&a);
}

static void bad_lines_are_refused_with_the_column(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } rows[] = {
        { "", "0 fields" },
        { "# a comment", "ranks" },
        { "4k3/8/8/8/8x/8/8/4K3 w - - bm e4;", "column 12" },
        { BOARD " bm O-O; id \"open", "quoted text does not end, \" is missing (column 41)" },
        { BOARD " bm O-O; 7 x;", "\"7 x\", must begin with a letter (column 38)" },
        { BOARD " 3 bm O-O;", "\"3 bm O-O\", must begin" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct epd epd;
        struct err err = { 0 };
        assert_false(epd_parse(str_from(rows[i].line), VARIANT_STANDARD, &epd, &err));
        assert_int_equal(err.code, ERR_INPUT);
        if (str_find(str_from(err.text), str_from(rows[i].says)) < 0)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
}

static void lines_without_end_are_refused(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct buf b = { .arena = &a };
    struct epd epd;
    struct err err = { 0 };
    buf_add(&b, S(BOARD));
    for (int i = 0; i <= EPD_OPERATIONS_MAX; i++)
        buf_add(&b, S(" c0 \"x\";"));
    assert_false(epd_parse(buf_str(&b), VARIANT_STANDARD, &epd, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    while (b.len < 1 << 17)
        buf_add_char(&b, ' ');
    assert_false(epd_parse(buf_str(&b), VARIANT_STANDARD, &epd, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    arena_free(&a);
}

static void operands_are_moves_in_any_notation(void **state)
{
    (void)state;
    static const struct {
        const char *operand;
        enum san_verdict verdict;
        const char *uci;
    } rows[] = {
        { "O-O", SAN_LEGAL, "e1g1" },    { "e1g1", SAN_LEGAL, "e1g1" },
        { "Ra8+", SAN_LEGAL, "a1a8" },   { "Ra1-a8+", SAN_LEGAL, "a1a8" },
        { "Ra8+!?", SAN_LEGAL, "a1a8" }, { "Ra9", SAN_INVALID, NULL },
        { "Qh5", SAN_ILLEGAL, NULL },    { "", SAN_INVALID, NULL },
        { "Rf1", SAN_LEGAL, "h1f1" },    { "??", SAN_INVALID, NULL },
    };
    struct epd epd = epd_of(BOARD);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        move m = MOVE_NONE;
        assert_int_equal(epd_move(&epd, str_from(rows[i].operand), &m), rows[i].verdict);
        if (rows[i].uci)
            assert_str(str_from(uci_format(m).data), str_from(rows[i].uci));
    }
}

// ---- suites of the shared data ----

static struct { // the file that the records of epd_resolved speak of
    str name, rest;
    int64_t line;
    struct arena arena;
    int positions, moves, unresolved;
} suite;

// Line `wanted` of the file, counting lines that are not empty.
static str suite_line(str name, int64_t wanted)
{
    if (!str_eq(name, suite.name)) {
        struct err err = { 0 };
        arena_reset(&suite.arena);
        suite.name = arena_str(&suite.arena, name);
        suite.line = 0;
        str path = arena_printf(&suite.arena, "data/epd/%.*s", STR(name));
        if (!file_read(shared_path(path, &suite.arena), 8 << 20, &suite.arena, &suite.rest, &err))
            fail_msg("%s", err.text);
    }
    str line = { 0 };
    while (suite.line < wanted) {
        assert_true(suite.rest.len > 0);
        line = str_cut_line(&suite.rest);
        suite.line += str_trim(line).len > 0;
    }
    return line;
}

static void check_moves(const json_t *tokens, const struct epd *epd, str opcode)
{
    const struct epd_operation *op = epd_find(epd, opcode);
    str rest = op ? op->operands : S(""); // none: it stands inside a quoted comment
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        const json_t *token = json_array_get(tokens, i);
        str uci = json_get_str(token, "uci"), operand = { 0 };
        (void)epd_operand(&rest, &operand);
        move m = MOVE_NONE;
        enum san_verdict verdict = epd_move(epd, operand, &m);
        suite.moves += uci.len > 0;
        if (uci.len == 0) { // a slip of the suite, or a mark that we drop
            suite.unresolved += verdict != SAN_LEGAL;
            assert_true(verdict != SAN_LEGAL ||
                        str_find_char(json_get_str(token, "tok"), '!') >= 0 ||
                        str_find_char(json_get_str(token, "tok"), '?') >= 0);
        } else if (verdict != SAN_LEGAL || !str_eq(uci, str_from(uci_format(m).data))) {
            fail_msg("%.*s:%d: %.*s", STR(suite.name), (int)suite.line, STR(operand));
        }
    }
}

static void check_resolved(const json_t *row, struct arena *a)
{
    struct epd epd;
    struct err err = { 0 };
    str line = suite_line(json_get_str(row, "file"), json_get_int(row, "line", 0));
    // What python-chess calls bad castling rights is mended here, and told.
    bool valid = json_is_true(json_object_get(row, "status_valid"));
    bool mends = str_eq(json_get_str(row, "status"), S("256"));
    bool read = epd_parse(line, VARIANT_STANDARD, &epd, &err);
    bool open = !read && str_find(str_from(err.text), S("a quoted text does not end")) >= 0;
    if (read != (valid || mends) && !open)
        fail_msg("%.*s:%d: %s", STR(suite.name), (int)suite.line, err.text);
    if (!read)
        return;
    suite.positions++;
    assert_int_equal((epd.repairs & REPAIR_CASTLING) != 0, mends);
    struct position again = pos_of(arena_str(a, json_get_str(row, "fen4")).data);
    assert_true(again.key == epd.at.key);
    check_moves(json_object_get(row, "bm"), &epd, S("bm"));
    check_moves(json_object_get(row, "am"), &epd, S("am"));
}

static void best_and_avoided_moves_of_all_suites_are_the_right_ones(void **state)
{
    (void)state;
    assert_int_equal(records_each(S("data/epd/epd_resolved.jsonl.gz"), check_resolved), 6465);
    // Refused: no king, twice a right too many, a text without end. Not moves: slips of the suites.
    assert_int_equal(suite.positions, 6465 - 4);
    assert_int_equal(suite.moves, 6368);
    assert_int_equal(suite.unresolved, 13);
    arena_free(&suite.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_read_however_they_are_set),
        cmocka_unit_test(bad_lines_are_refused_with_the_column),
        cmocka_unit_test(lines_without_end_are_refused),
        cmocka_unit_test(operands_are_moves_in_any_notation),
        cmocka_unit_test(best_and_avoided_moves_of_all_suites_are_the_right_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
