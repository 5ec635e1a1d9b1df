// SPDX-License-Identifier: GPL-3.0-or-later
// The table of 165 published runs (paper-runs.csv, CC BY 4.0, results data published with
// arXiv 2610.00416). The wanted cells were computed from the file by another program, with the t
// distribution integrated numerically.
#include <unistd.h>

#include "test.h"

#include "report/report.h"

static struct arena arena;
static struct report_runs published;

enum { METHODS = 7 };
static const struct {
    const char *model;
    const char *cells[METHODS];
} wanted[] = {
    { "Gemini 3.5 Flash Lite",
      { "26.30 ±0.62", "32.38 ±0.47*", "33.21 ±1.15*", "29.10 ±3.46", "32.98 ±1.72*", "27.01 ±0.18",
        "33.87 ±1.03* ^" } },
    { "GPT-4o Mini",
      { "5.84 ±0.37", "5.01 ±0.31", "4.95 ±0.99", "5.84 ±0.55", "4.95 ±0.81", "5.66 ±0.52",
        "5.90 ±0.36 ^" } },
    { "DeepSeek V4 Pro 0813",
      { "14.49 ±0.18", "14.55 ±0.63", "14.85 ±1.00", "14.79 ±0.27", "14.49 ±0.62", "16.28 ±0.31* ^",
        "15.03 ±0.82" } },
    { "GPT-5.6 Luna",
      { "31.72 ±0.37 ^", "23.20 ±1.79", "N.U.", "30.95 ±1.46", "30.05 ±0.78", "31.48 ±1.17",
        "N.U." } },
    { "Muse Spark 1.2 Contributor",
      { "31.90 ±1.49", "28.92 ±1.97", "30.59 ±0.36", "N.U.", "29.93 ±1.14", "32.20 ±1.40",
        "32.74 ±1.09 ^" } },
    { "Qwen3.8 27B",
      { "8.47 ±0.37", "9.48 ±0.36*", "9.78 ±0.41*", "9.12 ±0.31*", "8.23 ±0.31", "10.44 ±0.90* ^",
        "9.36 ±0.45*" } },
    { "Jev 1.13",
      { "7.27 ±0.10", "7.87 ±0.47", "8.77 ±0.31*", "7.69 ±0.18*", "8.59 ±0.65*", "9.30 ±0.47* ^",
        "N.A." } },
    { "Claude Haiku 4.5",
      { "11.63 ±0.00", "11.09 ±0.18", "11.21 ±1.02", "N.U.", "10.61 ±1.19", "12.28 ±1.22 ^",
        "11.39 ±0.63" } },
};

static int load(void **s)
{
    (void)s;
    struct err err = { 0 };
    if (!report_runs_load(source_path(S("tests/report/paper-runs.csv"), &arena), &arena, &published,
                          &err))
        fail_msg("%s", err.text);
    assert_int_equal(published.n, 165);
    return 0;
}

static int unload(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

static str written(const struct report_runs *runs, enum report_format format)
{
    struct report_table t = report_table_new(runs, &arena);
    struct buf out = { .arena = &arena };
    report_table_write(&t, format, &out);
    return buf_str(&out);
}

// The cells of a text line: separated by two blanks or more.
static str next_cell(str *line)
{
    *line = str_trim(*line);
    ptrdiff_t at = str_find(*line, S("  "));
    str cell = at < 0 ? *line : str_sub(*line, 0, (size_t)at);
    *line = str_sub(*line, cell.len, line->len);
    return cell;
}

static void the_published_runs_give_the_published_table(void **s)
{
    (void)s;
    str text = written(&published, REPORT_TEXT);
    str header = str_cut_line(&text);
    static const char *const methods[] = { "model", "Baseline", "BFS",  "BRS",
                                           "COPRO", "MIPROv2",  "GEPA", "SIMBA" };
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        assert_str(next_cell(&header), str_from(methods[i]));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        str line = str_cut_line(&text);
        assert_str(next_cell(&line), str_from(wanted[i].model));
        for (size_t m = 0; m < METHODS; m++)
            assert_str(next_cell(&line), str_from(wanted[i].cells[m]));
    }
    assert_int_equal(str_cut_line(&text).len, 0);
}

static void four_models_have_a_star_and_fewer_after_holm(void **s)
{
    (void)s;
    struct report_table t = report_table_new(&published, &arena);
    size_t models = 0, stars = 0, after_holm = 0;
    for (size_t i = 0; i < t.n_models; i++) {
        bool any = false;
        for (size_t m = 0; m < t.n_methods; m++) {
            const struct report_cell *c = &t.cells[i * t.n_methods + m];
            any |= c->star;
            stars += c->star ? 1 : 0;
            after_holm += c->p_holm < 0.05 ? 1 : 0;
            assert_true(!(c->p_holm < c->p));
        }
        models += any ? 1 : 0;
    }
    assert_int_equal(models, 4);
    assert_int_equal(stars, 14);
    assert_true(after_holm < stars);
}

static void equal_runs_get_no_star_and_ties_share_the_mark(void **s)
{
    (void)s;
    struct report_run rows[] = {
        { S("m"), S("baseline"), 1, 10, 100, false }, { S("m"), S("baseline"), 2, 10, 100, false },
        { S("m"), S("gepa"), 1, 20, 100, false },     { S("m"), S("gepa"), 2, 20, 100, false },
        { S("m"), S("Mine"), 1, 20, 100, false },     { S("m"), S("copro"), 1, 90, 100, true },
    };
    struct report_runs runs = { rows, ARRAY_LEN(rows), 0 };
    str text = written(&runs, REPORT_TEXT);
    str header = str_cut_line(&text), line = str_cut_line(&text);
    static const char *const want[][2] = { { "model", "m" },
                                           { "Baseline", "10.00 ±0.00" },
                                           { "COPRO", "N.U." },
                                           { "GEPA", "20.00 ±0.00 ^" },
                                           { "Mine", "20.00 ^" } };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_str(next_cell(&header), str_from(want[i][0]));
        assert_str(next_cell(&line), str_from(want[i][1]));
    }
}

static void the_other_formats_are_well_formed(void **s)
{
    (void)s;
    struct report_run rows[] = { { S("a,\"b\"&c"), S("baseline"), 1, 1, 3, false } };
    struct report_runs runs = { rows, 1, 0 };
    assert_str(written(&runs, REPORT_CSV), S("model,method,runs,mean,sd,p,p_holm,star,best,"
                                             "unchanged\n\"a,\"\"b\"\"&c\",Baseline,1,33.3333,"
                                             "0.0000,,,0,1,0\n"));
    assert_str(written(&runs, REPORT_MARKDOWN),
               S("| model | Baseline |\n| --- | --- |\n| a,\"b\"&c | **33.33** |\n"));
    assert_true(str_find(written(&runs, REPORT_LATEX), S("a,\"b\"\\&c & \\textbf{33.33} \\\\")) >
                0);
    struct err err = { 0 };
    json_t *json = json_read_strict(written(&published, REPORT_JSON), &err);
    assert_int_equal(json_array_size(json), 8 * METHODS);
    assert_str(json_get_str(json_array_get(json, 6), "text"), S("33.87 ±1.03*"));
    json_decref(json);
}

static void refused(const char *text, const char *message)
{
    struct err err = { 0 };
    struct report_runs runs = { 0 };
    char path[] = "/tmp/rookery-runs-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_true(file_save(str_from(path), str_from(text), &err));
    assert_false(report_runs_load(str_from(path), &arena, &runs, &err));
    unlink(path);
    assert_int_equal(err.code, ERR_INPUT);
    assert_str(str_from(err.text + strlen(path)), str_from(message));
}

#define HEAD "model,method,seed,correct,puzzles,prompt_unchanged\n"

static void bad_rows_are_named(void **s)
{
    (void)s;
    refused("", ": no runs in it");
    refused(HEAD, ": no runs in it");
    refused("model,method\n", ":1: no column 'seed'; the first line must name model, method, seed, "
                              "correct, puzzles, prompt_unchanged");
    refused(HEAD "m,gepa,1,x,3,0\n",
            ":2: correct must be a whole number from 0 to 100000000, got \"x\"");
    refused(HEAD "m,gepa,1,4,3,0\n", ":2: 4 solved of 3 puzzles cannot be");
    refused(HEAD "m,gepa,1,0,0,0\n", ":2: 0 solved of 0 puzzles cannot be");
    refused(HEAD "m,gepa,1,1,3\n", ":2: the row has 5 fields, 'prompt_unchanged' is missing");
    refused(HEAD "m,gepa,1,1,3,yes\n",
            ":2: prompt_unchanged must be a whole number from 0 to 1, got \"yes\"");
    refused(HEAD ",gepa,1,1,3,0\n", ":2: model and method must not be empty");
    refused(HEAD "m,gepa,1,1,3,0\nm,gepa,1,2,3,0\n",
            ":3: the run of m, gepa, seed 1 is there twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_runs_give_the_published_table),
        cmocka_unit_test(four_models_have_a_star_and_fewer_after_holm),
        cmocka_unit_test(equal_runs_get_no_star_and_ties_share_the_mark),
        cmocka_unit_test(the_other_formats_are_well_formed),
        cmocka_unit_test(bad_rows_are_named),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
