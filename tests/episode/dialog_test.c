// SPDX-License-Identifier: GPL-3.0-or-later
// The reader of dialogs against the tables of the LLM Chess specification (9.2), its literal
// strings and lists (1.2 to 1.5), and the removal of reasoning (1.8).
#include "test.h"

#include "episode/episode.h"

static struct arena arena;

enum { P0, P1, P2, P3, P4, P5 };
static const str fens[] = {
    T("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    T("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
    T("8/8/8/8/8/2k5/p6K/8 b - - 0 60"),
    T("r3k2r/pppq1ppp/8/8/8/8/PPPQ1PPP/R3K2R b KQkq - 0 1"),
    T("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3"),
    T("rnbqk1nr/pppp1ppp/8/4N3/1b2P3/3P4/PPP2PPP/RNBQKB1R w KQkq - 1 4"),
};

static struct position position_of(str fen)
{
    struct position pos;
    struct err err = { 0 };
    if (position_parse(fen, &pos, &err) != FAULT_NONE)
        fail_msg("%s", err.text);
    return pos;
}

// "BOARD", "OK e7e5", "WM e7e4", "WA": as the tables write outcomes.
static str outcome_of(const struct dialog_rules *r, int pos, const struct dialog_said *said)
{
    static const char *const plain[] = { "BOARD", "LIST", "REFL", "", "FOLLOW", "WA" };
    struct dialog_reading reading;
    struct position at = position_of(fens[pos]);
    dialog_read(r, said, &arena, &reading);
    if (reading.action != ACTION_MOVE)
        return str_from(plain[reading.action]);
    struct dialog_try tried = dialog_move(r, &at, reading.move, &arena);
    if (tried.m == MOVE_NONE)
        return arena_printf(&arena, "WM %.*s", STR(reading.move));
    return arena_printf(&arena, "OK %s", uci_format(tried.m).data);
}

static void says(const char *id, const struct dialog_rules *r, int pos, const char *reply,
                 const char *want)
{
    struct dialog_said said = { .text = str_from(reply) };
    str got = outcome_of(r, pos, &said);
    // "WM" alone: whatever text it is
    bool ok = str_eq(got, str_from(want)) ||
              (str_eq(str_from(want), S("WM")) && str_starts(got, S("WM ")));
    if (!ok)
        fail_msg("%s, %.*s: got \"%.*s\", want \"%s\"", id, STR(dialog_profile_name(r->profile)),
                 STR(got), want);
}

static const struct row {
    const char *id;
    int pos;
    const char *reply, *compat, *v0, *robust; // NULL: as compat
} rows[] = {
    { "T01", P1, "get_current_board", "BOARD", NULL, NULL },
    { "T02", P1, "  GET_CURRENT_BOARD \n", "BOARD", NULL, NULL },
    { "T03", P1, "Action: `get_legal_moves`", "LIST", NULL, NULL },
    { "T04", P1, "get_current_board\nget_legal_moves", "BOARD", NULL, "LIST" },
    { "T05", P1, "I will not call get_legal_moves. make_move e7e5", "LIST", NULL, "WA" },
    { "T06", P1, "make_move e7e5", "OK e7e5", NULL, NULL },
    { "T07", P1, "MAKE_MOVE E7E5", "OK e7e5", NULL, NULL },
    { "T08", P1, "Action: `make_move e7e5`", "OK e7e5", "WA", NULL },
    { "T09", P1, "**make_move e7e5**", "OK e7e5", "WA", NULL },
    { "T10", P1, "```\nmake_move e7e5\n```", "OK e7e5", "WA", NULL },
    { "T11", P1, "```json\n{\"action\": \"make_move\", \"move\": \"e7e5\"}\n```", "WA", "WA",
      "OK e7e5" },
    { "T12", P1, "I apologize \xE2\x80\xA6\n\nmake_move c7c5", "OK c7c5", "WA", NULL },
    { "T13", P1, "make_move: e7e5", "WA", "OK e7e5", "OK e7e5" },
    { "T14", P1, "make_move  e7e5", "WA", "OK e7e5", "OK e7e5" },
    { "T15", P1, "make_move\te7e5", "WA", "OK e7e5", "OK e7e5" },
    { "T15b", P1, "make_move\ne7e5", "WA", "OK e7e5", "OK e7e5" },
    { "T16", P1, "make_move `e7e5`", "WA", "WM `e7e5`", "OK e7e5" },
    { "T17", P1, "make_move <e7e5>", "WA", "WM", "OK e7e5" },
    { "T18", P1, "make_move(e7e5)", "WA", "WM", "OK e7e5" },
    { "T19", P1, "make_move e7-e5", "WA", "WM e7-e5", "OK e7e5" },
    { "T20", P1, "make_move e7 e5", "WA", "WM e5", "OK e7e5" },
    { "T21", P1, "make_move e7e5.", "OK e7e5", "WM e7e5.", NULL },
    { "T22", P1, "make_move e7e5, because it fights for the centre", "OK e7e5", "WM centre", NULL },
    { "T23", P1, "make_move e7e5 make_move d7d5", "OK e7e5", "OK d7d5", "WA" },
    { "T24", P1, "make_move e7e4 or make_move e7e5", "WM e7e4", "OK e7e5", "WA" },
    { "T25", P1, "make_move e7e5e4", "WM e7e5e", "WM", "WA" },
    { "T26", P1, "I will use make_move when ready: make_move e7e5", "WM when", "WA", "OK e7e5" },
    { "T27", P1, "make_move e5", "WA", "WM e5", "OK e7e5" },
    { "T28", P1, "make_move Nf6", "WA", "WM nf6", "OK g8f6" },
    { "T29", P1, "make_move Ng8f6", "WM ng8f6", "WM", "OK g8f6" },
    { "T30", P1, "make_move g8f6", "OK g8f6", NULL, NULL },
    { "T31", P1, "make_move knight to f6", "WM knigh", "WM f6", "WA" },
    { "T32", P1, "make_move e2e4", "WM e2e4", NULL, NULL },
    { "T33", P1, "make_move e7e9", "WM e7e9", NULL, NULL },
    { "T34", P1, "make_move e7e7", "WM e7e7", NULL, NULL },
    { "T35", P1, "make_move 0000", "WM 0000", NULL, NULL },
    { "T36", P1, "e7e5", "WA", "WA", "WA" },
    { "T37", P1, "", "WA", "WA", "WA" },
    { "T37b", P1, "   \n", "WA", "WA", "WA" },
    { "T38", P1, "I resign.", "WA", "WA", "WA" },
    { "T39", P1, "make_moves e7e5", "WA", "OK e7e5", "WA" },
    { "T41", P2, "make_move a2a1", "WM a2a1", NULL, NULL },
    { "T42", P2, "make_move a2a1Q", "OK a2a1q", NULL, NULL },
    { "T43", P2, "make_move a2a1=Q", "WM a2a1", "WM a2a1=q", "OK a2a1q" },
    { "T44", P2, "make_move a2a1n", "OK a2a1n", NULL, NULL },
    { "T45", P2, "make_move a2a1k", "WM a2a1k", NULL, NULL },
    { "T46", P2, "make_move a1=Q", "WA", "WM", "OK a2a1q" },
    { "T47", P3, "make_move O-O", "WA", "WM o-o", "OK e8g8" },
    { "T47b", P3, "make_move 0-0", "WA", "WM 0-0", "OK e8g8" },
    { "T48", P3, "make_move e8g8", "OK e8g8", NULL, NULL },
    { "T49", P3, "make_move e8h8", "OK e8g8", NULL, NULL },
    { "T50", P3, "make_move e8c8", "OK e8c8", NULL, NULL },
    { "T50b", P3, "make_move o-o-o", "WA", "WM o-o-o", "OK e8c8" },
    { "T51", P3, "make_move castle kingside", "WM castl", "WM kingside", "WA" },
    { "T52", P4, "make_move d4e3", "OK d4e3", NULL, NULL },
    { "T53", P4, "make_move dxe3", "WM dxe3", "WM", "OK d4e3" },
    { "T54", P4, "make_move d4e3ep", "WM d4e3e", "WM", "OK d4e3" },
    { "T55", P5, "make_move e5f7", "WM e5f7", NULL, NULL },
    { "T56", P5, "make_move c2c3", "OK c2c3", NULL, NULL },
    { "T57", P1, "do_reflection", "WA", "WA", "WA" },
    // wish W11 and what the robust profile reads beside the table
    { "W11a", P1, "\\boxed{make\\_move e7e5}", "WA", "WM", "OK e7e5" },
    { "W11b", P1, "<b>make_move</b> 1... e5", "WA", "WA", "OK e7e5" },
    { "W11c", P4, "make_move d4xe3 e.p.", "WM d4xe3", "WM", "OK d4e3" },
    { "W11d", P1, "make_move Nf6!?", "WA", "WM", "OK g8f6" },
    { "W11e", P1, "{\"name\": \"make_move\", \"arguments\": {\"move\": \"Nf6\"}}", "WA", "WA",
      "OK g8f6" },
    { "W11f", P1, "Not get_legal_moves, but\n\n`make_move c7c5`", "LIST", "LIST", "OK c7c5" },
    { "W11g", P1, "the command is make_move, so here it is: make_move e7e5 (make_move e7e5!)",
      "OK e7e5", "WA", "OK e7e5" },
};

static void replies_read_as_the_table_says(void **s)
{
    (void)s;
    const struct dialog_rules compat = { 0 }, v0 = { .profile = DIALOG_V0 },
                              robust = { .profile = DIALOG_ROBUST };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *w = &rows[i];
        says(w->id, &compat, w->pos, w->reply, w->compat);
        if (!str_eq(str_from(w->id), S("W11a")) && !str_eq(str_from(w->id), S("W11c")))
            says(w->id, &v0, w->pos, w->reply, w->v0 ? w->v0 : w->compat);
        says(w->id, &robust, w->pos, w->reply, w->robust ? w->robust : w->compat);
    }
}

static const struct dialog_rules compat_rules = { 0 }, robust_rules = { .profile = DIALOG_ROBUST };

// T40, D10.
static void a_tool_call_keeps_its_move_in_robust_only(void **s)
{
    (void)s;
    struct dialog_said said = { .tool = S("make_move"),
                                .tool_arguments = S("{\"move\": \"e7e5\"}") };
    assert_str(outcome_of(&compat_rules, P1, &said), S("WA"));
    assert_str(outcome_of(&robust_rules, P1, &said), S("OK e7e5"));
    said.tool = S("get_legal_moves");
    said.tool_arguments = S("{}");
    assert_str(outcome_of(&compat_rules, P1, &said), S("LIST"));
    assert_str(outcome_of(&robust_rules, P1, &said), S("LIST"));
}

// T57 to T59, D7, D8.
static void reflection_is_obeyed_only_where_offered(void **s)
{
    (void)s;
    struct dialog_rules r = { .options = DIALOG_REFLECTION };
    struct dialog_said ask = { .text = S("do_reflection") };
    assert_str(outcome_of(&r, P1, &ask), S("REFL"));
    assert_str(outcome_of(&compat_rules, P1, &ask), S("WA"));
    struct dialog_said moves = { .text = S("I see a fork. Action: make_move g8f6"),
                                 .after_reflection = true };
    struct dialog_said list = { .text = S("let me see get_legal_moves"), .after_reflection = true };
    assert_str(outcome_of(&r, P1, &moves), S("OK g8f6"));
    assert_str(outcome_of(&r, P1, &list), S("LIST"));
    r.options |= DIALOG_SWALLOW; // the original of 2025-12
    assert_str(outcome_of(&r, P1, &moves), S("FOLLOW"));
    assert_str(outcome_of(&r, P1, &list), S("LIST"));
    r.profile = DIALOG_ROBUST;
    assert_str(outcome_of(&r, P1, &moves), S("OK g8f6"));
}

// T60 to T65: none, pair, leading, robust.
static void reasoning_is_removed_as_the_table_says(void **s)
{
    (void)s;
    static const char *const table[][6] = {
        { "T60", "<think>maybe get_current_board first</think>make_move e7e5", "BOARD", "OK e7e5",
          "OK e7e5", "OK e7e5" },
        { "T61", "<think>maybe make_move d7d5</think>\nmake_move e7e5", "OK d7d5", "OK e7e5",
          "OK e7e5", "OK e7e5" },
        { "T62", "maybe get_legal_moves...</think>\nmake_move e7e5", "LIST", "LIST", "OK e7e5",
          "OK e7e5" },
        { "T63", "<think>never closed make_move e7e5", "OK e7e5", "OK e7e5", "OK e7e5", "WA" },
        { "T64", "<think>a</think> x <think>get_legal_moves</think> make_move e7e5", "LIST",
          "OK e7e5", "LIST", "OK e7e5" },
        { "T65", "<THINK>get_legal_moves</THINK>make_move e7e5", "LIST", "LIST", "LIST",
          "OK e7e5" },
        { "kimi", "◁think▷get_legal_moves◁/think▷make_move e7e5", "LIST", "OK e7e5", "OK e7e5",
          "OK e7e5" },
        { "reasoning", "<reasoning>get_legal_moves</reasoning>make_move e7e5", "LIST", "OK e7e5",
          "OK e7e5", "OK e7e5" },
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        for (int t = 0; t < 3; t++) {
            struct dialog_rules r = { .think = (enum dialog_think)(THINK_KEEP + t) };
            says(table[i][0], &r, P1, table[i][1], table[i][2 + t]);
        }
        says(table[i][0], &robust_rules, P1, table[i][1], table[i][5]);
    }
    struct dialog_reading reading;
    struct dialog_said open = { .text = S("<think>never closed make_move e7e5") };
    dialog_read(&robust_rules, &open, &arena, &reading);
    assert_str(reading.why, S("unterminated_reasoning"));
    assert_str(reading.kept, S(""));
}

// T66: the other bytes stay as they are.
static void what_is_kept_has_the_same_bytes(void **s)
{
    (void)s;
    bool open;
    str text = S("  <think>maybe make_move d7d5</think>\nmake_move  E7e5 \n");
    assert_str(dialog_without_reasoning(THINK_PAIRS, text, &open, &arena),
               S("  \nmake_move  E7e5 \n"));
    assert_str(dialog_without_reasoning(THINK_ALL, text, &open, &arena),
               S("  \nmake_move  E7e5 \n"));
    assert_str(dialog_without_reasoning(THINK_LEADING, text, &open, &arena),
               S("make_move  E7e5 \n"));
    assert_str(dialog_without_reasoning(THINK_PAIRS, S("<think>a <reasoning>b</reasoning> c"),
                                        &open, &arena),
               S("<think>a  c"));
}

static void robust_counts_what_compat_would_not_read(void **s)
{
    (void)s;
    struct dialog_reading reading;
    struct dialog_said plain = { .text = S("make_move e7e5") };
    dialog_read(&robust_rules, &plain, &arena, &reading);
    assert_false(reading.lenient);
    struct dialog_said san = { .text = S("make_move Nf6") };
    dialog_read(&robust_rules, &san, &arena, &reading);
    assert_true(reading.lenient);
    struct dialog_said none = { .text = S("Nf6") };
    dialog_read(&robust_rules, &none, &arena, &reading);
    assert_false(reading.lenient);
}

static str refusal(const struct dialog_rules *r, int pos, str text)
{
    struct position at = position_of(fens[pos]);
    struct dialog_try tried = dialog_move(r, &at, text, &arena);
    assert_int_equal(tried.m, MOVE_NONE);
    return tried.reason;
}

// D3, D29.
static void refusals_have_the_words_of_the_original(void **s)
{
    (void)s;
    struct position seed =
        position_of(S("rnbqkb2/1pppp2r/p4ppp/P6n/3P1P2/1PN2N2/R1P1P1PP/2BQKB1R b Kq - 2 8"));
    assert_str(dialog_move(&compat_rules, &seed, S("h7h6"), &arena).reason,
               S("illegal uci: 'h7h6' in "
                 "rnbqkb2/1pppp2r/p4ppp/P6n/3P1P2/1PN2N2/R1P1P1PP/2BQKB1R b Kq - 2 8"));
    assert_str(refusal(&compat_rules, P1, S("e7e9")), S("invalid uci: 'e7e9'"));
    assert_str(refusal(&compat_rules, P1, S("when")), S("invalid uci: 'when'"));
    assert_str(refusal(&compat_rules, P1, S("0000")),
               arena_printf(&arena, "illegal uci: '0000' in %.*s", STR(fens[P1])));
    struct dialog_rules quiet = { .options = DIALOG_NO_FEN };
    assert_str(refusal(&quiet, P1, S("e2e4")), S("illegal uci: 'e2e4'"));
    struct position both = position_of(S("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1"));
    assert_str(str_sub(dialog_move(&robust_rules, &both, S("Nd2"), &arena).reason, 0, 20),
               S("ambiguous san: 'Nd2'"));
}

static void a_pawn_becomes_a_queen_only_on_request(void **s)
{
    (void)s;
    struct dialog_rules r = { .options = DIALOG_AUTO_QUEEN };
    says("T41q", &r, P2, "make_move a2a1", "OK a2a1q");
    says("T41k", &r, P1, "make_move e7e4", "WM e7e4");
}

static void positions_after_moves_are_those_of_the_table(void **s)
{
    (void)s;
    static const struct {
        int pos;
        const char *move, *fen;
    } after[] = {
        { P1, "e7e5", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2" },
        { P2, "a2a1q", "8/8/8/8/8/2k5/7K/q7 w - - 0 61" },
        { P3, "e8g8", "r4rk1/pppq1ppp/8/8/8/8/PPPQ1PPP/R3K2R w KQ - 1 2" },
        { P3, "e8h8", "r4rk1/pppq1ppp/8/8/8/8/PPPQ1PPP/R3K2R w KQ - 1 2" },
        { P4, "d4e3", "rnbqkbnr/ppp1pppp/8/8/8/4p3/PPPP1PPP/RNBQKBNR w KQkq - 0 4" },
    };
    for (size_t i = 0; i < ARRAY_LEN(after); i++) {
        struct position pos = position_of(fens[after[i].pos]);
        struct dialog_try t = dialog_move(&compat_rules, &pos, str_from(after[i].move), &arena);
        assert_int_not_equal(t.m, MOVE_NONE);
        struct position next = position_after(&pos, t.m);
        struct buf b = { .arena = &arena };
        position_format(&next, &b);
        assert_str(buf_str(&b), str_from(after[i].fen));
    }
}

// ---- texts ----

static struct dialog_scene scene_of(struct game *g, str fen)
{
    *g = (struct game){ .now = position_of(fen) };
    return (struct dialog_scene){ .game = g, .start = g->now };
}

static void the_kick_off_has_the_bytes_of_the_seed(void **s)
{
    (void)s;
    struct game g;
    struct dialog_scene scene = scene_of(&g, fens[P1]);
    assert_str(
        dialog_kickoff(&compat_rules, &scene, &arena),
        S("You are a professional chess player and you play as black. Now is your turn to make a "
          "move. Before making a move you can pick one of 3 actions:\n"
          "    - 'get_current_board' to get the schema and current status of the board\n"
          "    - 'get_legal_moves' to get a UCI formatted list of available moves\n"
          "    - 'make_move <UCI formatted move>' when you are ready to complete your turn (e.g., "
          "'make_move e2e4')\n"
          "Respond with the action.\n"));
    struct dialog_rules reflect = { .options = DIALOG_REFLECTION };
    assert_str(
        dialog_kickoff(&reflect, &scene, &arena),
        S("You are a professional chess player and you play as black. Now is your turn to make a "
          "move. Before making a move you can pick one of 3 actions:\n"
          "        - 'get_current_board' to get the schema and current status of the board\n"
          "        - 'get_legal_moves' to get a UCI formatted list of available moves\n"
          "        - 'do_reflection' to take a moment to think about your strategy\n"
          "        - 'make_move <UCI formatted move>' when you are ready to complete your turn "
          "(e.g., 'make_move e2e4')\n"
          "    "));
    assert_str(dialog_invalid_text(&compat_rules, &arena),
               S("Invalid action. Pick one, reply exactly with the name and space delimited "
                 "argument: get_current_board, get_legal_moves, make_move <UCI formatted move>"));
    assert_str(dialog_invalid_text(&reflect, &arena),
               S("Invalid action. Pick one, reply exactly with the name and space delimited "
                 "argument: get_current_board, get_legal_moves, do_reflection, make_move <UCI "
                 "formatted move>"));
}

// G16: a set is never changed, only added.
static void prompt_sets_are_frozen(void **s)
{
    (void)s;
    assert_str(str_sub(prompt_set_hash(&prompt_sets[0], &arena), 0, 16), S("40f8248a259f6f4f"));
    assert_str(str_sub(prompt_set_hash(&prompt_sets[1], &arena), 0, 16), S("64e6211d46730bfa"));
    assert_ptr_equal(prompt_set_find(S("seed-2025-04")), &prompt_sets[0]);
    assert_null(prompt_set_find(S("seed-2024")));
}

static void a_prompt_set_of_a_file_has_a_name_of_its_own(void **s)
{
    (void)s;
    struct prompt_set set;
    struct err err = { 0 };
    assert_true(
        prompt_set_read(S("{\"name\":\"mine\",\"closing\":\"Go.\\n\"}"), &arena, &set, &err));
    assert_str(set.closing, S("Go.\n"));
    assert_str(set.made, S("Move made, switching player"));
    assert_false(prompt_set_read(S("{\"closing\":\"Go.\"}"), &arena, &set, &err));
    assert_false(prompt_set_read(S("{\"name\":\"seed-2025-04\"}"), &arena, &set, &err));
    assert_false(prompt_set_read(S("{\"name\":\"x\",\"clsing\":\"Go.\"}"), &arena, &set, &err));
    assert_non_null(strstr(err.text, "clsing"));
}

// D28, D31.
static void boards_are_drawn_in_every_mode(void **s)
{
    (void)s;
    struct game g;
    struct dialog_scene scene =
        scene_of(&g, S("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"));
    str board = dialog_board_text(&compat_rules, &scene, &arena);
    assert_int_equal(board.len, 255);
    assert_str(board, S("♜ ♞ ♝ ⭘ ♚ ♝ ♞ ♜\n♟ ♟ ♟ ♟ ⭘ ♟ ♟ ♟\n⭘ ⭘ ⭘ ⭘ ⭘ ⭘ ⭘ ⭘\n⭘ ⭘ ⭘ ⭘ ♟ ⭘ ⭘ ⭘\n"
                        "⭘ ⭘ ⭘ ⭘ ⭘ ⭘ ♙ ♛\n⭘ ⭘ ⭘ ⭘ ⭘ ♙ ⭘ ⭘\n♙ ♙ ♙ ♙ ♙ ⭘ ⭘ ♙\n♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖"));
    struct dialog_rules r = { .board = BOARD_ASCII };
    assert_str(dialog_board_text(&r, &scene, &arena),
               S("rnb.kbnr\npppp.ppp\n........\n....p...\n......Pq\n.....P..\nPPPPP..P\nRNBQKBNR"));
    r.view = VIEW_BLACK;
    assert_str(str_sub(dialog_board_text(&r, &scene, &arena), 0, 17), S("RNBKQBNR\nP..PPPPP"));
    r.view = VIEW_MOVER; // White to move: White's pieces below
    assert_str(str_sub(dialog_board_text(&r, &scene, &arena), 0, 8), S("rnb.kbnr"));
    r.board = BOARD_FEN;
    scene = scene_of(&g, S("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"));
    assert_str(dialog_board_text(&r, &scene, &arena),
               S("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"));
}

static void the_board_with_pgn_breaks_after_five_moves(void **s)
{
    (void)s;
    static const char *const ucis[] = { "e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5",
                                        "c2c3", "g8f6", "d2d4", "e5d4", "c3d4" };
    struct game g = { .now = position_start() };
    struct dialog_scene scene = { .game = &g, .start = position_start() };
    move moves[ARRAY_LEN(ucis)];
    for (size_t i = 0; i < ARRAY_LEN(ucis); i++) {
        assert_true(uci_parse(&g.now, str_from(ucis[i]), &moves[i]));
        game_play(&g, moves[i], &arena);
    }
    scene.moves = moves;
    scene.n_moves = ARRAY_LEN(moves);
    struct dialog_rules r = { .board = BOARD_UNICODE_PGN };
    str text = dialog_board_text(&r, &scene, &arena);
    assert_true(str_find(text, S("\n\nPGN:\n[Event \"Chess Game\"]\n")) == 255);
    assert_true(
        str_ends(text, S("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d4 exd4 \n6. cxd4 ")));
    r.options = DIALOG_SHOW_PREVIOUS;
    assert_true(str_starts(dialog_kickoff(&r, &scene, &arena),
                           S("Previous moves (UCI):\n1. e2e4 e7e5, 2. g1f3 b8c6, 3. f1c4 f8c5, ")));
}

static void experiment_modes_change_what_is_offered(void **s)
{
    (void)s;
    struct game g;
    struct dialog_scene scene = scene_of(&g, fens[P1]);
    struct dialog_rules r = { .options = DIALOG_SHOW_BOARD | DIALOG_SHOW_LIST };
    str text = dialog_kickoff(&r, &scene, &arena);
    assert_true(str_find(text, S("one of 1 actions")) > 0);
    assert_true(str_find(text, S("get_current_board")) < 0);
    assert_true(str_find(text, S("♜ ♞ ♝")) > 0);
    assert_true(str_find(text, S("g8h6,g8f6,b8c6,b8a6,h7h6")) > 0);
    says("shown", &r, P1, "get_legal_moves", "WA");
    r.options = DIALOG_NO_LIST;
    assert_true(str_find(dialog_kickoff(&r, &scene, &arena), S("get_legal_moves")) < 0);
    assert_true(str_find(dialog_invalid_text(&r, &arena), S("get_legal_moves")) < 0);
    says("no list", &r, P1, "get_legal_moves", "WA");
}

static void lists_have_the_order_of_the_seed(void **s)
{
    (void)s;
    struct position v1 =
        position_of(S("1rbqkr2/ppppppbp/2n2n2/7Q/PP2P3/3PK3/2P2PPP/RNB2B1R b - - 0 1"));
    assert_str(dialog_list_text(&v1, &arena),
               S("f8h8,f8g8,b8a8,g7h8,g7h6,f6g8,f6h5,f6d5,f6g4,f6e4,c6e5,c6a5,c6d4,c6b4,h7h6,e7e6,"
                 "d7d6,b7b6,a7a6,e7e5,d7d5,b7b5,a7a5"));
    struct position v8 = position_of(S("4k3/8/8/8/4r3/8/3P1PP1/3QKB2 w - - 0 1"));
    assert_str(dialog_list_text(&v8, &arena), S("f1e2,d1e2"));
    struct position v6 = position_of(S("3rk3/2P1P3/8/8/8/8/4K3/8 w - - 0 1"));
    assert_str(dialog_list_text(&v6, &arena),
               S("e2f3,e2e3,e2f2,e2f1,e2e1,e7d8q,e7d8r,e7d8b,e7d8n,c7d8q,c7d8r,c7d8b,c7d8n,c7c8q,"
                 "c7c8r,c7c8b,c7c8n"));
}

static int free_arena(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_read_as_the_table_says),
        cmocka_unit_test(a_tool_call_keeps_its_move_in_robust_only),
        cmocka_unit_test(reflection_is_obeyed_only_where_offered),
        cmocka_unit_test(reasoning_is_removed_as_the_table_says),
        cmocka_unit_test(what_is_kept_has_the_same_bytes),
        cmocka_unit_test(robust_counts_what_compat_would_not_read),
        cmocka_unit_test(refusals_have_the_words_of_the_original),
        cmocka_unit_test(a_pawn_becomes_a_queen_only_on_request),
        cmocka_unit_test(positions_after_moves_are_those_of_the_table),
        cmocka_unit_test(the_kick_off_has_the_bytes_of_the_seed),
        cmocka_unit_test(prompt_sets_are_frozen),
        cmocka_unit_test(a_prompt_set_of_a_file_has_a_name_of_its_own),
        cmocka_unit_test(boards_are_drawn_in_every_mode),
        cmocka_unit_test(the_board_with_pgn_breaks_after_five_moves),
        cmocka_unit_test(experiment_modes_change_what_is_offered),
        cmocka_unit_test(lists_have_the_order_of_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
