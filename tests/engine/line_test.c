// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of UCI output, scores, limits, settings: values in, values out.
#include "test.h"

#include "engine/engine.h"

static struct uci_line read_line(const char *text)
{
    struct uci_line line;
    uci_line_read(str_from(text), &line);
    return line;
}

static struct engine_score score_of(const char *text)
{
    char line[128];
    snprintf(line, sizeof line, "info depth 9 score %s nodes 77", text);
    struct uci_line l = read_line(line);
    assert_int_equal(l.kind, UCI_INFO);
    assert_int_equal(l.info.nodes, 77);
    return l.info.score;
}

static void an_info_line_is_read_field_by_field(void **s)
{
    (void)s;
    struct uci_line l = read_line("info depth 20 seldepth 31 multipv 2 score cp -34 wdl 12 800 188"
                                  " nodes 1234567 nps 900000 hashfull 3 tbhits 0 time 1371 pv e2e4"
                                  " e7e5");
    assert_int_equal(l.info.depth, 20);
    assert_int_equal(l.info.seldepth, 31);
    assert_int_equal(l.info.multipv, 2);
    assert_int_equal(l.info.score.value, -34);
    assert_false(l.info.score.mate);
    assert_true(l.info.has_wdl);
    assert_int_equal(l.info.wdl[1], 800);
    assert_int_equal(l.info.nodes, 1234567);
    assert_int_equal(l.info.time_ms, 1371);
    assert_str(l.info.pv, S("e2e4 e7e5"));
}

static void scores_of_all_forms_are_read(void **s)
{
    (void)s;
    assert_int_equal(score_of("cp 34 lowerbound").bound, ENGINE_LOWER);
    assert_int_equal(score_of("cp 34 lowerbound").value, 34);
    assert_int_equal(score_of("upperbound cp 12").bound, ENGINE_UPPER);
    assert_int_equal(score_of("upperbound cp 12").value, 12);
    assert_int_equal(score_of("cp 12 wdl 300 500 200").value, 12);
    assert_true(score_of("mate -3").mate);
    assert_int_equal(score_of("mate -3").value, -3);
    assert_false(score_of("cp").given);
    assert_false(score_of("cp many").given);
    assert_false(score_of("cp 99999999999999999999").given);
}

static void an_info_line_may_have_an_empty_variation(void **s)
{
    (void)s;
    struct uci_line l = read_line("info depth 0 score mate 0 pv");
    assert_true(l.info.score.given);
    assert_str(l.info.pv, S(""));
}

static void info_string_is_never_read_for_scores(void **s)
{
    (void)s;
    struct uci_line l = read_line("info string score cp 900 depth 3 pv e2e4");
    assert_int_equal(l.kind, UCI_STRING);
    assert_str(l.text, S("score cp 900 depth 3 pv e2e4"));
    assert_false(l.info.score.given);
}

static void scores_are_ordered_from_mating_to_mated(void **s)
{
    (void)s;
    static const char *const best_to_worst[] = { "mate 1",  "mate 5",  "cp 900",  "cp 0",
                                                 "cp -900", "mate -5", "mate -1", "mate 0" };
    for (size_t i = 0; i < ARRAY_LEN(best_to_worst); i++)
        for (size_t k = 0; k < ARRAY_LEN(best_to_worst); k++) {
            int order = engine_score_cmp(score_of(best_to_worst[i]), score_of(best_to_worst[k]));
            assert_int_equal(order, (k > i) - (k < i));
        }
}

static void mates_count_as_so_many_centipawns_and_no_score_reaches_them(void **s)
{
    (void)s;
    assert_int_equal(engine_score_cp(score_of("mate 7")), 100000);
    assert_int_equal(engine_score_cp(score_of("mate -7")), -100000);
    assert_int_equal(engine_score_cp(score_of("mate 0")), -100000);
    assert_int_equal(engine_score_cp(score_of("cp 250000")), 99999);
    assert_int_equal(engine_score_cp(score_of("cp -250000")), -99999);
    assert_int_equal(engine_score_cp(score_of("cp -12")), -12);
}

static void win_rates_follow_lichess(void **s)
{
    (void)s;
    assert_true(engine_score_win(score_of("mate 0")) == 0);
    assert_true(engine_score_win(score_of("mate -4")) == 0);
    assert_true(engine_score_win(score_of("mate 4")) == 1);
    assert_true(engine_score_win(score_of("cp 0")) == 0.5);
    double w = engine_score_win(score_of("cp 100")); // 50 + 50 (2 / (1 + e^-0.368208) - 1) per cent
    assert_true(w > 0.5910 && w < 0.5911);
}

static void bestmove_tells_its_move_or_none(void **s)
{
    (void)s;
    struct uci_line l = read_line("bestmove e7e8q ponder a2a3");
    assert_int_equal(l.kind, UCI_BESTMOVE);
    assert_str(l.text, S("e7e8q"));
    assert_str(l.ponder, S("a2a3"));
    static const char *const none[] = { "bestmove (none)", "bestmove 0000", "bestmove NULL",
                                        "bestmove" };
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        l = read_line(none[i]);
        assert_int_equal(l.kind, UCI_BESTMOVE);
        assert_int_equal(l.text.len, 0);
    }
}

static void options_are_read_with_blanks_in_their_names_and_values(void **s)
{
    (void)s;
    struct uci_line l = read_line("option name Skill Level type spin default 20 min 0 max 20");
    assert_int_equal(l.kind, UCI_OPTION);
    assert_str(l.option.name, S("Skill Level"));
    assert_int_equal(l.option.kind, OPTION_SPIN);
    assert_str(l.option.fallback, S("20"));
    assert_int_equal(l.option.max, 20);
    l = read_line("option name Style type combo default Very Normal var Solid var Very Normal");
    assert_int_equal(l.option.kind, OPTION_COMBO);
    assert_str(l.option.fallback, S("Very Normal"));
    assert_str(l.option.vars, S("var Solid var Very Normal"));
    l = read_line("option name Style type combo var"); // nothing behind it, found by fuzzing
    assert_str(l.option.vars, S("var"));
    l = read_line("option name Debug Log File type string default ");
    assert_str(l.option.name, S("Debug Log File"));
    assert_str(l.option.fallback, S(""));
    assert_int_equal(read_line("option name X type riddle").kind, UCI_NOISE);
    assert_int_equal(read_line("option").kind, UCI_NOISE);
}

static void other_lines_are_noise(void **s)
{
    (void)s;
    static const char *const noise[] = { "",        "Stockfish 15.1 by the developers",
                                         "uciokay", "\xff\xfe\x01",
                                         "infos",   "bestmoves e2e4" };
    for (size_t i = 0; i < ARRAY_LEN(noise); i++)
        assert_int_equal(read_line(noise[i]).kind, UCI_NOISE);
    assert_int_equal(read_line("  uciok \r").kind, UCI_UCIOK);
    assert_int_equal(read_line("\treadyok").kind, UCI_READYOK);
}

static void limits_are_read_and_written(void **s)
{
    (void)s;
    struct arena a = { 0 };
    static const char *const good[] = { "depth=20", "nodes=100000", "movetime=100" };
    static const char *const bad[] = { "depth", "depth=0", "depth=246", "nodes=-1", "time=3", "" };
    struct engine_limit limit;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        assert_true(engine_limit_parse(str_from(good[i]), &limit, NULL));
        assert_str(engine_limit_format(limit, &a), str_from(good[i]));
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(engine_limit_parse(str_from(bad[i]), &limit, &err));
        assert_int_equal(err.code, ERR_USAGE);
    }
    arena_free(&a);
}

static void settings_are_cut_at_semicolons_and_the_last_one_holds(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct engine_settings list = { 0 };
    assert_true(
        engine_settings_parse(S("Hash=64; Skill Level = 3 ;hash=32;Clear Hash"), &a, &list, NULL));
    assert_int_equal(list.n, 3);
    assert_str(list.v[0].value, S("32"));
    assert_str(list.v[1].name, S("Skill Level"));
    assert_str(list.v[1].value, S("3"));
    assert_str(list.v[2].value, S(""));
    assert_false(engine_settings_parse(S("=3"), &a, &list, NULL));
    assert_false(engine_settings_parse(S("Hash=1\nquit"), &a, &list, NULL));
    arena_free(&a);
}

// The verdict over one setting, against an engine with one option of each kind.
static bool fits(const char *name, const char *value, const char *said)
{
    struct engine_option v[] = {
        { .name = S("Hash"), .kind = OPTION_SPIN, .min = 1, .max = 1024 },
        { .name = S("Ponder"), .kind = OPTION_CHECK },
        { .name = S("Style"), .kind = OPTION_COMBO, .vars = S("var Solid var Very Normal") },
        { .name = S("Clear Hash"), .kind = OPTION_BUTTON },
        { .name = S("SyzygyPath"), .kind = OPTION_STRING },
    };
    struct engine_options options = { .v = v, .n = ARRAY_LEN(v) };
    struct engine_setting s = { .name = str_from(name), .value = str_from(value) };
    struct err err = { 0 };
    bool ok = engine_setting_check(&options, &s, &err);
    if (!ok && !strstr(err.text, said))
        fail_msg("\"%s\" lacks \"%s\"", err.text, said);
    return ok;
}

static void settings_are_held_against_what_is_announced(void **s)
{
    (void)s;
    assert_true(fits("hash", "64", ""));
    assert_true(fits("Style", "Very Normal", ""));
    assert_true(fits("SyzygyPath", "/tables", ""));
    assert_true(fits("Clear Hash", "", ""));
    assert_false(fits("Hash", "0", "from 1 to 1024"));
    assert_false(fits("Hash", "much", "from 1 to 1024"));
    assert_false(fits("Ponder", "yes", "true or false"));
    assert_false(fits("Style", "Wild", "var Solid"));
    assert_false(fits("Hsh", "64", "did you mean \"Hash\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_info_line_is_read_field_by_field),
        cmocka_unit_test(scores_of_all_forms_are_read),
        cmocka_unit_test(an_info_line_may_have_an_empty_variation),
        cmocka_unit_test(info_string_is_never_read_for_scores),
        cmocka_unit_test(scores_are_ordered_from_mating_to_mated),
        cmocka_unit_test(mates_count_as_so_many_centipawns_and_no_score_reaches_them),
        cmocka_unit_test(win_rates_follow_lichess),
        cmocka_unit_test(bestmove_tells_its_move_or_none),
        cmocka_unit_test(options_are_read_with_blanks_in_their_names_and_values),
        cmocka_unit_test(other_lines_are_noise),
        cmocka_unit_test(limits_are_read_and_written),
        cmocka_unit_test(settings_are_cut_at_semicolons_and_the_last_one_holds),
        cmocka_unit_test(settings_are_held_against_what_is_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
