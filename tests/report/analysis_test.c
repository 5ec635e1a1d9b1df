// SPDX-License-Identifier: GPL-3.0-or-later
// Analyses of runs: breakdown, rating curve, Pareto front, composition of prompts. The figures are
// worked out by hand from small made-up runs.
#include <unistd.h>

#include "test.h"

#include "report/report.h"

static struct arena arena;

static str written(const struct report_grid *g)
{
    struct buf b = { .arena = &arena };
    report_grid_write(g, REPORT_CSV, &b);
    return buf_str(&b);
}

static void has_line(str text, const char *line)
{
    while (text.len > 0)
        if (str_eq(str_cut_line(&text), str_from(line)))
            return;
    fail_msg("no line \"%s\"", line);
}

static void positions_are_grouped_along_every_axis(void **s)
{
    (void)s;
    struct report_position v[] = {
        { S("a"), 0, 2, 450, S("mate mateIn2"), true },
        { S("a"), 1, 2, 450, S("mate mateIn2"), false },
        { S("b"), 0, 1, 1210, S("fork"), true },
        { S("c"), 0, 1, -1, S(""), true },
    };
    struct report_position w[] = { { S("b"), 0, 1, 1210, S("fork"), false } };
    struct report_positions before = { v, 4, 0 }, after = { w, 1, 0 };
    struct report_grid g;
    report_breakdown(&before, NULL, &arena, &g);
    str text = written(&g);
    has_line(text, "rating,400-599,2,\"50.0 [9.5, 90.5]\"");
    has_line(text, "rating,unrated,1,\"100.0 [20.7, 100.0]\"");
    has_line(text, "puzzle length,1 moves,2,\"100.0 [34.2, 100.0]\"");
    has_line(text, "move of the puzzle,2,1,\"0.0 [0.0, 79.3]\"");
    has_line(text, "theme,mateIn2,2,\"50.0 [9.5, 90.5]\"");
    report_breakdown(&before, &after, &arena, &g);
    has_line(written(&g), "theme,fork,1,\"100.0 [20.7, 100.0]\",\"0.0 [0.0, 79.3]\",-100.0");
    has_line(written(&g), "theme,mate,0,\"50.0 [9.5, 90.5]\",-,-");
}

// 100 puzzles rated 1000 and 1200, of which 75 and 25 are solved: odds 3 and 1/3, so the ratio per
// 200 points is 1/9, and half are solved at 1100.
static void the_curve_finds_the_odds_ratio_and_the_anchor(void **s)
{
    (void)s;
    struct report_positions p = { 0 };
    for (int i = 0; i < 200; i++) {
        int rating = i < 100 ? 1000 : 1200;
        bool solved = i < 100 ? i < 75 : i < 125;
        for (int k = 0; k < 2; k++) // two moves; the second decides
            *vec_push(&arena, &p) = (struct report_position){
                arena_printf(&arena, "p%d", i), k, 2, rating, S(""), solved || k == 0
            };
    }
    // One that the limit cut, one without a rating: neither counts.
    *vec_push(&arena, &p) = (struct report_position){ S("cut"), 0, 2, 1000, S(""), true };
    *vec_push(&arena, &p) = (struct report_position){ S("none"), 0, 1, -1, S(""), true };
    struct report_grid g;
    report_curve_start(&arena, &g);
    report_curve_add(S("run"), &p, &arena, &g);
    str text = written(&g);
    str_cut_line(&text);
    assert_true(str_starts(text, S("run,200,\"0.111 [")));
    assert_true(str_find(text, S(",1100 \xC2\xB1")) > 0);
    assert_true(str_find(text, S("not defined,not defined")) > 0); // two bins have no correlation
}

static struct report_run_dir run_of(const char *name, int64_t correct, double cost)
{
    return (struct report_run_dir){ .run = { str_from(name), S("baseline"), 1, correct, 10, false },
                                    .evaluation = { 1000, 0, 0, cost >= 0, cost } };
}

static void only_unbeaten_runs_are_on_the_front(void **s)
{
    (void)s;
    struct report_run_dir v[] = { run_of("cheap", 3, 1), run_of("good", 8, 5),
                                  run_of("worse", 7, 6), run_of("equal", 8, 5),
                                  run_of("unknown", 9, -1) };
    struct report_run_dirs runs = { v, ARRAY_LEN(v), 0 };
    struct report_grid g;
    report_pareto(&runs, &arena, &g);
    static const bool best[] = { true, true, false, true, false };
    for (size_t i = 0; i < ARRAY_LEN(best); i++)
        assert_int_equal(g.entries.v[(i + 2) * g.n_columns - 1].best, best[i]);
    assert_str(g.entries.v[6 * g.n_columns - 2].text, S("unknown"));
}

static void sentences_are_labelled_by_their_words(void **s)
{
    (void)s;
    static const struct {
        const char *text;
        enum prompt_part part;
    } rows[] = {
        { "You are a grandmaster.", PART_PERSONA },
        { "Look at every check, capture and threat.", PART_CHESS },
        { "Answer with a JSON object in UCI notation, nothing else.", PART_FORMAT },
        { "For example, e2e4 wins a pawn.", PART_EXAMPLES },
        { "Take a deep breath!", PART_OTHER },
        { "Never hang your queen?", PART_CHESS },
    };
    struct buf b = { .arena = &arena };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        buf_addf(&b, "%s%s", i ? (i % 2 ? " " : "\n") : "", rows[i].text);
    struct prompt_sentences sentences = { 0 };
    prompt_split(buf_str(&b), &arena, &sentences);
    assert_int_equal(sentences.n, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_str(sentences.v[i].text, str_from(rows[i].text));
        assert_str(prompt_part_name(sentences.v[i].part), prompt_part_name(rows[i].part));
    }
}

static void shares_sum_to_one_and_count_demonstrations(void **s)
{
    (void)s;
    const str inputs[] = { S("fen"), S("white"), S("e2e4") }, outputs[] = { S("e2e4") };
    struct demo demo = { inputs, outputs, NULL };
    const struct demo *demos[] = { &demo };
    const struct program *bare =
        program_new(&arena, &signature_choose_move, S("Find the best move."));
    const struct program *p = program_with_demos(&arena, bare, demos, 1);
    struct prompt_sentences sentences = { 0 };
    double share[PROMPT_PARTS], sum = 0;
    prompt_split(p->instruction, &arena, &sentences);
    prompt_composition(&sentences, p, share);
    for (int i = 0; i < PROMPT_PARTS; i++)
        sum += share[i];
    assert_true(sum > 0.999999 && sum < 1.000001);
    double want = (double)(program_size(p) - 19) / (double)program_size(p);
    assert_true(share[PART_EXAMPLES] > want - 1e-9 && share[PART_EXAMPLES] < want + 1e-9);
    prompt_composition(&(struct prompt_sentences){ 0 },
                       program_new(&arena, &signature_choose_move, S("")), share);
    assert_true(share[PART_OTHER] < 1e-9);
}

static int tear_down(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_grouped_along_every_axis),
        cmocka_unit_test(the_curve_finds_the_odds_ratio_and_the_anchor),
        cmocka_unit_test(only_unbeaten_runs_are_on_the_front),
        cmocka_unit_test(sentences_are_labelled_by_their_words),
        cmocka_unit_test(shares_sum_to_one_and_count_demonstrations),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
