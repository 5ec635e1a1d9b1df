// SPDX-License-Identifier: GPL-3.0-or-later
// Plays tests/cases/puzzle/*.case, scripted episodes that need no C:
//
//     fen FEN, solution UCI, format MODE   the position and the model's capability
//     > MODE                               what must be asked
//     < REPLY                              what is answered, as a reply's JSON
//     = STATUS SCORE KIND MODE [any_mate]  the outcome; MODE `-`: no move was resolved
#include <glob.h>

#include "test.h"

#include "episode/episode.h"

struct playing {
    struct arena *arena;
    struct puzzle puzzle;
    struct puzzle_position position;
    struct model model;
    struct job job;
    struct episode *episode;
    struct ask ask;
    enum step step;
    bool ended;
};

static str format_name(enum reply_format f)
{
    return f == FORMAT_NONE ? S("none") : f == FORMAT_SCHEMA ? S("schema") : S("json_object");
}

static void set_format(struct playing *p, str name)
{
    for (int f = FORMAT_NONE; f <= FORMAT_SCHEMA; f++)
        if (str_eq(format_name((enum reply_format)f), name))
            p->model.format = (enum reply_format)f;
    assert_str(format_name(p->model.format), name);
}

static void set_position(struct playing *p, str fen)
{
    struct err err = { 0 };
    if (position_parse(fen, &p->position.at, &err) != FAULT_NONE)
        fail_msg("%s", err.text);
    p->puzzle.id = S("case");
    p->position.puzzle = &p->puzzle;
    p->position.count = 1;
    p->position.inputs[0] = fen;
}

static void start(struct playing *p)
{
    p->job =
        (struct job){ .kind = &episode_puzzle,
                      .program = program_new(p->arena, &signature_choose_move, instruction_base),
                      .input = &p->position,
                      .model = &p->model };
    p->episode = episode_new(&p->job, p->arena);
    p->step = p->job.kind->step(p->episode, NULL, &p->ask);
}

static void expect_ask(struct playing *p, str format)
{
    if (!p->episode)
        start(p);
    assert_int_equal(p->step, STEP_ASK);
    assert_str(format_name(p->ask.model.format), format);
}

static void answer(struct playing *p, str json)
{
    struct err err = { 0 };
    struct answer in = { 0 };
    if (!reply_from_json(json, p->arena, &in.model, &err))
        fail_msg("%s", err.text);
    p->step = p->job.kind->step(p->episode, &in, &p->ask);
}

static void expect_outcome(struct playing *p, str line)
{
    static const char *const status[] = { "scored", "unscored", "failed" };
    assert_int_equal(p->step, STEP_DONE);
    const struct outcome *o = &p->episode->outcome;
    const struct puzzle_record *r = o->record;
    str mode = r->mode == RESOLVE_NOTHING ? S("-") : resolve_mode_name(r->mode);
    str got =
        arena_printf(p->arena, "%s %g %.*s %.*s%s", status[o->status], o->score,
                     STR(answer_kind_name(r->kind)), STR(mode), r->any_mate ? " any_mate" : "");
    assert_str(got, line);
    p->ended = true;
}

static void play_line(struct playing *p, str line)
{
    str word = str_cut(&line, ' ');
    if (str_eq(word, S("fen")))
        set_position(p, line);
    else if (str_eq(word, S("solution")))
        assert_true(uci_parse(&p->position.at, line, &p->position.solution));
    else if (str_eq(word, S("format")))
        set_format(p, line);
    else if (str_eq(word, S(">")))
        expect_ask(p, line);
    else if (str_eq(word, S("<")))
        answer(p, line);
    else if (str_eq(word, S("=")))
        expect_outcome(p, line);
    else if (!str_eq(word, S("#")))
        fail_msg("no such word: %.*s", STR(word));
}

static void play(const char *path)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct playing p = { .arena = &a };
    str text;
    print_message("%s\n", path);
    if (!file_read(str_from(path), 1 << 16, &a, &text, &err))
        fail_msg("%s", err.text);
    while (text.len > 0)
        play_line(&p, str_cut_line(&text));
    assert_true(p.ended);
    arena_free(&a);
}

static void every_case_ends_as_written(void **s)
{
    (void)s;
    struct arena a = { 0 };
    glob_t found;
    str pattern = source_path(S("tests/cases/puzzle/*.case"), &a);
    assert_int_equal(glob(pattern.data, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 18);
    for (size_t i = 0; i < found.gl_pathc; i++)
        play(found.gl_pathv[i]);
    globfree(&found);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_case_ends_as_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
