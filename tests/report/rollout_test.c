// SPDX-License-Identifier: GPL-3.0-or-later
// The table of rollouts over several runs (the paper's Table 4), figures worked out by hand.
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "report/report.h"

static struct arena arena;
static char folder[] = "rookery-rollout-XXXXXX";

// A run directory; `figures` are the members that differ.
static str run_dir(const char *name, const char *model, const char *figures)
{
    struct err err = { 0 };
    str dir = arena_printf(&arena, "%s/%s", folder, name);
    mkdir(dir.data, 0755);
    str text = arena_printf(
        &arena,
        "{\"model\":\"%s\",\"method\":\"baseline\",\"simulated\":false,\"judge\":{"
        "\"identity\":\"sf\",\"limit\":\"depth=20\"},\"opponent\":{\"identity\":\"sf\","
        "\"limit\":\"depth=20\"},\"max_moves\":10,\"run\":\"%s\",%s}",
        model, name, figures);
    if (!file_save(path_join(dir, S("rollout.json"), &arena), text, &err))
        fail_msg("%s", err.text);
    return dir;
}

static void add(struct report_rollouts *runs, str dir)
{
    struct err err = { 0 };
    if (!report_rollout_load(dir, &arena, vec_push(&arena, runs), &err))
        fail_msg("%s", err.text);
}

static str table(const struct report_rollouts *runs)
{
    struct report_grid grid;
    struct err err = { 0 };
    struct buf b = { .arena = &arena };
    if (!report_rollout(runs, &arena, &grid, &err))
        fail_msg("%s", err.text);
    report_grid_write(&grid, REPORT_CSV, &b);
    str text = buf_str(&b);
    str_cut_line(&text);
    return text;
}

// Three seeds with means 10, 20 and 60: mean 30, deviation 26.46. All costs: 0 5 10 20 60 500: the
// median is 15. Illegal 1 of 12 attempts; 2 of 20 rollouts lost by mate.
static void seeds_make_the_mean_and_moves_the_median(void **s)
{
    (void)s;
    struct report_rollouts runs = { 0 };
    add(&runs,
        run_dir("a", "m1",
                "\"rollouts\":20,\"seeds\":[{\"moves_searched\":2,\"mean_regret_cp\":10.0},"
                "{\"moves_searched\":1,\"mean_regret_cp\":20.0},"
                "{\"moves_searched\":0,\"mean_regret_cp\":0.0}],\"regrets_cp\":[0,20,500],"
                "\"illegal_attempts\":{\"k\":1,\"n\":8},\"unparsable_attempts\":{\"k\":0,\"n\":8},"
                "\"checkmate_losses\":{\"k\":2,\"n\":10}"));
    add(&runs, run_dir("b", "m1",
                       "\"rollouts\":10,\"seeds\":[{\"moves_searched\":3,\"mean_regret_cp\":60.0}],"
                       "\"regrets_cp\":[5,10,60],\"illegal_attempts\":{\"k\":0,\"n\":4},"
                       "\"unparsable_attempts\":{\"k\":0,\"n\":4},\"checkmate_losses\":{\"k\":0,"
                       "\"n\":10}"));
    str text = table(&runs);
    assert_str(text, S("m1,baseline,2,4,30,6,30.0 \xC2\xB1"
                       "26.5,15.0,\"8.33 [1.49, 35.39]\","
                       "\"0.00 [0.00, 24.25]\",\"10.00 [2.79, 30.10]\"\n"));
}

static void what_was_not_searched_has_no_figure(void **s)
{
    (void)s;
    struct report_rollouts runs = { 0 };
    add(&runs, run_dir("c", "m2",
                       "\"rollouts\":1,\"seeds\":[{\"moves_searched\":0,\"mean_regret_cp\":0.0}],"
                       "\"regrets_cp\":[],\"illegal_attempts\":{\"k\":0,\"n\":0}"));
    assert_str(table(&runs), S("m2,baseline,1,1,1,0,n/a,n/a,n/a,n/a,n/a\n"));
}

static void a_run_counts_once_and_other_engines_are_told(void **s)
{
    (void)s;
    struct report_rollouts runs = { 0 };
    struct report_grid grid;
    struct err err = { 0 };
    str dir = run_dir("d", "m", "\"rollouts\":1,\"seeds\":[]");
    add(&runs, dir);
    add(&runs, dir);
    assert_false(report_rollout(&runs, &arena, &grid, &err));
    assert_int_equal(err.code, ERR_INPUT);
    runs.v[1].run = S("another");
    runs.v[1].procedure = S("weaker");
    assert_true(report_rollout(&runs, &arena, &grid, &err));
    assert_true(str_find(grid.note, S("NOT COMPARABLE")) > 0);
}

static int begin(void **s)
{
    (void)s;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **s)
{
    (void)s;
    str command = arena_printf(&arena, "rm -r %s", folder);
    int left = system(command.data);
    arena_free(&arena);
    return left;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_make_the_mean_and_moves_the_median),
        cmocka_unit_test(what_was_not_searched_has_no_figure),
        cmocka_unit_test(a_run_counts_once_and_other_engines_are_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
