// SPDX-License-Identifier: GPL-3.0-or-later
// optimizer_keys.c - what can be set of each method: the keys of its `optimizer` mapping (section
// 1 of the paper-files specification), and our own options, whose two columns are the presets
// (decisions 4.1). A row is all that a new setting needs: reader, defaults, run_config.json, run
// identity and `rookery presets` follow from it.
#include <string.h>

#include "config/internal.h"

#define IN(member) offsetof(struct optimizer_config, member)

// Keys of the paper's tool with their types, limits and defaults.
#define COUNT(member, least, value)                                                                \
    {                                                                                              \
#member, RULE_INT, .min = (least), .max = COUNT_MAX, .at = IN(member), .preset = (value)   \
    }
#define COUNT_OR_NULL(member)                                                                      \
    {                                                                                              \
#member, RULE_INT, .min = 1, .max = COUNT_MAX, .nullable = true, .at = IN(member),         \
                           .preset = "null"                                                        \
    }
#define SWITCH(member, value)                                                                      \
    {                                                                                              \
#member, RULE_BOOL, .at = IN(member), .preset = (value)                                    \
    }
#define BOOTSTRAP_FIELDS(labeled)                                                                  \
    COUNT(max_bootstrapped_demos, 0, "4"), COUNT(max_labeled_demos, 0, labeled)

static const struct rule few_shot_keys[] = {
    BOOTSTRAP_FIELDS("16"),
    COUNT(max_rounds, 1, "1"),
    COUNT(max_errors, 0, "5"),
};
static const struct rule random_search_keys[] = {
    BOOTSTRAP_FIELDS("16"),      COUNT(max_rounds, 1, "1"),
    COUNT(max_errors, 0, "5"),   COUNT(num_candidate_programs, 1, "16"),
    COUNT(num_threads, 1, "16"),
};
static const struct rule copro_keys[] = {
    COUNT(breadth, 2, "10"), // the given instruction and at least one proposal
    COUNT(depth, 1, "3"),
    SWITCH(track_stats, "true"),
    COUNT(eval_num_threads, 1, "16"),
    SWITCH(eval_display_progress, "false"),
    SWITCH(eval_display_table, "false"),
};
// The paper's tool knows no `light` and no `medium` for MIPROv2; we do.
#define BUDGET                                                                                     \
    {                                                                                              \
        "auto", RULE_CHOICE, .words = "light, medium, heavy", .nullable = true, .at = IN(budget),  \
                             .preset = "heavy"                                                     \
    }
static const struct rule gepa_keys[] = {
    BUDGET,
    COUNT(reflection_minibatch_size, 1, "3"),
    { "candidate_selection_strategy", RULE_CHOICE,
      .words = "pareto, current_best, epsilon_greedy, top_k_pareto, unpruned_pareto",
      .at = IN(candidate_selection_strategy), .preset = "pareto" },
    SWITCH(skip_perfect_score, "true"),
    SWITCH(use_merge, "true"),
    COUNT(num_threads, 1, "16"),
    SWITCH(track_stats, "true"),
};
static const struct rule mipro_keys[] = {
    BUDGET,
    BOOTSTRAP_FIELDS("4"),
    COUNT_OR_NULL(num_candidates),
    COUNT_OR_NULL(num_trials),
    COUNT(num_threads, 1, "16"),
    COUNT(max_errors, 0, "5"),
    SWITCH(verbose, "false"),
    SWITCH(minibatch, "false"),
    SWITCH(program_aware_proposer, "true"),
    SWITCH(data_aware_proposer, "true"),
    SWITCH(tip_aware_proposer, "true"),
    SWITCH(fewshot_aware_proposer, "true"),
    SWITCH(requires_permission_to_run, "false"),
};
static const struct rule simba_keys[] = {
    COUNT(bsize, 1, "32"),    COUNT(num_candidates, 1, "6"), COUNT(max_steps, 1, "8"),
    COUNT(max_demos, 0, "4"), COUNT(num_threads, 1, "16"),
};

// Our own options: METHOD.NAME, or NAME alone for all methods; `preset` is the column `paper`.
#define OPTION(text, kind, member)                                                                 \
    .name = (text), .type = (kind), .at = IN(member), .max = COUNT_MAX
#define SHARE(text, member) .name = (text), .type = RULE_REAL, .at = IN(member), .max = 1 // 0..1
static const struct rule option_keys[] = {
    { OPTION("objective", RULE_CHOICE, objective), .words = "position, puzzle",
      .preset = "position", .improved = "position",
      .about = "what is maximised: single positions, or whole puzzles" },
    { OPTION("strict_errors", RULE_BOOL, strict_errors), .preset = "false", .improved = "false",
      .about = "an unparsable answer counts as an error, as in the reference" },
    { OPTION("forget_teacher_demos", RULE_BOOL, forget_teacher_demos), .preset = "false",
      .improved = "false",
      .about = "bootstrapping loses a demonstration where its answer was unreadable, as in the "
               "reference" },
    { OPTION("bootstrap.one_demo_per_puzzle", RULE_BOOL, one_demo_per_puzzle), .preset = "false",
      .improved = "true", .about = "at most one of the model's own answers from each puzzle" },
    { SHARE("bootstrap_random.stop_at_score", brs_stop_at_score), .preset = "0", .improved = "0",
      .about = "validation score (0 to 1) at which it stops; 0: never; scores one by one" },
    { OPTION("bootstrap_random.seed_offset", RULE_INT, brs_seed_offset), .preset = "0",
      .improved = "0", .about = "added to the candidates' numbers, which seed their shuffles" },
    { OPTION("bootstrap_random.save_calls", RULE_BOOL, save_calls), .preset = "false",
      .improved = "true",
      .about = "candidates are scored together, and left when they cannot win any more" },
    { SHARE("bootstrap_random.racing", racing), .preset = "0", .improved = "0",
      .about = "chance of dropping a candidate that is as good as the leader; 0: no racing" },
    { OPTION("copro.cleaning", RULE_CHOICE, copro_cleaning), .words = "checked, reference",
      .preset = "checked", .improved = "checked",
      .about = "empty proposals are dropped, or kept and stripped as the reference does" },
    { OPTION("copro.select_on", RULE_CHOICE, copro_select_on), .words = "training, validation",
      .preset = "training", .improved = "validation",
      .about = "the positions that instructions are scored on" },
    { OPTION("copro.init_temperature", RULE_REAL, copro_init_temperature), .preset = "1.4",
      .improved = "1.4", .about = "temperature of proposals" },
    { OPTION("copro.reuse_duplicates", RULE_BOOL, copro_reuse_duplicates), .preset = "false",
      .improved = "true", .about = "an instruction that came up before is not scored again" },
    { OPTION("copro.prefer_original_on_tie", RULE_BOOL, copro_prefer_original), .preset = "false",
      .improved = "true", .about = "the given instruction wins ties; in the reference it loses" },
    { OPTION("copro.proposals", RULE_CHOICE, copro_proposals), .words = "single, full",
      .preset = "single", .improved = "full",
      .about = "proposals per step: one, as the recorded runs had, or all of breadth" },
    { OPTION("gepa.feedback", RULE_CHOICE, feedback), .words = "textual, scalar",
      .preset = "textual", .improved = "textual",
      .about = "what the prompt model is told of an answer: a critique, or its score" },
    { OPTION("simba.feedback", RULE_CHOICE, feedback), .words = "textual, scalar",
      .preset = "textual", .improved = "textual",
      .about = "what the prompt model is told of an answer: a critique, or its score" },
    { OPTION("simba.labels", RULE_CHOICE, simba_labels), .words = "all, none", .preset = "all",
      .improved = "all",
      .about = "whether the prompt model sees the correct move and the puzzle's facts" },
    { OPTION("simba.save_calls", RULE_BOOL, save_calls), .preset = "false", .improved = "true",
      .about = "finalists are scored together, and left when they cannot win any more" },
    { SHARE("simba.racing", racing), .preset = "0", .improved = "0",
      .about = "chance of dropping a finalist that is as good as the leader; 0: no racing" },
    { OPTION("gepa.format_failures", RULE_CHOICE, gepa_format_failures), .words = "drop, show",
      .preset = "drop", .improved = "show",
      .about = "whether answers that break the format are shown to the prompt model" },
    { OPTION("gepa.extract", RULE_CHOICE, gepa_extract), .words = "lenient, strict, complete",
      .preset = "lenient", .improved = "complete",
      .about = "new prompts out of replies: always something, as the reference; only a fenced "
               "block; what is whole" },
    { OPTION("gepa.padding", RULE_CHOICE, gepa_padding), .words = "reference, first",
      .preset = "reference", .improved = "first",
      .about = "positions that fill the last minibatch: doubled ones, or the first of the order" },
    { OPTION("gepa.acceptance", RULE_CHOICE, gepa_acceptance), .words = "better, equal",
      .preset = "better", .improved = "better",
      .about = "what a new prompt must be on its minibatch to be validated" },
    { SHARE("gepa.epsilon", gepa_epsilon), .preset = "0.1", .improved = "0.1",
      .about = "share of random parents under epsilon_greedy" },
    { OPTION("gepa.top_k", RULE_INT, gepa_top_k), .min = 1, .preset = "5", .improved = "5",
      .about = "candidates that top_k_pareto chooses from" },
    { OPTION("gepa.max_merge", RULE_INT, gepa_max_merge), .preset = "5", .improved = "5",
      .about = "accepted merges; one instruction alone cannot be merged" },
    { OPTION("gepa.max_full_evals", RULE_INT, gepa_max_full_evals), .preset = "0", .improved = "0",
      .about = "budget in runs over all positions, with `auto: null`; 0: max_metric_calls" },
    { OPTION("gepa.hard_budget", RULE_BOOL, gepa_hard_budget), .preset = "false",
      .improved = "true",
      .about = "the budget is never exceeded; else what was begun is ended, as in the reference" },
    { OPTION("gepa.max_stalled", RULE_INT, gepa_max_stalled), .preset = "0", .improved = "20",
      .about = "iterations without a new prompt to try, then it stops; here and below 0: never" },
    { OPTION("gepa.max_idle", RULE_INT, gepa_max_idle), .preset = "0", .improved = "0",
      .about = "iterations without a better best prompt, then it stops" },
    { OPTION("gepa.max_candidates", RULE_INT, gepa_max_candidates), .preset = "0", .improved = "0",
      .about = "validated prompts, then it stops" },
    { OPTION("gepa.max_iterations", RULE_INT, gepa_max_iterations), .preset = "0", .improved = "0",
      .about = "iterations, then it stops" },
    { SHARE("gepa.stop_score", gepa_stop_score), .preset = "0", .improved = "1",
      .about = "validation score (0 to 1) at which it stops" },
    { OPTION("gepa.save_calls", RULE_BOOL, gepa_save_calls), .preset = "false", .improved = "true",
      .about = "known answers are not asked for again; a minibatch ends when it is decided" },
    { OPTION("mipro.minibatch_size", RULE_INT, mipro_minibatch_size), .min = 1, .preset = "35",
      .improved = "35", .about = "validation positions of a minibatch trial" },
    { OPTION("mipro.full_eval_steps", RULE_INT, mipro_full_eval_steps), .min = 1, .preset = "5",
      .improved = "5", .about = "minibatch trials between two full evaluations" },
    { OPTION("mipro.force_full_eval", RULE_BOOL, mipro_force_full_eval), .preset = "false",
      .improved = "false", .about = "every trial on the whole validation set, also with `auto`" },
    { OPTION("mipro.view_data_batch_size", RULE_INT, mipro_view_data_batch_size), .min = 1,
      .preset = "10", .improved = "10",
      .about = "training positions that the prompt model sees at a time" },
    { OPTION("mipro.init_temperature", RULE_REAL, mipro_init_temperature), .preset = "1.0",
      .improved = "1.0", .about = "temperature of instruction proposals" },
    { OPTION("mipro.first_proposal", RULE_CHOICE, mipro_first_proposal), .words = "ask, skip",
      .preset = "ask", .improved = "skip",
      .about =
          "the proposal that the given instruction replaces: asked for, as the reference does" },
    { OPTION("mipro.proposals", RULE_CHOICE, mipro_proposals), .words = "checked, reference",
      .preset = "checked", .improved = "checked",
      .about = "unusable texts are dropped, or kept and stripped as the reference does" },
    { OPTION("mipro.save_calls", RULE_BOOL, mipro_save_calls), .preset = "false",
      .improved = "true",
      .about = "known scores are not asked for again; a perfect score ends the search" },
};

enum { N_METHODS = METHOD_SIMBA + 1 };
#define METHOD(name, keys)                                                                         \
    {                                                                                              \
        (name),                                                                                    \
        {                                                                                          \
            keys, ARRAY_LEN(keys)                                                                  \
        }                                                                                          \
    }
static const struct {
    const char *name;
    struct rules optimizer;
} methods[N_METHODS] = {
    [METHOD_BASELINE] = { "baseline", { 0 } },
    [METHOD_BOOTSTRAP_FEW_SHOT] = METHOD("bootstrap_few_shot", few_shot_keys),
    [METHOD_BOOTSTRAP_RANDOM_SEARCH] = METHOD("bootstrap_random_search", random_search_keys),
    [METHOD_COPRO] = METHOD("copro", copro_keys),
    [METHOD_GEPA] = METHOD("gepa", gepa_keys),
    [METHOD_MIPRO_V2] = METHOD("mipro_v2", mipro_keys),
    [METHOD_SIMBA] = METHOD("simba", simba_keys),
};
static const struct rules option_rules = { option_keys, ARRAY_LEN(option_keys) };

str method_name(enum method m)
{
    return str_from(methods[m].name);
}

bool method_parse(str name, enum method *out)
{
    for (int m = 0; m < N_METHODS; m++)
        if (str_eq(name, str_from(methods[m].name))) {
            *out = (enum method)m;
            return true;
        }
    return false;
}

const struct rules *optimizer_rules(enum method m)
{
    return &methods[m].optimizer;
}

// ---- defaults ----

static void set_default(const struct rule *r, str value, struct optimizer_config *o)
{
    void *to = (char *)o + r->at;
    int64_t number;
    double real;
    if (r->type == RULE_CHOICE)
        *(int *)to = rule_choice(r, value);
    else if (r->type == RULE_BOOL)
        *(bool *)to = str_eq(value, S("true"));
    else if (r->type == RULE_REAL)
        *(double *)to = str_to_double(value, &real) ? real : 0;
    else
        *(int64_t *)to = str_to_int(value, 0, COUNT_MAX, &number) ? number : 0; // null is 0
}

// Whether an option is one of the method (its name up to the dot begins the method's: mipro), or of
// all methods.
static bool option_is_of(const struct rule *r, enum method m)
{
    str rest = str_from(r->name);
    str owner = str_cut(&rest, '.');
    return rest.len == 0 || str_starts(method_name(m), owner);
}

void optimizer_defaults(struct optimizer_config *o, enum method m, str preset)
{
    const struct rules *rules = optimizer_rules(m);
    bool improved = str_eq(preset, S("improved"));
    for (size_t i = 0; i < rules->n; i++)
        set_default(&rules->v[i], str_from(rules->v[i].preset), o);
    for (size_t i = 0; i < option_rules.n; i++) {
        const struct rule *r = &option_rules.v[i];
        set_default(r, str_from(improved ? r->improved : r->preset), o);
    }
}

// ---- reading ----

// Names the methods that have the key: "gepa, simba".
static void add_owners(str key, struct buf *b)
{
    for (int m = 0; m < N_METHODS; m++)
        if (rule_find(&methods[m].optimizer, key))
            buf_addf(b, "%s%s", b->len ? ", " : "", methods[m].name);
}

static bool foreign_key(const struct yaml_pair *pair, enum method m, const struct where *where,
                        struct err *err)
{
    struct arena scratch = { 0 };
    struct buf owners = { .arena = &scratch };
    add_owners(pair->key, &owners);
    str key = str_sub(pair->key, 0, SHOWN);
    if (owners.len > 0)
        err_set(err, ERR_INPUT, "%.*s:%d: %.*s%.*s is a key of %.*s, not of method %s",
                STR(where->path), pair->key_line, STR(where->prefix), STR(key),
                STR(buf_str(&owners)), methods[m].name);
    else if (m == METHOD_BASELINE)
        err_set(err, ERR_INPUT,
                "%.*s:%d: unknown key '%.*s%.*s'; method baseline has no optimizer keys",
                STR(where->path), pair->key_line, STR(where->prefix), STR(key));
    arena_free(&scratch);
    return owners.len > 0 || m == METHOD_BASELINE;
}

static bool read_keys(struct optimizer_config *o, enum method m, const struct yaml_node *node,
                      const struct where *where, struct err *err)
{
    const struct rules *rules = optimizer_rules(m);
    for (size_t i = 0; i < node->n; i++)
        if (!rule_find(rules, node->pairs[i].key) && foreign_key(&node->pairs[i], m, where, err))
            return false;
    return rules_read(rules, node, where, o, err);
}

// One mapping of both kinds, as --set gives it: keys with a dot, and options of all methods, are
// ours, others the method's.
static bool read_mixed(struct optimizer_config *o, enum method m, const struct yaml_node *node,
                       const struct where *where, struct err *err)
{
    for (size_t i = 0; i < node->n; i++) {
        struct yaml_node one = { .kind = YAML_MAP, .pairs = &node->pairs[i], .n = 1 };
        str key = node->pairs[i].key;
        bool ours = str_find_char(key, '.') >= 0 || rule_find(&option_rules, key);
        if (ours ? !rules_read(&option_rules, &one, where, o, err)
                 : !read_keys(o, m, &one, where, err))
            return false;
    }
    return true;
}

bool optimizer_read(struct optimizer_config *o, enum method m, str preset, const struct where *file,
                    struct err *err)
{
    struct where keys = { file->path, S("optimizer.") };
    struct where options = { file->path, S("rookery.options.") };
    optimizer_defaults(o, m, preset);
    return (!o->node || read_keys(o, m, o->node, &keys, err)) &&
           (!o->options || rules_read(&option_rules, o->options, &options, o, err)) &&
           (!o->set || read_mixed(o, m, o->set, &(struct where){ S("--set"), { 0 } }, err));
}

// ---- writing ----

static void put_value(struct json_out *o, const struct rule *r, const struct optimizer_config *c)
{
    const void *at = (const char *)c + r->at;
    if (r->type == RULE_BOOL)
        json_put_bool(o, *(const bool *)at);
    else if (r->type == RULE_REAL)
        json_put_double(o, *(const double *)at);
    else if (r->type == RULE_CHOICE && *(const int *)at)
        json_put_str(o, rule_word(r, *(const int *)at));
    else if (r->type == RULE_INT && (!r->nullable || *(const int64_t *)at))
        json_put_int(o, *(const int64_t *)at);
    else
        json_put_null(o);
}

void optimizer_to_json(const struct optimizer_config *c, enum method m, struct json_out *o)
{
    const struct rules *rules = optimizer_rules(m);
    json_open(o, '{');
    for (size_t i = 0; i < rules->n; i++) {
        json_key(o, str_from(rules->v[i].name));
        put_value(o, &rules->v[i], c);
    }
    json_close(o, '}');
}

void config_options_to_json(const struct run_config *c, struct json_out *o)
{
    json_open(o, '{');
    for (size_t i = 0; i < option_rules.n && c->method != METHOD_BASELINE; i++) {
        const struct rule *r = &option_rules.v[i];
        if (!option_is_of(r, c->method))
            continue;
        json_key(o, str_from(r->name));
        put_value(o, r, &c->optimizer);
    }
    json_close(o, '}');
}

void config_options_table(struct buf *out)
{
    buf_addf(out, "%-26s %-12s %-12s %s\n", "option", "paper", "improved", "meaning");
    for (size_t i = 0; i < option_rules.n; i++) {
        const struct rule *r = &option_rules.v[i];
        buf_addf(out, "%-26s %-12s %-12s %s%s%s%s\n", r->name, r->preset, r->improved, r->about,
                 r->words ? " (" : "", r->words ? r->words : "", r->words ? ")" : "");
    }
}
