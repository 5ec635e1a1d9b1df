// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness_replay.c - a stored evaluation again without a model: the recorded responses go
// through the same harness and verifier, and must leave the same trajectories, byte for byte.
#include "cli/harness_commands.h"
#include "cli/harness_files.h"
#include "cli/harness_run.h"

enum { FILE_MAX_BYTES = 1 << 30 };

struct recording { // context of a model that repeats one rollout
    struct reply *v;
    size_t n, cap;
    size_t next;
    bool overflow; // its context was too small in the end
};
struct replay { // of one command
    struct run *run;
    struct eval_setup setup;
    struct evaluation evaluation;
    str dir, trajectories;
    struct recording *recordings; // puzzle * repeats + repeat
    struct model *models;
    size_t n;
};

static bool repeat(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err)
{
    struct recording *r = m->context;
    (void)q;
    (void)a;
    if (r->next < r->n) {
        *out = r->v[r->next++];
        return true;
    }
    if (!r->overflow)
        return err_set(err, ERR_RUN, "the rollout asks more than was recorded");
    *out = (struct reply){ .class = REPLY_CONTEXT_OVERFLOW, .retry_after_ms = -1 };
    return true;
}
static const struct provider provider_recorded = { .name = T("recorded"), .answer = repeat };

// ---- reading ----

static void take_response(const json_t *event, struct arena *a, struct recording *out)
{
    bool cut = json_is_true(json_object_get(event, "truncated"));
    bool told = str_eq(json_get_str(event, "token_source"), S("usage"));
    struct reply *r = vec_push(a, out);
    *r = (struct reply){ .text = arena_str(a, json_get_str(event, "raw_response")),
                         .class = cut ? REPLY_TRUNCATED : REPLY_OK,
                         .finish = cut ? FINISH_LENGTH : FINISH_STOP,
                         .native_finish = arena_str(a, json_get_str(event, "finish_reason")),
                         .retry_after_ms = -1,
                         .attempts = 1 };
    if (told)
        r->usage = (struct usage){ .source = KNOWN_REPORTED,
                                   .output_tok = json_get_int(event, "completion_tokens", 0) };
}

static bool read_recordings(struct replay *p, struct err *err)
{
    struct arena *a = p->run->arena;
    str text = p->trajectories;
    for (size_t i = 0; i < p->n; i++) {
        size_t k;
        json_t *event;
        json_t *row = json_read_strict(str_cut_line(&text), err);
        if (!row)
            return err_add(err, "trajectories, line %zu", i + 1);
        json_array_foreach (json_iterable(json_object_get(row, "harness_trace")), k, event)
            if (str_eq(json_get_str(event, "actor"), S("assistant")))
                take_response(event, a, &p->recordings[i]);
        str stop = json_get_str(row, "stop_condition");
        p->recordings[i].overflow = str_eq(stop, S("context_length"));
        bool lost = str_eq(stop, S("infra_error")) || str_eq(stop, S("cancelled"));
        json_decref(row);
        if (lost)
            return err_set(err, ERR_INPUT,
                           "rollout %zu got no answer from its model; it cannot be replayed", i);
        p->models[i] = (struct model){ .name = S("recorded/answers"),
                                       .provider = &provider_recorded,
                                       .context = &p->recordings[i] };
    }
    return true;
}

static void read_metadata(struct replay *p, const json_t *m, uint64_t *seed)
{
    static const str modes[] = { T("reference"), T("dialogue"), T("compact") };
    struct rollout_opts *o = &p->setup.rollout;
    size_t mode = 0;
    str_among(json_get_str(m, "message_mode"), modes, ARRAY_LEN(modes), &mode);
    o->messages = (enum message_mode)mode;
    o->merge = (enum merge_users)json_get_int(m, "merge", 0);
    o->lichess = str_eq(json_get_str(m, "mate_rule"), S("lichess"));
    o->compat = json_is_true(json_object_get(m, "compat"));
    o->token_budget = json_get_int(m, "assistant_token_budget", 0);
    o->policy_max_tokens = json_get_int(m, "policy_max_tokens", 0);
    o->turns = json_get_int(m, "max_turns_default", 0);
    o->turns_cap = json_get_int(m, "max_turns_cap", 0);
    p->setup.repeats = (int)json_get_int(m, "repeats", 1);
    p->setup.limit = (size_t)json_get_int(m, "limit", 0);
    p->setup.dataset_id = arena_str(p->run->arena, json_get_str(m, "dataset_id"));
    *seed = (uint64_t)json_get_int(m, "seed", 0);
}

static bool load_puzzles(struct replay *p, uint64_t seed, struct err *err)
{
    struct run *r = p->run;
    str path = opt_text(r->args, "puzzles", S("builtin:train"));
    if (!puzzles_load(path, &(struct puzzle_load_opts){ 0 }, r->arena, &r->test_file, err))
        return false;
    if (!str_eq(r->test_file.sha256, p->setup.dataset_id))
        return err_set(err, ERR_INPUT, "%.*s is not the file that was evaluated on", STR(path));
    struct eval_set *set = NEW(r->arena, struct eval_set);
    *set = eval_set_make(&r->test_file, seed, p->setup.limit, &p->setup.rollout, r->arena);
    p->setup.sets = set;
    p->setup.n_sets = 1;
    return true;
}

static bool load(struct replay *p, str harness, struct err *err)
{
    struct run *r = p->run;
    struct arena *a = r->arena;
    str text, source, run = r->args->positionals[0];
    uint64_t seed;
    if (!file_read(path_join(p->dir, S("val.json"), a), FILE_MAX_BYTES, a, &text, err) ||
        !file_read(path_join(p->dir, S("ChessPuzzle-v0_trajectories.jsonl"), a), FILE_MAX_BYTES, a,
                   &p->trajectories, err) ||
        !candidate_read(
            path_join(path_join(path_join(run, S("harnesses"), a), harness, a), S("harness.py"), a),
            a, &source, err))
        return false;
    json_t *val = json_read_strict(text, err);
    if (!val)
        return err_add(err, "%.*s/val.json", STR(p->dir));
    read_metadata(p, json_object_get(val, "metadata"), &seed);
    p->n = json_array_size(json_object_get(val, "per_example"));
    json_decref(val);
    struct examination e;
    if (!sandbox_examine(r->sandbox, source, a, &e, err))
        return false;
    if (e.verdict == VERDICT_REJECT)
        return err_set(err, ERR_INPUT, "%.*s: %.*s", STR(harness), STR(harness_fault_line(&e, a)));
    struct candidate *c = NEW(a, struct candidate);
    *c = (struct candidate){ source, sha256_of(source, a), e.contract };
    p->evaluation = (struct evaluation){ .name = harness, .candidate = c };
    p->recordings = NEW_ARRAY(a, struct recording, p->n + 1);
    p->models = NEW_ARRAY(a, struct model, p->n + 1);
    return load_puzzles(p, seed, err) && read_recordings(p, err);
}

// ---- rolling out ----

static bool roll_out(struct replay *p, struct err *err)
{
    struct run *r = p->run;
    const struct eval_set *set = p->setup.sets;
    size_t repeats = (size_t)p->setup.repeats;
    struct job *jobs = NEW_ARRAY(r->arena, struct job, p->n + 1);
    struct eval_set_result *result = NEW(r->arena, struct eval_set_result);
    struct pump_opts opts = { .sandbox = r->sandbox, .interrupted = &signals_seen };
    if (p->n > set->n * repeats)
        return err_set(err, ERR_INPUT, "more rollouts are recorded than puzzles are there");
    for (size_t i = 0; i < p->n; i++) {
        struct rollout_input *in = NEW(r->arena, struct rollout_input);
        *in = (struct rollout_input){ &set->opts, p->evaluation.candidate,
                                      set->v[i / repeats].puzzle, i / repeats };
        jobs[i] = (struct job){ .kind = &episode_rollout,
                                .input = in,
                                .input_id = set->v[i / repeats].id,
                                .model = &p->models[i] };
    }
    r->row = (struct store_run){ .key = S("replay"), .command = S("harness replay") };
    if (!store_open(S(":memory:"), &(struct store_opts){ 0 }, &r->store, err) ||
        !store_run_begin(r->store, &(struct store_begin){ 0 }, r->arena, &r->row, err))
        return false;
    opts.run = r->row.id;
    r->lab = (struct lab){ .arena = r->arena, .pump = pump_new(&opts, r->store, err) };
    if (!r->lab.pump || !lab_evaluate(&r->lab, jobs, p->n, &result->out, err))
        return false;
    result->n_puzzles = p->n / repeats;
    p->evaluation.result =
        (struct eval_result){ .sets = result, .n_sets = 1, .repeats = p->setup.repeats };
    return true;
}

static bool compare(const struct replay *p, struct err *err)
{
    struct eval_file f = { &p->setup, &p->evaluation, 0, EVAL_COMPLETE };
    str now = eval_trajectories(&f, p->run->arena), then = p->trajectories;
    for (size_t i = 0; i < p->n; i++)
        if (!str_eq(str_cut_line(&now), str_cut_line(&then)))
            return err_set(err, ERR_RUN, "%.*s: rollout %zu does not come out as it was recorded",
                           STR(p->dir), i);
    return print_str(arena_printf(p->run->arena,
                                  "%.*s: %zu rollouts, each event and metric as "
                                  "recorded\n",
                                  STR(p->dir), p->n),
                     err);
}

static bool replay(struct run *r)
{
    struct names dirs;
    if (r->args->n_positionals != 2)
        return err_set(r->err, ERR_USAGE, "give RUN HARNESS, say runs/x h4");
    if (!harness_results(r->args->positionals[0], r->args->positionals[1], r->arena, &dirs,
                         r->err) ||
        !run_open_sandbox(r))
        return false;
    for (size_t i = 0; i < dirs.n; i++) {
        struct replay p = { .run = r, .dir = dirs.v[i] };
        bool ok = load(&p, r->args->positionals[1], r->err) && roll_out(&p, r->err) &&
                  compare(&p, r->err);
        pump_free(r->lab.pump);
        store_close(r->store);
        r->lab.pump = NULL;
        r->store = NULL;
        if (!ok)
            return false;
    }
    return true;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, replay, err);
}

static const struct opt opts[] = {
    { "puzzles", OPT_TEXT, "FILE", "what was evaluated on [builtin:train]", 0, 0 },
    { 0 },
};
const struct command command_harness_replay = {
    .name = "harness replay",
    .summary = "verify a stored evaluation without a model",
    .usage = "RUN HARNESS --puzzles FILE",
    .about =
        "The recorded responses go through the harness and the verifier again, and must leave\n"
        "the same trajectories, byte for byte.\n"
        "Example: rookery harness replay runs/mine h4",
    .opts = { opts },
    .max_positionals = 2,
    .run = run,
};
