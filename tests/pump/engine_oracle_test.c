// SPDX-License-Identifier: GPL-3.0-or-later
// Regret against what another program found: blunders of language models with their best moves as
// Stockfish saw them at depth 16, and moves of many models with their legality. Needs the shared
// data; the searches need Stockfish too.
#include <unistd.h>

#include "test.h"

#include "pump/pump.h"

enum { ROWS_MAX = 20, LOSS_MAX_CP = 1000 };

struct row { // a blunder
    struct regret_input input;
    move moves[2];   // the best one, the blunder
    int64_t loss_cp; // by the source, cut at LOSS_MAX_CP: it counts mates otherwise
};
struct bench {
    struct arena arena;
    struct engine engine;
    struct row rows[ROWS_MAX];
    const struct regret_record *found[ROWS_MAX];
    size_t n, next;
};

static bool next_job(void *ctx, struct job *job, size_t *index)
{
    struct bench *b = ctx;
    if (b->next == b->n)
        return false;
    *index = b->next++;
    *job = (struct job){ .kind = &episode_regret,
                         .input = &b->rows[*index].input,
                         .input_id = arena_printf(&b->arena, "row/%zu", *index) };
    return true;
}

static void job_done(void *ctx, size_t index, const struct outcome *out)
{
    struct bench *b = ctx;
    assert_int_equal(out->status, OUTCOME_SCORED);
    b->found[index] = episode_regret.copy_record(out->record, &b->arena);
}

// Every `step`th blunder of the file, searched to a depth.
static void search(struct bench *b, size_t n, size_t step, int64_t depth)
{
    struct err err = { 0 };
    struct store_run run = { .key = S("k"), .command = S("test"), .config = S("{}") };
    struct store *db;
    str text;
    memset(b, 0, sizeof *b);
    str path = shared_path(S("data/engine/regret_blunders.jsonl"), &b->arena);
    if (access("/usr/games/stockfish", X_OK) != 0) {
        print_message("skipped: no /usr/games/stockfish\n");
        arena_free(&b->arena);
        skip();
    }
    assert_true(file_read(path, 1 << 24, &b->arena, &text, &err));
    json_t *o;
    for (size_t line = 0; b->n < n && (o = next_row(&text)); line++) {
        struct row *r = &b->rows[b->n];
        if (line % step == 0) {
            assert_int_equal(position_parse(json_get_str(o, "fen"), &r->input.at, &err),
                             FAULT_NONE);
            assert_true(uci_parse(&r->input.at, json_get_str(o, "best_move"), &r->moves[0]));
            assert_true(uci_parse(&r->input.at, json_get_str(o, "blunder_move"), &r->moves[1]));
            r->loss_cp = json_get_int(o, "cpl_loss", 0);
            if (r->loss_cp > LOSS_MAX_CP)
                r->loss_cp = LOSS_MAX_CP;
            r->input.engine = &b->engine;
            r->input.limit = (struct engine_limit){ ENGINE_BY_DEPTH, depth };
            r->input.moves = r->moves;
            r->input.n = 2;
            b->n++;
        }
        json_decref(o);
    }
    assert_int_equal(b->n, n);
    b->engine = (struct engine){ .path = S("/usr/games/stockfish") };
    assert_true(
        engine_settings_parse(S("Hash=16;Threads=1"), &b->arena, &b->engine.settings, &err));
    assert_true(pump_meet_engine(&b->engine, &b->arena, &err));
    assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &db, &err));
    assert_true(store_run_begin(db, &(struct store_begin){ 0 }, &b->arena, &run, &err));
    struct pump *p = pump_new(&(struct pump_opts){ .run = run.id }, db, &err);
    struct feed feed = { .next = next_job, .done = job_done, .ctx = b };
    if (!pump_run(p, 0, &feed, &err))
        fail_msg("%s", err.text);
    pump_free(p);
    store_close(db);
}

// Another version and depth need not agree to the centipawn: nearly all blunders must lose at least
// half as much here, and the source's best moves nearly nothing.
static void blunders_of_models_cost_what_another_program_found(void **s)
{
    (void)s;
    static struct bench b;
    size_t dear = 0, cheap = 0, cheaper = 0;
    search(&b, ROWS_MAX, 30, 12);
    for (size_t i = 0; i < b.n; i++) {
        const struct regret_record *r = b.found[i];
        dear += r->v[1].cost_cp >= b.rows[i].loss_cp / 2;
        cheap += r->v[0].cost_cp <= 100;
        cheaper += r->v[0].cost_cp < r->v[1].cost_cp;
        if (r->v[0].search.m == r->best.m)
            assert_int_equal(r->v[0].cost_cp, 0);
    }
    print_message("%zu of %zu lose half as much, %zu best moves at most 100 cp\n", dear, b.n,
                  cheap);
    assert_true(dear >= b.n * 9 / 10);
    assert_true(cheap >= b.n * 8 / 10);
    assert_true(cheaper >= b.n - 1);
    arena_free(&b.arena);
}

// The default limit of regret.
static void depth_twenty_is_reached(void **s)
{
    (void)s;
    static struct bench b;
    search(&b, 2, 200, 20);
    for (size_t i = 0; i < b.n; i++) {
        const struct regret_record *r = b.found[i];
        assert_true(r->best.depth == 20 || r->best.score.mate);
        assert_true(r->v[1].search.depth == 20 || r->v[1].search.score.mate);
        assert_true(r->v[0].cost_cp < r->v[1].cost_cp);
        assert_true(r->v[1].cost_cp >= b.rows[i].loss_cp / 2);
    }
    arena_free(&b.arena);
}

// 2,268 moves that models answered; python-chess judged which are legal. It takes castling also as
// king takes rook, as games do.
static void moves_of_models_are_legal_where_another_program_says_so(void **s)
{
    (void)s;
    struct arena a = { 0 };
    size_t n = 0;
    str path = shared_path(S("data/engine/regret_model_moves.jsonl.gz"), &a);
    str text = read_gz(path, &a);
    for (json_t *o; (o = next_row(&text)); n++) {
        struct position pos;
        struct dialog_rules rules = { 0 };
        str fen = json_get_str(o, "fen"), played = json_get_str(o, "model_move");
        assert_int_equal(position_parse(fen, &pos, NULL), FAULT_NONE);
        bool legal = dialog_move(&rules, &pos, played, &a).m != MOVE_NONE;
        if (legal != json_is_true(json_object_get(o, "pychess_legal")))
            fail_msg("%.*s in %.*s", STR(played), STR(fen));
        json_decref(o);
    }
    assert_int_equal(n, 2268);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blunders_of_models_cost_what_another_program_found),
        cmocka_unit_test(depth_twenty_is_reached),
        cmocka_unit_test(moves_of_models_are_legal_where_another_program_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
