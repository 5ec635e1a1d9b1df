// SPDX-License-Identifier: GPL-3.0-or-later
// harness_setup.c - from options to what harnesses are evaluated on.
#include "cli/harness_run.h"

enum { LIMIT_DEFAULT = 256, TOKEN_BUDGET = 8129, SETS_MAX = 16 };

const struct opt opts_rollout[] = {
    { "puzzles", OPT_TEXT, "FILE", "what harnesses are scored on [builtin:train]", 0, 0 },
    { "limit", OPT_INT, "N",
      "puzzles: the first N as the seed shuffles them, so another seed means other puzzles [256]",
      1, 1e9 },
    { "eval-seeds", OPT_TEXT, "N,N", "seeds of evaluations, one set of puzzles each [--seed]", 0,
      0 },
    { "repeats", OPT_INT, "K", "rollouts of each puzzle, the same puzzles [1]", 1, 1000 },
    { "profile", OPT_TEXT, "NAME", "what the set is called in paths [mh_val]", 0, 0 },
    { "messages", OPT_TEXT, "MODE", "reference, dialogue or compact [reference]", 0, 0 },
    { "merge-users", OPT_TEXT, "YES|NO", "join user messages in a row [dialogue: yes]", 0, 0 },
    { "mate-rule", OPT_TEXT, "RULE", "strict, or lichess: any mate solves [strict]", 0, 0 },
    { "compat", OPT_FLAG, NULL, "vetoes, types and templates as the reference has them", 0, 0 },
    { "token-budget", OPT_INT, "N", "tokens of all answers of a rollout [8129]", 1, 1e9 },
    { "turns", OPT_INT, "N", "policy calls where a harness names none [9]", 1, 1000 },
    { "turns-cap", OPT_INT, "N", "most calls a harness may ask for [twice --turns]", 1, 1000 },
    { "weights-id", OPT_TEXT, "TEXT", "names the model's weights, where its name does not", 0, 0 },
    { 0 },
};

// ---- options ----

static bool choice(struct run *r, const char *option, const char *const names[3], int *out)
{
    str text = opt_text(r->args, option, str_from(names[0]));
    for (*out = 0; *out < 3 && names[*out]; ++*out)
        if (str_eq(text, str_from(names[*out])))
            return true;
    return err_set(r->err, ERR_USAGE, "--%s must be %s, %s%s%s, got \"%.*s\"", option, names[0],
                   names[1], names[2] ? " or " : "", names[2] ? names[2] : "", STR(text));
}

static bool read_options(struct harness_run *h)
{
    static const char *const modes[] = { "reference", "dialogue", "compact" };
    static const char *const merges[] = { "by-mode", "yes", "no" };
    static const char *const rules[] = { "strict", "lichess", NULL };
    struct run *r = h->run;
    struct rollout_opts *o = &h->setup.rollout;
    int mode, merge, rule;
    if (!choice(r, "messages", modes, &mode) || !choice(r, "merge-users", merges, &merge) ||
        !choice(r, "mate-rule", rules, &rule))
        return false;
    o->messages = (enum message_mode)mode;
    o->merge = (enum merge_users)merge;
    o->lichess = rule == 1;
    o->compat = opt_flag(r->args, "compat");
    o->token_budget = opt_int(r->args, "token-budget", TOKEN_BUDGET);
    o->turns = opt_int(r->args, "turns", HARNESS_TURNS);
    o->turns_cap = opt_int(r->args, "turns-cap", 2 * o->turns);
    const struct model_config *m = &r->config.task_model;
    o->policy_max_tokens = m->max_tokens_given ? m->max_tokens : o->token_budget;
    h->setup.repeats = (int)opt_int(r->args, "repeats", 1);
    h->setup.limit = (size_t)opt_int(r->args, "limit", LIMIT_DEFAULT);
    h->setup.profile = opt_text(r->args, "profile", S("mh_val"));
    h->setup.weights_id = opt_text(r->args, "weights-id", S(""));
    return str_find_char(h->setup.profile, '/') < 0 && h->setup.profile.len > 0
               ? true
               : err_set(r->err, ERR_USAGE, "--profile is a name, without a slash");
}

// Policies sample (1.13), unless a temperature is named.
static bool configure(struct run *r)
{
    if (!run_configure(r, METHOD_BASELINE))
        return false;
    if (opt_get(r->args, "program")->set)
        return err_set(r->err, ERR_USAGE, "--program: harnesses bring their own prompts");
    if (!r->config.task_model.has_temperature || !opt_get(r->args, "temperature")->set) {
        r->config.task_model.has_temperature = true;
        if (!opt_get(r->args, "temperature")->set && r->args->n_positionals == 0)
            r->config.task_model.temperature = 1;
    }
    return true;
}

// ---- puzzles ----

static bool is_test_set(str path)
{
    str name = path;
    for (ptrdiff_t at; (at = str_find_char(name, '/')) >= 0;)
        name = str_sub(name, (size_t)at + 1, name.len);
    return str_eq(name, S("builtin:test")) || str_starts(name, S("test")) ||
           str_find(name, S("-test")) >= 0 || str_find(name, S("_test")) >= 0;
}

static bool check_role(struct run *r, str path, enum puzzles_role role)
{
    if (!is_test_set(path))
        return true;
    if (role == PUZZLES_FOR_SEARCH)
        return err_set(r->err, ERR_USAGE,
                       "%.*s: a search must not see a test set; name another --puzzles", STR(path));
    if (!opt_flag(r->args, "final"))
        return err_set(r->err, ERR_USAGE,
                       "%.*s is a test set: no decision may hang on it; --final says that this is "
                       "the last evaluation",
                       STR(path));
    return true;
}

static bool load_puzzles(struct harness_run *h, str path)
{
    struct run *r = h->run;
    if (!puzzles_load(path, &(struct puzzle_load_opts){ 0 }, r->arena, &r->test_file, r->err))
        return false;
    h->setup.dataset_id = r->test_file.sha256;
    return true;
}

static bool make_sets(struct harness_run *h)
{
    struct run *r = h->run;
    struct eval_set *sets = NEW_ARRAY(r->arena, struct eval_set, SETS_MAX);
    str list = opt_text(r->args, "eval-seeds", S(""));
    if (list.len == 0)
        list = arena_printf(r->arena, "%llu", (unsigned long long)r->config.seed);
    while (list.len > 0) {
        int64_t seed;
        str word = str_trim(str_cut(&list, ','));
        if (h->setup.n_sets == SETS_MAX || !str_to_int(word, 0, INT64_MAX, &seed))
            return err_set(r->err, ERR_USAGE,
                           "--eval-seeds: up to %d whole numbers with commas between, got "
                           "\"%.*s\"",
                           SETS_MAX, STR(word));
        sets[h->setup.n_sets++] = eval_set_make(&r->test_file, (uint64_t)seed, h->setup.limit,
                                                &h->setup.rollout, r->arena);
    }
    h->setup.sets = sets;
    return true;
}

void harness_index(struct harness_run *h)
{
    struct arena *a = h->run->arena;
    h->index = (struct audit_index){ .seen = { .arena = a }, .salt = 1 };
    for (size_t i = 0; i < h->run->test_file.n; i++) {
        const struct puzzle *p = &h->run->test_file.v[i];
        struct position after = position_after(&p->start, p->moves[0]);
        str *moves = NEW_ARRAY(a, str, p->n_moves);
        for (size_t k = 0; k < p->n_moves; k++)
            moves[k] = arena_str(a, str_from(uci_format(p->moves[k]).data));
        audit_index_add(&h->index, &(struct audit_item){ p->id, &p->start, moves, p->n_moves });
        audit_index_add(&h->index, &(struct audit_item){ .at = &after });
    }
}

// ---- all of it ----

// The last part of the model's name, lower case.
static str short_name(str name, struct arena *a)
{
    for (ptrdiff_t at; (at = str_find_char(name, '/')) >= 0 && (size_t)at + 1 < name.len;)
        name = str_sub(name, (size_t)at + 1, name.len);
    return arena_lower(a, arena_without(a, name, S("/")));
}

bool harness_run_setup(struct harness_run *h, enum puzzles_role role)
{
    struct run *r = h->run;
    str path = opt_text(r->args, "puzzles", S("builtin:train"));
    if (!configure(r) || !read_options(h) || !check_role(r, path, role) || !run_open_model(r) ||
        !load_puzzles(h, path) || !make_sets(h))
        return false;
    h->setup.model = &r->task_model;
    h->setup.model_short = short_name(r->task_model.name, r->arena);
    r->tolerated = 0.02; // 1.13: more without an answer, and the evaluation is not valid
    harness_index(h);
    return run_open_sandbox(r);
}

str harness_run_key(const struct harness_run *h)
{
    const struct eval_setup *s = &h->setup;
    const struct rollout_opts *o = &s->rollout;
    struct arena *a = h->run->arena;
    struct buf b = { .arena = a };
    buf_addf(&b, "rollouts v%d %.*s %.*s limit=%zu repeats=%d tokens=%lld/%lld turns=%lld/%lld",
             ROLLOUT_VERSION, STR(s->profile), STR(s->weights_id), s->limit, s->repeats,
             (long long)o->token_budget, (long long)o->policy_max_tokens, (long long)o->turns,
             (long long)o->turns_cap);
    buf_addf(&b, " messages=%d merge=%d lichess=%d compat=%d python=%.*s seeds", (int)o->messages,
             (int)o->merge, o->lichess, o->compat, STR(sandbox_python(h->run->sandbox)));
    for (size_t i = 0; i < s->n_sets; i++)
        buf_addf(&b, " %llu", (unsigned long long)s->sets[i].seed);
    return buf_str(&b);
}

bool run_open_sandbox(struct run *r)
{
    return sandbox_new(&(struct sandbox_opts){ 0 }, &r->sandbox, r->err);
}

void run_close_sandbox(struct run *r)
{
    sandbox_free(r->sandbox);
}

// ---- candidates ----

bool harness_judge(struct harness_run *h, str source, str parent, struct examination *out)
{
    struct run *r = h->run;
    struct audit_opts opts = { .source = source, .parent = parent, .index = &h->index };
    if (!sandbox_examine(r->sandbox, source, r->arena, out, r->err) ||
        !sandbox_audit(r->sandbox, &opts, r->arena, out, r->err))
        return false;
    return !out->unscored ||
           err_set(r->err, ERR_RUN, "the machine was too busy to judge a harness; try again");
}

struct candidate *harness_candidate(struct harness_run *h, str source, const struct examination *e)
{
    struct candidate *c = NEW(h->run->arena, struct candidate);
    *c = (struct candidate){ arena_str(h->run->arena, source), sha256_of(source, h->run->arena),
                             e->contract };
    return c;
}

str harness_fault_line(const struct examination *e, struct arena *a)
{
    for (size_t i = 0; i < e->findings.n; i++) {
        const struct violation *v = &e->findings.v[i];
        if (v->level != LEVEL_WARN)
            return arena_printf(a, "line %lld: %.*s: %.*s", (long long)v->line, STR(v->rule),
                                STR(text_for_terminal(v->message, a)));
    }
    return (str){ 0 };
}

str harness_name_of(str path, struct arena *a)
{
    str dir = { 0 }, name = path;
    if (str_eq(path, S("builtin:h0")))
        return S("h0");
    for (ptrdiff_t at; (at = str_find_char(name, '/')) >= 0;) {
        dir = str_sub(name, 0, (size_t)at);
        name = str_sub(name, (size_t)at + 1, name.len);
    }
    if (str_eq(name, S("harness.py")) && dir.len > 0)
        name = dir;
    else if (str_ends(name, S(".py")))
        name = str_sub(name, 0, name.len - 3);
    char *safe = arena_alloc(a, name.len + 1);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        safe[i] = fine || c == '_' || (c == '-' && i > 0) ? c : '_';
    }
    return (str){ safe, name.len };
}

void harness_report_line(str name, const struct eval_result *r, struct buf *out)
{
    struct interval i = stats_wilson_rate(r->success, r->all.n_scored / r->repeats);
    buf_addf(out, "  %-8.*s %6.2f %% [%.2f, %.2f]  calls %.2f  tokens %.1f  (%lld of %lld%s)\n",
             STR(name), 100 * r->success, 100 * i.low, 100 * i.high, r->calls, r->tokens,
             (long long)r->all.n_solved, (long long)r->all.n_scored,
             r->all.n_scored < r->all.n ? ", others without an answer" : "");
}
