// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness_export.c - puzzles and recorded rollouts in the forms that trainers of weights read.
//
// Recorded rollouts hold what the policy said; what it was shown is computed again by playing the
// rollout through the same candidate, and a reward that then differs from the recorded one is an
// error. The trap of modes: the messages that a policy sampled from are those of its message mode,
// and training on those of another mode is another distribution, so that must be asked for.
#include <math.h>

#include "cli/cli.h"
#include "env/env.h"

enum { FILE_MAX_BYTES = 1 << 30, GROUP = 8 };
#define STD_EPSILON 1e-6 // GRPO's, in the denominator
enum export_kind { EXPORT_PROMPTS, EXPORT_ROLLOUTS, EXPORT_RSFT, EXPORT_GRPO };
struct trajectory { // one recorded rollout
    size_t lineno;
    int64_t example, sample, step;
    double reward;
    bool scored;
    str model;
    struct recorded answers;
    double advantage;
    bool flat_group; // all rewards of its group are equal
};
struct export
{
    const struct args *args;
    struct arena *a;
    struct err *err;
    enum export_kind kind;
    struct sandbox *sandbox;
    struct candidate candidate;
    struct rollout_opts rollout;
    enum message_mode sampled;
    bool has_sampled;
    struct puzzles puzzles;
    struct {
        struct trajectory *v;
        size_t n, cap;
    } lines;
    size_t n_written, n_unscored, n_rejected, n_doubles, n_steps, n_empty_steps;
    struct map seen, per_puzzle, steps;
};

static const str modes[] = { T("reference"), T("dialogue"), T("compact") };

// ---- setting up ----

static bool read_mode(struct export *x, const char *option, enum message_mode *out)
{
    size_t which;
    str mode = opt_text(x->args, option, S(""));
    if (!str_among(mode, modes, ARRAY_LEN(modes), &which))
        return err_set(x->err, ERR_USAGE, "--%s: reference, dialogue or compact", option);
    *out = (enum message_mode)which;
    return true;
}

static bool read_options(struct export *x)
{
    static const str kinds[] = { T("prompts"), T("rollouts"), T("rsft"), T("grpo") };
    size_t which;
    if (x->args->n_positionals != 1 ||
        !str_among(x->args->positionals[0], kinds, ARRAY_LEN(kinds), &which))
        return err_set(x->err, ERR_USAGE, "say what: prompts, rollouts, rsft or grpo");
    x->kind = (enum export_kind)which;
    x->has_sampled = opt_get(x->args, "sampled-mode")->set;
    x->rollout.seed = (uint64_t)opt_int(x->args, "seed", 42);
    x->rollout.lichess = str_eq(opt_text(x->args, "mate-rule", S("strict")), S("lichess"));
    if (x->has_sampled && !read_mode(x, "sampled-mode", &x->sampled))
        return false;
    return !opt_get(x->args, "message-mode")->set ||
           read_mode(x, "message-mode", &x->rollout.messages);
}

static bool open_candidate(struct export *x)
{
    struct examination e;
    str path = opt_text(x->args, "harness", S("builtin:h0"));
    if (!sandbox_new(&(struct sandbox_opts){ 0 }, &x->sandbox, x->err) ||
        !candidate_read(path, x->a, &x->candidate.source, x->err) ||
        !sandbox_examine(x->sandbox, x->candidate.source, x->a, &e, x->err))
        return false;
    if (e.verdict == VERDICT_REJECT || e.unscored)
        return err_set(x->err, ERR_INPUT, "%.*s is rejected: rookery harness check tells why",
                       STR(path));
    x->candidate.contract = e.contract;
    x->candidate.sha256 = sha256_of(x->candidate.source, x->a);
    return true;
}

static bool open_puzzles(struct export *x)
{
    str path = opt_text(x->args, "puzzles", S("builtin:train"));
    if (!puzzles_load(path, &(struct puzzle_load_opts){ 0 }, x->a, &x->puzzles, x->err))
        return false;
    if (!opt_flag(x->args, "file-order"))
        puzzles_shuffle(&x->puzzles, x->rollout.seed);
    return true;
}

// ---- recorded rollouts ----

static struct reply reply_of(const json_t *event, bool with_usage, struct arena *a)
{
    struct reply r = { .class = REPLY_OK, .finish = FINISH_STOP };
    r.text = arena_str(a, json_get_str(event, with_usage ? "raw_response" : "content"));
    if (json_is_true(json_object_get(event, "truncated")))
        r.finish = FINISH_LENGTH;
    if (with_usage && !str_eq(json_get_str(event, "token_source"), S("approx")) &&
        json_is_integer(json_object_get(event, "completion_tokens")))
        r.usage = (struct usage){ .source = KNOWN_REPORTED,
                                  .output_tok = json_get_int(event, "completion_tokens", 0) };
    return r;
}

// The answers of a trajectory: of its trace, which has their tokens, or else of its completion.
static void read_answers(const json_t *in, struct arena *a, struct recorded *out)
{
    const json_t *trace = json_object_get(in, "harness_trace");
    bool has_trace = json_array_size(trace) > 0;
    const json_t *list = has_trace ? trace : json_object_get(in, "completion");
    struct reply *replies = NEW_ARRAY(a, struct reply, json_array_size(list) + 1);
    size_t i;
    json_t *each;
    json_array_foreach (json_iterable(list), i, each)
        if (str_eq(json_get_str(each, has_trace ? "actor" : "role"), S("assistant")))
            replies[out->n++] = reply_of(each, has_trace, a);
    out->replies = replies;
}

static bool note_mode(struct export *x, const json_t *in)
{
    size_t which;
    str mode = json_get_str(in, "message_mode");
    if (mode.len == 0)
        return true;
    if (!str_among(mode, modes, ARRAY_LEN(modes), &which))
        return err_set(x->err, ERR_INPUT, "message_mode: reference, dialogue or compact");
    if (x->has_sampled && x->sampled != (enum message_mode)which)
        return err_set(x->err, ERR_INPUT, "sampled in mode %.*s, others in %.*s", STR(mode),
                       STR(modes[x->sampled]));
    x->sampled = (enum message_mode)which;
    x->has_sampled = true;
    return true;
}

static int64_t samples_before(const struct export *x, int64_t example)
{
    int64_t n = 0;
    for (size_t i = 0; i < x->lines.n; i++)
        n += x->lines.v[i].example == example;
    return n;
}

static bool read_line(struct export *x, const json_t *in, size_t lineno)
{
    struct trajectory l = { .lineno = lineno, .example = json_get_int(in, "example_index", -1) };
    const json_t *reward = json_object_get(in, "reward");
    str stop = json_get_str(in, "stop_condition");
    if (l.example < 0 || (size_t)l.example >= x->puzzles.n || !json_is_number(reward))
        return err_set(x->err, ERR_INPUT,
                       "no rollout of these puzzles: example_index below %zu and reward are needed",
                       x->puzzles.n);
    l.reward = json_number_value(reward);
    l.scored = !str_eq(stop, S("infra_error")) && !str_eq(stop, S("cancelled"));
    l.sample = json_get_int(in, "sample", samples_before(x, l.example));
    l.step = json_get_int(in, "step", opt_int(x->args, "step", 0));
    l.model = arena_str(x->a, json_get_str(in, "model"));
    if (l.model.len == 0)
        l.model = opt_text(x->args, "model", S(""));
    read_answers(in, x->a, &l.answers);
    x->n_unscored += !l.scored;
    *vec_push(x->a, &x->lines) = l;
    return note_mode(x, in);
}

static bool read_rollouts(struct export *x)
{
    str path = opt_text(x->args, "rollouts", S("")), text;
    if (path.len == 0)
        return err_set(x->err, ERR_USAGE, "--rollouts FILE is needed, trajectories as JSON Lines");
    if (!file_read(path, FILE_MAX_BYTES, x->a, &text, x->err))
        return false;
    for (size_t lineno = 1; text.len > 0; lineno++) {
        str line = str_cut_line(&text);
        if (str_trim(line).len == 0)
            continue;
        json_t *in = json_read_strict(line, x->err);
        bool ok = in && read_line(x, in, lineno);
        json_decref(in);
        if (!ok)
            return err_add(x->err, "%.*s:%zu", STR(path), lineno);
    }
    return true;
}

static bool check_mode(struct export *x)
{
    if (!x->has_sampled)
        return err_set(x->err, ERR_USAGE,
                       "the rollouts do not say in which message mode they were "
                       "sampled: give --sampled-mode");
    if (!opt_get(x->args, "message-mode")->set)
        x->rollout.messages = x->sampled;
    if (x->rollout.messages == x->sampled || opt_flag(x->args, "allow-mode-mismatch"))
        return true;
    return err_set(x->err, ERR_USAGE,
                   "sampled in mode %.*s: to train on messages of mode %.*s, "
                   "which the policy never saw, add --allow-mode-mismatch",
                   STR(modes[x->sampled]), STR(modes[x->rollout.messages]));
}

// ---- groups ----

// The advantages of a GRPO group; the standard deviation is that of a sample (n - 1), as trainers
// compute it.
static void judge_group(struct export *x, int64_t example, int64_t step)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < x->lines.n; i++) {
        const struct trajectory *l = &x->lines.v[i];
        bool member = l->scored && l->example == example && l->step == step;
        n += member;
        sum += member ? l->reward : 0;
    }
    double mean = n > 0 ? sum / (double)n : 0;
    for (size_t i = 0; i < x->lines.n; i++) {
        const struct trajectory *l = &x->lines.v[i];
        if (l->scored && l->example == example && l->step == step)
            squares += (l->reward - mean) * (l->reward - mean);
    }
    double std = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    for (size_t i = 0; i < x->lines.n; i++) {
        struct trajectory *l = &x->lines.v[i];
        if (l->example != example || l->step != step)
            continue;
        l->advantage = (l->reward - mean) / (std + STD_EPSILON);
        l->flat_group = squares <= 0;
    }
}

static str place_of(const struct export *x, const struct trajectory *l)
{
    return arena_printf(x->a, "%lld/%lld", (long long)l->step, (long long)l->example);
}

static bool judge_groups(struct export *x)
{
    struct map groups = { .arena = x->a };
    int64_t wanted = opt_int(x->args, "group-size", GROUP);
    for (size_t i = 0; i < x->lines.n; i++) {
        bool fresh;
        struct map_entry *e = map_put(&groups, place_of(x, &x->lines.v[i]), &fresh);
        e->number += x->lines.v[i].scored;
        if (fresh)
            judge_group(x, x->lines.v[i].example, x->lines.v[i].step);
    }
    for (size_t i = 0; i < groups.n; i++)
        if (groups.v[i].number != wanted)
            return err_set(x->err, ERR_INPUT,
                           "group %.*s (step/example) has %lld scored samples, "
                           "not %lld: give --group-size",
                           STR(groups.v[i].key), (long long)groups.v[i].number, (long long)wanted);
    return true;
}

// ---- writing ----

static void put_messages(const struct messages *shown, const struct reply *answer, bool all,
                         struct json_out *o)
{
    json_key_open(o, S("messages"), '[');
    for (size_t i = 0; i <= shown->n; i++) {
        bool last = i == shown->n;
        static const str roles[] = {
            [ROLE_SYSTEM] = T("system"), [ROLE_USER] = T("user"), [ROLE_ASSISTANT] = T("assistant")
        };
        enum role role = last ? ROLE_ASSISTANT : shown->v[i].role;
        json_open(o, '{');
        json_key_str(o, S("role"), roles[role]);
        json_key_str(o, S("content"), last ? answer->text : shown->v[i].text);
        json_key_bool(o, S("train"), role == ROLE_ASSISTANT && (all || last));
        json_close(o, '}');
    }
    json_close(o, ']');
}

static bool print_record(struct export *x, struct buf *b)
{
    buf_add_char(b, '\n');
    x->n_written++;
    return print_str(buf_str(b), x->err);
}

// One call in the mode's own context, or (dialogue) the whole stream with its last call.
static bool write_call(struct export *x, const struct trajectory *l, const struct rerun *r,
                       size_t call)
{
    struct buf b = { .arena = x->a };
    struct json_out o = { .b = &b };
    bool whole = x->rollout.messages == MESSAGES_DIALOGUE;
    json_open(&o, '{');
    json_key_str(&o, S("group_id"), place_of(x, l));
    json_key_int(&o, S("sample"), l->sample);
    if (!whole)
        json_key_int(&o, S("call"), (int64_t)call + 1);
    put_messages(&r->shown[call], &l->answers.replies[call], whole, &o);
    json_key_str(&o, S("message_mode"), modes[x->rollout.messages]);
    json_key_str(&o, S("sampled_mode"), modes[x->sampled]);
    json_key_double(&o, S("reward"), r->score);
    if (x->kind == EXPORT_GRPO)
        json_key_double(&o, S("advantage"), l->advantage);
    json_key_str(&o, S("stop_condition"), rollout_stop_name(r->record->stop));
    json_key_int(&o, S("tokens"), r->record->tokens);
    json_key_str(&o, S("harness_sha256"), x->candidate.sha256);
    json_key_maybe(&o, S("model"), l->model);
    json_key_int(&o, S("step"), l->step);
    json_close(&o, '}');
    return print_record(x, &b);
}

static bool write_flat(struct export *x, const struct trajectory *l, const struct rerun *r)
{
    struct buf b = { .arena = x->a }, text = { .arena = x->a };
    struct json_out o = { .b = &b };
    for (size_t i = 0; i < r->record->events.n; i++) {
        const struct rollout_event *e = &r->record->events.v[i];
        str said = e->actor == ACTOR_ASSISTANT ? e->response : e->tool;
        if (e->actor != ACTOR_HARNESS)
            buf_addf(&text, "%s%.*s", text.len > 0 ? "\n" : "", STR(said));
    }
    json_open(&o, '{');
    json_key_str(&o, S("input"), r->record->question);
    json_key_str(&o, S("output"), buf_str(&text));
    json_key_str(&o, S("gts"), S(""));
    json_key_int(&o, S("step"), l->step);
    rollout_metrics_write(r->record, &o);
    json_close(&o, '}');
    return print_record(x, &b);
}

static bool write_rollout(struct export *x, const struct trajectory *l, const struct rerun *r)
{
    if (opt_flag(x->args, "flat"))
        return write_flat(x, l, r);
    bool whole = x->rollout.messages == MESSAGES_DIALOGUE;
    for (size_t call = whole && r->n > 0 ? r->n - 1 : 0; call < r->n; call++)
        if (!write_call(x, l, r, call))
            return false;
    return true;
}

// ---- which ----

static str texts_of(const struct export *x, const struct trajectory *l)
{
    struct buf b = { .arena = x->a };
    buf_addf(&b, "%lld", (long long)l->example);
    for (size_t i = 0; i < l->answers.n; i++)
        buf_addf(&b, "\x1f%.*s", STR(l->answers.replies[i].text));
    return buf_str(&b);
}

// Whether rejection sampling keeps a rollout.
static bool keeps(struct export *x, const struct trajectory *l)
{
    bool fresh = true;
    struct map_entry *step =
        map_put(&x->steps, arena_printf(x->a, "%lld", (long long)l->step), NULL);
    if (!(l->reward > opt_real(x->args, "score-threshold", 0.5))) {
        x->n_rejected++;
        return false;
    }
    if (opt_flag(x->args, "dedupe"))
        map_put(&x->seen, texts_of(x, l), &fresh);
    int64_t most = opt_int(x->args, "max-per-puzzle", 0);
    struct map_entry *taken = map_put(&x->per_puzzle, place_of(x, l), NULL);
    if (!fresh || (most > 0 && taken->number >= most)) {
        x->n_doubles++;
        return false;
    }
    taken->number++;
    step->number++;
    return true;
}

static bool wants(struct export *x, const struct trajectory *l)
{
    if (!l->scored)
        return false;
    if (x->kind == EXPORT_RSFT)
        return keeps(x, l);
    return x->kind != EXPORT_GRPO || !l->flat_group || !opt_flag(x->args, "skip-zero-variance");
}

static bool export_line(struct export *x, const struct trajectory *l)
{
    struct rerun r;
    struct rollout_input in = { &x->rollout, &x->candidate,
                                rollout_puzzle(&x->puzzles.v[l->example], x->a),
                                (uint64_t)l->example };
    bool ok = rerun(&(struct rerun_input){ x->sandbox, &in, &l->answers }, x->a, &r, x->err);
    if (ok && !(fabs(r.score - l->reward) < STD_EPSILON))
        ok = err_set(x->err, ERR_INPUT,
                     "the verifier now says %g, the file %g: another harness, other puzzles, seed, "
                     "or mate rule?",
                     r.score, l->reward);
    return ok ? write_rollout(x, l, &r)
              : err_add(x->err, "%.*s:%zu", STR(opt_text(x->args, "rollouts", S(""))), l->lineno);
}

static bool export_rollouts(struct export *x)
{
    if (!read_rollouts(x) || !check_mode(x) || (x->kind == EXPORT_GRPO && !judge_groups(x)))
        return false;
    for (size_t i = 0; i < x->lines.n; i++)
        if (wants(x, &x->lines.v[i]) && !export_line(x, &x->lines.v[i]))
            return false;
    for (size_t i = 0; i < x->steps.n; i++)
        x->n_empty_steps += x->steps.v[i].number == 0;
    log_line(LOG_INFO, "%zu records of %zu rollouts", x->n_written, x->lines.n);
    fprintf(
        stderr,
        "%zu records of %zu rollouts; %zu unscored, %zu not above the threshold, %zu doubles or "
        "over the limit; %zu steps without any\n",
        x->n_written, x->lines.n, x->n_unscored, x->n_rejected, x->n_doubles, x->n_empty_steps);
    return true;
}

// ---- prompts ----

static void put_moves(const struct puzzle *p, size_t from, const char *key, struct json_out *o)
{
    json_key_open(o, str_from(key), '[');
    for (size_t i = from; i < p->n_moves; i++)
        json_put_str(o, str_from(uci_format(p->moves[i]).data));
    json_close(o, ']');
}

static void put_themes(str themes, struct json_out *o)
{
    json_key_open(o, S("themes"), '[');
    while (themes.len > 0) {
        str theme = str_cut(&themes, ' ');
        if (theme.len > 0)
            json_put_str(o, theme);
    }
    json_close(o, ']');
}

// The normalised record of 1.2: answers and all.
static void put_record(const struct export *x, const struct puzzle *p, struct json_out *o)
{
    struct position after = position_after(&p->start, p->moves[0]);
    struct buf fen = { .arena = x->a };
    position_format(&after, &fen);
    str rest = buf_str(&fen), placement = str_cut(&rest, ' '), side = str_cut(&rest, ' ');
    json_key_open(o, S("extra_info"), '{');
    json_key_str(o, S("task"), S("chess-puzzle-v0"));
    json_key_str(o, S("source"), opt_text(x->args, "puzzles", S("builtin:train")));
    json_key_str(o, S("puzzle_id"), p->id);
    json_key_str(o, S("initial_fen"), p->fen);
    json_key_str(o, S("trigger_move"), str_from(uci_format(p->moves[0]).data));
    json_key_str(o, S("start_fen"), buf_str(&fen));
    put_moves(p, 1, "solution_moves", o);
    put_moves(p, 0, "raw_moves", o);
    if (p->has_rating)
        json_key_int(o, S("rating"), p->rating);
    else
        json_key_null(o, S("rating"));
    put_themes(p->themes, o);
    json_key_str(o, S("position_key"), arena_printf(x->a, "%.*s %.*s", STR(placement), STR(side)));
    json_key_maybe(o, S("split"), opt_text(x->args, "split", S("")));
    json_close(o, '}');
}

static bool export_prompt(struct export *x, size_t i)
{
    struct rerun r;
    struct buf b = { .arena = x->a };
    struct json_out o = { .b = &b };
    struct rollout_input in = { &x->rollout, &x->candidate, rollout_puzzle(&x->puzzles.v[i], x->a),
                                i };
    struct recorded none = { 0 };
    if (!rerun(&(struct rerun_input){ x->sandbox, &in, &none }, x->a, &r, x->err))
        return false;
    json_open(&o, '{');
    json_key_str(&o, S("data_source"), S("chess-puzzle-v0"));
    json_key(&o, S("prompt"));
    messages_write(&r.shown[0], &o);
    json_key_str(&o, S("ability"), S("chess_puzzle"));
    json_key_open(&o, S("reward_model"), '{');
    json_key_str(&o, S("style"), S("rule"));
    json_key_str(&o, S("ground_truth"), S(""));
    json_close(&o, '}');
    put_record(x, &x->puzzles.v[i], &o);
    json_close(&o, '}');
    return print_record(x, &b);
}

static bool export_prompts(struct export *x)
{
    size_t limit = (size_t)opt_int(x->args, "limit", (int64_t)x->puzzles.n);
    for (size_t i = 0; i < x->puzzles.n && i < limit; i++)
        if (!export_prompt(x, i))
            return false;
    return true;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct export x = { .args = args, .a = a, .err = err };
    x.seen.arena = x.per_puzzle.arena = x.steps.arena = a;
    bool ok = read_options(&x) && open_puzzles(&x) && open_candidate(&x) &&
              (x.kind == EXPORT_PROMPTS ? export_prompts(&x) : export_rollouts(&x));
    sandbox_free(x.sandbox);
    return ok;
}

static const struct opt opts[] = {
    { "harness", OPT_TEXT, "FILE", "what the rollouts were played through [builtin:h0]", 0, 0 },
    { "puzzles", OPT_TEXT, "FILE", "the puzzles [builtin:train]", 0, 0 },
    { "rollouts", OPT_TEXT, "FILE", "trajectories, a JSON object a line", 0, 0 },
    { "seed", OPT_INT, "N", "of the evaluation; also gives the puzzles' order [42]", 0,
      4294967295 },
    { .name = "file-order", .help = "example_index counts the puzzles as their file has them" },
    { "message-mode", OPT_TEXT, "MODE", "whose messages to write [as sampled]", 0, 0 },
    { "sampled-mode", OPT_TEXT, "MODE", "in which the rollouts were sampled [as they say]", 0, 0 },
    { .name = "allow-mode-mismatch", .help = "train on messages that the policy never saw" },
    { "mate-rule", OPT_TEXT, "RULE", "strict or lichess [strict]", 0, 0 },
    { "score-threshold", OPT_REAL, "X", "rsft: rewards above it are kept [0.5]", -1e9, 1e9 },
    { "max-per-puzzle", OPT_INT, "N", "rsft: at most so many of a puzzle and step", 1, 1000000 },
    { .name = "dedupe", .help = "rsft: of rollouts with the same texts, the first" },
    { "group-size", OPT_INT, "N", "grpo: samples of each puzzle and step [8]", 1, 1000000 },
    { .name = "skip-zero-variance", .help = "grpo: no groups whose rewards are all equal" },
    { .name = "flat", .help = "input, output, score and metrics instead of messages" },
    { "model", OPT_TEXT, "NAME", "where the rollouts name none", 0, 0 },
    { "step", OPT_INT, "N", "of training, where the rollouts name none [0]", 0, 1000000000 },
    { "split", OPT_TEXT, "NAME", "prompts: what the split is called", 0, 0 },
    { "limit", OPT_INT, "N", "prompts: so many puzzles [all]", 1, 1000000000 },
    { 0 },
};
const struct command command_harness_export = {
    .name = "harness export",
    .summary = "puzzles and rollouts for the training of weights (JSON Lines)",
    .usage = "prompts|rollouts|rsft|grpo [OPTIONS]",
    .about = "prompts: the first messages of each puzzle, with its answers: never into a run\n"
             "directory. The others play recorded rollouts again through the harness and write\n"
             "what the policy saw, \"train\": true on what it said: one record a rollout in\n"
             "message mode dialogue, one a call in the others, whose contexts differ by call.\n"
             "Example: rookery harness export rsft --harness h4.py --rollouts trajectories.jsonl",
    .opts = { opts },
    .max_positionals = 1,
    .run = run,
};
