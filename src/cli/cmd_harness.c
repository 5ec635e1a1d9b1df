// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness.c - candidates by hand: is one accepted, and how does it read an answer.
#include "cli/cli.h"
#include "puzzle/puzzle.h"
#include "sandbox/sandbox.h"

static str verdict_name(enum verdict v)
{
    static const str names[] = { T("pass"), T("quarantine"), T("reject") };
    return names[v];
}

// ---- harness check ----

static void put_layers(struct json_out *o, const struct sandbox *s)
{
    const struct sandbox_layers *layers = sandbox_layers(s);
    json_key_str(o, S("python"), sandbox_python(s));
    json_key_open(o, S("layers"), '{');
    json_key_bool(o, S("seccomp"), true);
    json_key_int(o, S("landlock"), layers->landlock_abi);
    json_key_bool(o, S("namespaces"), layers->namespaces);
    json_key_bool(o, S("other_user"), layers->other_user);
    json_close(o, '}');
}

static str as_json(const struct sandbox *s, str source, const struct examination *e,
                   struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("verdict"), verdict_name(e->verdict));
    json_key_str(&o, S("sha256"), sha256_of(source, a));
    json_key_open(&o, S("findings"), '[');
    for (size_t i = 0; i < e->findings.n; i++) {
        const struct violation *v = &e->findings.v[i];
        json_open(&o, '{');
        json_key_str(&o, S("rule"), v->rule);
        json_key_str(&o, S("level"), level_name(v->level));
        json_key_int(&o, S("line"), v->line);
        json_key_int(&o, S("col"), v->col);
        json_key_str(&o, S("message"), v->message);
        json_close(&o, '}');
    }
    json_close(&o, ']');
    put_layers(&o, s);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

static str as_text(str path, const struct examination *e, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < e->findings.n; i++) {
        const struct violation *v = &e->findings.v[i];
        buf_addf(&b, "%.*s:%lld:%lld: %.*s %.*s: %.*s\n", STR(path), (long long)v->line,
                 (long long)v->col, STR(level_name(v->level)), STR(v->rule),
                 STR(text_for_terminal(v->message, a)));
    }
    buf_addf(&b, "%.*s: %.*s\n", STR(path), STR(verdict_name(e->verdict)));
    return buf_str(&b);
}

struct candidate_file {
    str source;
    struct examination exam;
};

// Hashes of what a puzzle file holds, for the audit.
static bool read_index(str path, struct arena *a, struct audit_index *index, struct err *err)
{
    struct puzzles all;
    *index = (struct audit_index){ .seen = { .arena = a }, .salt = (uint64_t)clock_mono_us() };
    if (!puzzles_load(path, &(struct puzzle_load_opts){ 0 }, a, &all, err))
        return false;
    for (size_t i = 0; i < all.n; i++) {
        const struct puzzle *p = &all.v[i];
        struct position after = position_after(&p->start, p->moves[0]);
        str *moves = NEW_ARRAY(a, str, p->n_moves);
        for (size_t k = 0; k < p->n_moves; k++)
            moves[k] = arena_str(a, str_from(uci_format(p->moves[k]).data));
        audit_index_add(index, &(struct audit_item){ p->id, &p->start, moves, p->n_moves });
        audit_index_add(index, &(struct audit_item){ .at = &after });
    }
    return true;
}

static bool judge(struct sandbox *s, const struct args *args, struct arena *a,
                  struct candidate_file *f, struct err *err)
{
    struct audit_index index;
    struct audit_opts opts = { 0 };
    str puzzles = opt_text(args, "puzzles", S("")), parent = opt_text(args, "parent", S(""));
    if (parent.len > 0 && !candidate_read(parent, a, &opts.parent, err))
        return false;
    if (puzzles.len > 0) {
        opts.index = &index;
        if (!read_index(puzzles, a, &index, err))
            return false;
    }
    if (!candidate_read(args->positionals[0], a, &f->source, err) ||
        !sandbox_examine(s, f->source, a, &f->exam, err))
        return false;
    opts.source = f->source;
    return sandbox_audit(s, &opts, a, &f->exam, err);
}

static bool check_with(struct sandbox *s, const struct args *args, struct arena *a, struct err *err)
{
    str path = args->positionals[0];
    struct candidate_file f;
    if (!judge(s, args, a, &f, err))
        return false;
    const struct examination *e = &f.exam;
    str text = opt_flag(args, "json") ? as_json(s, f.source, e, a) : as_text(path, e, a);
    if (!print_str(text, err))
        return false;
    if (e->unscored)
        return err_set(err, ERR_RUN, "%.*s was not judged: the machine was too busy", STR(path));
    return e->verdict != VERDICT_REJECT ||
           err_set(err, ERR_RUN,
                   "%.*s is rejected (%zu findings); each line above says what is "
                   "allowed instead",
                   STR(path), e->findings.n);
}

static bool check_run(const struct args *args, struct arena *a, struct err *err)
{
    struct sandbox *s;
    if (args->n_positionals != 1)
        return err_set(err, ERR_USAGE, "give one FILE, or builtin:h0");
    if (!sandbox_new(&(struct sandbox_opts){ 0 }, &s, err))
        return false;
    bool ok = check_with(s, args, a, err);
    sandbox_free(s);
    return ok;
}

static const struct opt check_opts[] = {
    { "puzzles", OPT_TEXT, "FILE", "the data set, which a candidate must not know", 0, 0 },
    { "parent", OPT_TEXT, "FILE", "the harness it was made from", 0, 0 },
    { .name = "json", .help = "the verdict as one JSON object, with the layers in force" },
    { 0 },
};
const struct command command_harness_check = {
    .name = "harness check",
    .summary = "check and audit a candidate harness.py in the sandbox",
    .usage = "FILE [OPTIONS]",
    .about = "Tells every rule that the candidate breaks, with line and column, loads it in a\n"
             "locked-down child, and audits it for answers and chess smuggled in. Exit code 0:\n"
             "accepted (warnings are allowed) or quarantined (\"verdict\":\"quarantine\"), 1: "
             "rejected.\n"
             "Example: rookery harness check harness.py --json",
    .opts = { check_opts },
    .max_positionals = 1,
    .run = check_run,
};

// ---- harness parse ----

struct parse_job {
    struct sandbox *sandbox;
    str source;
    struct harness_contract contract;
};

// One call; a fault or exception is an error that names the function.
static bool ask(struct cell *c, const struct harness_call *call, struct arena *a,
                struct harness_result *r, struct err *err)
{
    str name = harness_function_name(call->function);
    cell_call(c, call);
    if (cell_wait(c, a, r) != CELL_ANSWERED)
        return err_set(err, ERR_RUN, "%.*s: %.*s", STR(name), STR(cell_end_text(c, a)));
    if (!r->ok)
        return err_set(err, ERR_RUN, "%.*s: line %lld: %.*s: %.*s", STR(name),
                       (long long)r->error_line, STR(r->error_class), STR(r->error_message));
    return true;
}

static str turn_of(str observation)
{
    return str_find(observation, S("Side to move: Black")) >= 0 ? S("black") : S("white");
}

// What a rollout would ask of the candidate about this response.
static bool parse_in(struct cell *c, const struct parse_job *job, const json_t *in,
                     struct json_out *out, struct err *err)
{
    struct arena *a = out->b->arena;
    struct harness_result r;
    str response = json_get_str(in, "response"), observation = json_get_str(in, "observation");
    struct harness_call call = { .function = HARNESS_FORMAT, .text = observation };
    call.side_to_move = turn_of(observation);
    call.max_turns = job->contract.max_turns;
    if (job->contract.formats && observation.len > 0 && !ask(c, &call, a, &r, err))
        return false;
    str action = harness_parse(response, a);
    if (job->contract.parses) {
        call = (struct harness_call){ .function = HARNESS_PARSE, .text = response };
        if (!ask(c, &call, a, &r, err))
            return false;
        if (r.type != RESULT_STR || r.text.len > HARNESS_ACTION_MAX_BYTES)
            return err_set(err, ERR_RUN, "parse_action must return a short text");
        action = harness_normalise(r.text, false, a);
    }
    call =
        (struct harness_call){ .function = HARNESS_LEGAL, .text = observation, .action = action };
    if (!ask(c, &call, a, &r, err))
        return false;
    json_open(out, '{');
    json_key_str(out, S("action"), action);
    json_key_bool(out, S("legal"), r.truth);
    json_close(out, '}');
    return true;
}

static bool parse_line(void *ctx, const json_t *in, struct arena *a, struct json_out *out,
                       struct err *err)
{
    struct parse_job *job = ctx;
    struct cell *c;
    if (!json_is_string(json_object_get(in, "response")))
        return err_set(err, ERR_INPUT,
                       "no response: a line is {\"response\": TEXT, \"observation\": TEXT}");
    if (!sandbox_load(job->sandbox, job->source, a, &c, err))
        return false;
    bool ok = parse_in(c, job, in, out, err);
    cell_free(c);
    return ok;
}

static bool parse_with(struct sandbox *s, str path, struct arena *a, struct err *err)
{
    struct parse_job job = { .sandbox = s };
    struct examination e;
    if (!candidate_read(path, a, &job.source, err) || !sandbox_examine(s, job.source, a, &e, err))
        return false;
    if (e.verdict == VERDICT_REJECT)
        return err_set(err, ERR_INPUT, "%.*s is rejected: rookery harness check tells why",
                       STR(path));
    job.contract = e.contract;
    return jsonl_run_each(stdin, parse_line, &job, err);
}

static bool parse_run(const struct args *args, struct arena *a, struct err *err)
{
    struct sandbox *s;
    str path = opt_text(args, "harness", S(""));
    if (path.len == 0)
        return err_set(err, ERR_USAGE, "--harness FILE is needed (or builtin:h0)");
    if (!sandbox_new(&(struct sandbox_opts){ 0 }, &s, err))
        return false;
    bool ok = parse_with(s, path, a, err);
    sandbox_free(s);
    return ok;
}

static const struct opt parse_opts[] = {
    { "harness", OPT_TEXT, "FILE", "the candidate, or builtin:h0", 0, 0 },
    { 0 },
};
const struct command command_harness_parse = {
    .name = "harness parse",
    .summary = "read answers with a candidate's parser (JSON Lines)",
    .usage = "--harness FILE < LINES",
    .about = "Reads {\"response\": TEXT, \"observation\": TEXT} a line and prints action, and "
             "whether the\ncandidate calls it legal; each line in a fresh child.\n"
             "Example: echo '{\"response\": \"<move>e2e4</move>\", \"observation\": \"- [e2e4] "
             "SAN=e4\"}' |\n    rookery harness parse --harness builtin:h0",
    .opts = { parse_opts },
    .run = parse_run,
};
